// A Huffman decoder for sequential JPEG that takes the place of libjpeg's. Half of the time of decoding is spent
// there; this one takes code and value of a coefficient in one step, and refills 56 bits at a time, which it may
// because the whole file is in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <jpeglib.h>

namespace trine::vision {

class JpegHuffman {
 public:
  // To be called between jpeg_start_decompress and the first row. Does nothing for files of several scans,
  // arithmetic coding, or a libjpeg whose internal header is not installed. May jump (see jpeg_errors.h).
  void install(jpeg_decompress_struct& info);

 private:
  static constexpr int kLookahead = 10;
  static constexpr int kLongest = 16;

  struct Table {
    // By the next 10 bits: what they begin with, see make_entry() in the source file.
    std::array<uint32_t, 1 << kLookahead> quick;
    // Codes of more bits, by length: the largest code, left-aligned to 16 bits, and where its symbols begin.
    std::array<uint32_t, kLongest + 2> end;
    std::array<int32_t, kLongest + 1> offset;
    const uint8_t* symbols;

    void build(const JHUFF_TBL& source, bool ac);
    uint32_t long_entry(uint32_t next, bool ac) const;
    static uint32_t entry_of(uint32_t symbol, uint32_t code_bits, bool ac);
  };

  struct BlockPlan {
    const Table* dc;
    const Table* ac;
    int component;
  };

  struct BitReader;

  static boolean decode_mcu(j_decompress_ptr info, JBLOCKROW* blocks);
  static boolean decode_mcu_base(j_decompress_ptr info, JBLOCKROW* blocks);
  static boolean decode_mcu_bmi2(j_decompress_ptr info, JBLOCKROW* blocks);
  static void decode_block(BitReader& bits, const BlockPlan& plan, int& predicted, JCOEF* block);
  void restart(jpeg_decompress_struct& info);

  std::array<Table, NUM_HUFF_TBLS> dc_;
  std::array<Table, NUM_HUFF_TBLS> ac_;
  std::array<BlockPlan, D_MAX_BLOCKS_IN_MCU> plan_;
  std::array<int, MAX_COMPS_IN_SCAN> predicted_;
  uint64_t bits_;
  int count_;
  int padding_;
  unsigned restarts_to_go_;
};

}  // namespace trine::vision
