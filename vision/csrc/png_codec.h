// PNG on libpng. libpng reports errors by longjmp; everything here turns them into ImageError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "image.h"

namespace trine::vision {

// Two steps, so that the caller can allocate between them:  shape = read_header();  decode(memory of shape.bytes()).
class PngDecoder {
 public:
  // `data` must outlive the decoder.
  PngDecoder(const uint8_t* data, size_t size, const DecodeOptions& options);
  ~PngDecoder();
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  ImageShape read_header();
  void decode(uint8_t* out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

bool is_png(const uint8_t* data, size_t size);

// `pixels`: (height, width, channels) of uint8 with 1 (gray), 2 (gray+alpha), 3 (RGB) or 4 (RGBA) channels;
// compression_level 0 (none) to 9 (smallest).
std::vector<uint8_t> encode_png(const uint8_t* pixels, const ImageShape& shape, int compression_level);

}  // namespace trine::vision
