#include "jpeg_huffman.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa.h"

#if __has_include(<jpegint.h>)
#define TRINE_JPEG_INTERNALS 1
#define JPEG_INTERNALS
#include <jpegint.h>
#endif

namespace trine::vision {

#ifdef TRINE_JPEG_INTERNALS

namespace {

// Natural place of the k-th coefficient of the zigzag. Damaged data can run past the 64th: it lands on the last.
constexpr std::array<uint8_t, 64 + 16> kNatural = [] {
  std::array<uint8_t, 64 + 16> order{};
  int row = 0;
  int column = 0;
  for (int k = 0; k < 64; ++k) {
    order[static_cast<size_t>(k)] = static_cast<uint8_t>(row * 8 + column);
    const bool up = (row + column) % 2 == 0;
    if (up) {
      if (column == 7)
        ++row;
      else if (row == 0)
        ++column;
      else
        --row, ++column;
    } else {
      if (row == 7)
        ++column;
      else if (column == 0)
        ++row;
      else
        ++row, --column;
    }
  }
  for (size_t k = 64; k < order.size(); ++k) order[k] = 63;
  return order;
}();

// An entry of the quick table, for a code and the value that follows it. Zero: the code is longer than the table's.
//   bits 0-5    bits of code and value together (lowest, because a shift by an entry uses just these)
//   bits 8-12   bits of the code
//   bits 16-19  bits of the value: the size category of ITU-T T.81, tables F.1 and F.2
//   bits 24-27  zero coefficients before it
constexpr uint32_t make_entry(uint32_t code_bits, uint32_t run, uint32_t size) {
  return (code_bits + size) | code_bits << 8 | size << 16 | run << 24;
}
constexpr int code_bits_of(uint32_t entry) { return static_cast<int>(entry >> 8 & 31); }
constexpr int size_of(uint32_t entry) { return static_cast<int>(entry >> 16 & 15); }
constexpr int run_of(uint32_t entry) { return static_cast<int>(entry >> 24); }
constexpr int total_bits_of(uint32_t entry) { return static_cast<int>(entry & 63); }

// The value that stands at the top of `bits`: a leading zero means a negative one (T.81, figure F.12, EXTEND).
// Without a branch, which would be mispredicted half of the time. Size 0 gives 0.
TRINE_ALWAYS_INLINE int32_t value_of(uint64_t bits, int size) {
  const auto raw = static_cast<uint32_t>(bits >> 1 >> (63 - size));
  const auto positive = static_cast<uint32_t>(bits >> 63);
  return static_cast<int32_t>(raw + ((positive - 1) & (1 - (1u << size))));
}

// The decoder that libjpeg sees: its own struct first, then a way back to us.
struct Replacement {
  jpeg_entropy_decoder base;
  JpegHuffman* decoder;
};

}  // namespace

// Bits of the entropy-coded segment, first bit highest. Beyond a marker there are zeros, which are counted.
struct JpegHuffman::BitReader {
  uint64_t bits;
  int count;
  int padding;  // how many of `count` (and of what was consumed) are made up
  const uint8_t* at;
  const uint8_t* end;
  j_decompress_ptr info;

  // At least 48 bits afterwards.
  TRINE_ALWAYS_INLINE void refill() {
    if (end - at >= 8) {
      uint64_t next;
      std::memcpy(&next, at, sizeof next);
      const bool has_ff = (((~next) - 0x0101010101010101u) & next & 0x8080808080808080u) != 0;
      if (!has_ff) {
        if constexpr (std::endian::native == std::endian::little) next = __builtin_bswap64(next);
        bits |= next >> count;
        at += (63 - count) >> 3;
        count |= 56;
        return;
      }
    }
    *this = bytewise_refilled(*this);
  }

  // By value, so that the reader of the caller may live in registers.
  __attribute__((noinline)) static BitReader bytewise_refilled(BitReader reader) {
    reader.refill_bytewise();
    return reader;
  }

  void refill_bytewise() {
    while (count <= 56) {
      uint64_t byte = 0;
      if (at == end) {
        (*info->src->fill_input_buffer)(info);  // the file is truncated: does not return
      }
      byte = *at;
      if (byte != 0xff) {
        ++at;
      } else {
        const uint8_t* next = at + 1;
        while (next != end && *next == 0xff) ++next;
        if (next == end) (*info->src->fill_input_buffer)(info);
        if (*next == 0) {
          at = next + 1;  // a stuffed 0xff
        } else {
          byte = 0;  // a marker: it stays for whoever reads markers
          padding += 8;
        }
      }
      bits |= byte << (56 - count);
      count += 8;
    }
  }

  TRINE_ALWAYS_INLINE uint32_t peek(int n) const { return static_cast<uint32_t>(bits >> (64 - n)); }
  TRINE_ALWAYS_INLINE void skip(int n) {
    bits <<= n;
    count -= n;
  }
};

uint32_t JpegHuffman::Table::entry_of(uint32_t symbol, uint32_t code_bits, bool ac) {
  return ac ? make_entry(code_bits, symbol >> 4, symbol & 15) : make_entry(code_bits, 0, symbol & 15);
}

void JpegHuffman::Table::build(const JHUFF_TBL& source, bool ac) {
  quick.fill(0);
  symbols = source.huffval;
  uint32_t code = 0;
  int index = 0;
  for (int length = 1; length <= kLongest; ++length) {
    const int codes = source.bits[length];
    offset[static_cast<size_t>(length)] = index - static_cast<int>(code);
    for (int i = 0; i < codes; ++i, ++code, ++index) {
      if (length > kLookahead) continue;
      const uint32_t entry = entry_of(symbols[index], static_cast<uint32_t>(length), ac);
      const size_t spare = static_cast<size_t>(kLookahead - length);
      std::fill_n(quick.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(code) << spare), size_t{1} << spare, entry);
    }
    end[static_cast<size_t>(length)] = code << (kLongest - length);
    code <<= 1;
  }
  end[kLongest + 1] = UINT32_MAX;
}

// What the next 16 bits begin with, if that is a code longer than the quick table's. An impossible code is symbol 0
// of 17 bits, as in libjpeg.
uint32_t JpegHuffman::Table::long_entry(uint32_t next, bool ac) const {
  uint32_t length = kLookahead + 1;
  while (next >= end[length]) ++length;
  if (length > kLongest) return entry_of(0, length, ac);
  const int index = static_cast<int>(next >> (kLongest - length)) + offset[length];
  return entry_of(symbols[index], length, ac);
}

TRINE_ALWAYS_INLINE void JpegHuffman::decode_block(BitReader& bits, const BlockPlan& plan, int& predicted, JCOEF* block) {
  bits.refill();
  uint32_t entry = plan.dc->quick[bits.peek(kLookahead)];
  if (entry == 0) entry = plan.dc->long_entry(bits.peek(kLongest), false);
  const int difference = value_of(bits.bits << code_bits_of(entry), size_of(entry));
  bits.skip(total_bits_of(entry));
  predicted = static_cast<int>(static_cast<unsigned>(predicted) + static_cast<unsigned>(difference));
  block[0] = static_cast<JCOEF>(predicted);

  for (int k = 1; k < 64; ++k) {
    // The longest code and value together have 32 bits.
    if (bits.count < 32) bits.refill();
    entry = plan.ac->quick[bits.peek(kLookahead)];
    if (entry == 0) entry = plan.ac->long_entry(bits.peek(kLongest), true);
    const int size = size_of(entry);
    if (size == 0) {
      bits.skip(total_bits_of(entry));
      if (run_of(entry) != 15) break;  // end of block; else 16 zeros
      k += 15;
      continue;
    }
    k += run_of(entry);
    block[kNatural[static_cast<size_t>(k)]] = static_cast<JCOEF>(value_of(bits.bits << code_bits_of(entry), size));
    bits.skip(total_bits_of(entry));
  }
}

void JpegHuffman::restart(jpeg_decompress_struct& info) {
  bits_ = 0;
  count_ = padding_ = 0;
  (*info.marker->read_restart_marker)(&info);
  predicted_.fill(0);
  restarts_to_go_ = info.restart_interval;
  // resync_to_restart leaves a marker that belongs further on: what follows until then is lost.
  if (info.unread_marker == 0) info.entropy->insufficient_data = FALSE;
}

TRINE_ALWAYS_INLINE boolean JpegHuffman::decode_mcu(j_decompress_ptr info, JBLOCKROW* blocks) {
  JpegHuffman& self = *reinterpret_cast<Replacement*>(info->entropy)->decoder;
  if (info->restart_interval != 0) {
    if (self.restarts_to_go_ == 0) self.restart(*info);
    --self.restarts_to_go_;
  }
  if (info->entropy->insufficient_data) return TRUE;  // the blocks stay gray

  jpeg_source_mgr& source = *info->src;
  BitReader bits{self.bits_, self.count_, self.padding_, source.next_input_byte, source.next_input_byte + source.bytes_in_buffer, info};
  for (int i = 0; i < info->blocks_in_MCU; ++i) {
    const BlockPlan& plan = self.plan_[static_cast<size_t>(i)];
    decode_block(bits, plan, self.predicted_[static_cast<size_t>(plan.component)], *blocks[i]);
  }
  if (bits.count < bits.padding) info->entropy->insufficient_data = TRUE;
  self.bits_ = bits.bits;
  self.count_ = bits.count;
  self.padding_ = bits.padding;
  source.bytes_in_buffer = static_cast<size_t>(bits.end - bits.at);
  source.next_input_byte = bits.at;
  return TRUE;
}

boolean JpegHuffman::decode_mcu_base(j_decompress_ptr info, JBLOCKROW* blocks) { return decode_mcu(info, blocks); }

#ifdef TRINE_VISION_X86
// Shifts by a variable amount are half of the work, and BMI2 has cheap ones.
__attribute__((target("bmi2"))) boolean JpegHuffman::decode_mcu_bmi2(j_decompress_ptr info, JBLOCKROW* blocks) {
  return decode_mcu(info, blocks);
}
#endif

void JpegHuffman::install(jpeg_decompress_struct& info) {
  if (info.progressive_mode || info.arith_code || jpeg_has_multiple_scans(&info)) return;
  auto* common = reinterpret_cast<j_common_ptr>(&info);
  // libjpeg frees what lies in its pool, and knows nothing of this class.
  auto* replacement = static_cast<Replacement*>((*info.mem->alloc_small)(common, JPOOL_IMAGE, sizeof(Replacement)));
  replacement->base = *info.entropy;
  replacement->base.decode_mcu = decode_mcu_base;
#ifdef TRINE_VISION_X86
  if (__builtin_cpu_supports("bmi2")) replacement->base.decode_mcu = decode_mcu_bmi2;
#endif
  replacement->decoder = this;

  bool dc_built[NUM_HUFF_TBLS] = {};
  bool ac_built[NUM_HUFF_TBLS] = {};
  for (int i = 0; i < info.blocks_in_MCU; ++i) {
    const int component = info.MCU_membership[i];
    const jpeg_component_info& component_info = *info.cur_comp_info[component];
    const auto dc = static_cast<size_t>(component_info.dc_tbl_no);
    const auto ac = static_cast<size_t>(component_info.ac_tbl_no);
    // libjpeg has checked when the scan began that the tables exist and are consistent.
    if (!dc_built[dc]) dc_[dc].build(*info.dc_huff_tbl_ptrs[dc], false);
    if (!ac_built[ac]) ac_[ac].build(*info.ac_huff_tbl_ptrs[ac], true);
    dc_built[dc] = ac_built[ac] = true;
    plan_[static_cast<size_t>(i)] = {&dc_[dc], &ac_[ac], component};
  }
  predicted_.fill(0);
  bits_ = 0;
  count_ = padding_ = 0;
  restarts_to_go_ = info.restart_interval;
  info.entropy = &replacement->base;
}

#else

void JpegHuffman::install(jpeg_decompress_struct&) {}

#endif

}  // namespace trine::vision
