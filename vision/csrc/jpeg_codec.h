// JPEG on libjpeg-turbo. libjpeg reports errors by longjmp; everything here turns them into ImageError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "image.h"

namespace trine::vision {

// Two steps, so that the caller can allocate between them:  shape = read_header();  decode(memory of shape.bytes()).
class JpegDecoder {
 public:
  // `data` must outlive the decoder.
  JpegDecoder(const uint8_t* data, size_t size, const DecodeOptions& options);
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  ImageShape read_header();
  void decode(uint8_t* out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// `pixels`: (height, width, channels) with 1 (gray) or 3 (RGB) channels; quality 1 to 100.
std::vector<uint8_t> encode_jpeg(const uint8_t* pixels, const ImageShape& shape, int quality);

}  // namespace trine::vision
