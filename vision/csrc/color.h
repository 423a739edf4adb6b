// Row conversions between sample layouts. Formulas are Pillow's, so that pixels equal `Image.convert`'s.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace trine::vision {

// ITU-R 601 luma in 16-bit fixed point. 16-bit samples need 64-bit sums.
template <class Wide>
inline Wide luma(Wide r, Wide g, Wide b) {
  return (r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16;
}

// One ink of a CMYK pixel: `black` and `ink` grow with the amount of ink.
inline uint8_t ink_to_light(int black, int ink) {
  const int paper = 255 - black;
  const int product = ink * paper + 128;
  return static_cast<uint8_t>(std::clamp(paper - (((product >> 8) + product) >> 8), 0, 255));
}

// `inverted`: Adobe's writers store 255 - ink.
template <int Channels>
void cmyk_row(const uint8_t* cmyk, uint8_t* out, size_t width, bool inverted) {
  static_assert(Channels == 1 || Channels == 3);
  const int flip = inverted ? 255 : 0;
  for (size_t x = 0; x < width; ++x, cmyk += 4, out += Channels) {
    const int black = cmyk[3] ^ flip;
    const uint8_t r = ink_to_light(black, cmyk[0] ^ flip);
    const uint8_t g = ink_to_light(black, cmyk[1] ^ flip);
    const uint8_t b = ink_to_light(black, cmyk[2] ^ flip);
    if constexpr (Channels == 3) {
      out[0] = r;
      out[1] = g;
      out[2] = b;
    } else {
      out[0] = static_cast<uint8_t>(luma<uint32_t>(r, g, b));
    }
  }
}

// Between gray (1), gray+alpha (2), RGB (3) and RGBA (4); a missing alpha is opaque.
template <class Sample, class Out>
void convert_row(const Sample* in, int in_channels, Out* out, int out_channels, size_t width) {
  const bool in_color = in_channels >= 3;
  const bool in_alpha = in_channels % 2 == 0;
  const bool out_color = out_channels >= 3;
  const bool out_alpha = out_channels % 2 == 0;
  constexpr Out opaque = sizeof(Sample) == 1 ? 255 : 65535;
  for (size_t x = 0; x < width; ++x, in += in_channels, out += out_channels) {
    if (out_color) {
      out[0] = in[0];
      out[1] = in[in_color ? 1 : 0];
      out[2] = in[in_color ? 2 : 0];
    } else {
      out[0] = in_color ? static_cast<Out>(luma<uint64_t>(in[0], in[1], in[2])) : in[0];
    }
    if (out_alpha) out[out_channels - 1] = in_alpha ? in[in_channels - 1] : opaque;
  }
}

}  // namespace trine::vision
