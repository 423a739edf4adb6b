// Resampling of 8-bit pictures by separable filters with antialiasing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trine::vision {

enum class ResizeFilter : int { bilinear = 0, bicubic = 1, lanczos = 2, box = 3, hamming = 4 };

// The part of the source that fills the target, in pixels; edges may lie between pixels.
struct ResizeBox {
  double left, top, right, bottom;
};

struct ResizeSize {
  size_t height, width;
};

// Interleaved (height, width, channels) pixels, channels 1 to 4. Sums are 22-bit fixed point and rounded to 8 bits
// after each of the two passes: this is Pillow's arithmetic, and its order of passes since version 13, so results
// equal its results (those of earlier versions within one level).
void resize_interleaved(const uint8_t* source, ResizeSize from, size_t channels, uint8_t* target, ResizeSize to, const ResizeBox& box,
                        ResizeFilter filter);

}  // namespace trine::vision
