// What every codec of this folder speaks: read modes, picture shapes, limits and the error they raise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace trine::vision {

// The numbers are those of `ImageReadMode` in Python.
enum class ReadMode : int { unchanged = 0, gray = 1, gray_alpha = 2, rgb = 3, rgb_alpha = 4 };

// Samples are interleaved (height, width, channels). `bits` is 8 (uint8 samples) or 16 (int32 samples, 0 to 65535).
struct ImageShape {
  uint32_t height = 0;
  uint32_t width = 0;
  int channels = 0;
  int bits = 8;

  size_t pixels() const { return static_cast<size_t>(height) * width; }
  size_t sample_bytes() const { return bits == 16 ? sizeof(int32_t) : sizeof(uint8_t); }
  size_t row_bytes() const { return static_cast<size_t>(width) * static_cast<size_t>(channels) * sample_bytes(); }
  size_t bytes() const { return height * row_bytes(); }
};

// A file may claim any size it likes: what a reader is willing to spend on it is decided by the caller.
struct Limits {
  size_t max_pixels = 0;       // 0: no limit
  int max_scans = 0;           // progressive JPEG; 0: no limit
  size_t max_chunk_bytes = 0;  // PNG ancillary chunks; 0: no limit
};

struct DecodeOptions {
  ReadMode mode = ReadMode::unchanged;
  bool apply_exif_orientation = false;
  Limits limits;
};

struct ImageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws ImageError when the picture is empty or has more pixels than the caller allows.
void check_size(const char* codec, uint32_t height, uint32_t width, const Limits& limits);

}  // namespace trine::vision
