// Geometry of a convolution, always in three spatial dimensions (depth, height, width); 1d and 2d ones have leading sizes of 1.
#pragma once
#include <cstdint>

namespace trine::cpu {

struct ConvShape {
  int64_t batch, in_channels, out_channels, groups;  // channels of all groups together
  int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];

  int64_t in_plane() const { return in[0] * in[1] * in[2]; }
  int64_t out_plane() const { return out[0] * out[1] * out[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t group_in() const { return in_channels / groups; }
  int64_t group_out() const { return out_channels / groups; }
  bool pointwise() const {
    for (int d = 0; d < 3; ++d)
      if (kernel[d] != 1 || stride[d] != 1 || padding[d] != 0) return false;
    return true;
  }
};

}  // namespace trine::cpu
