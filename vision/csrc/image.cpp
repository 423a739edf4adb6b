#include "image.h"

namespace trine::vision {

void check_size(const char* codec, uint32_t height, uint32_t width, const Limits& limits) {
  const std::string size = std::to_string(height) + "x" + std::to_string(width);
  if (height == 0 || width == 0) { throw ImageError(std::string(codec) + ": the picture is empty (height x width = " + size + ")"); }
  const size_t pixels = static_cast<size_t>(height) * width;
  if (limits.max_pixels != 0 && pixels > limits.max_pixels) {
    throw ImageError(std::string(codec) + ": a picture of " + size + " = " + std::to_string(pixels) + " pixels exceeds the limit of " +
                     std::to_string(limits.max_pixels) + " (trine.vision.io.set_max_image_pixels changes it)");
  }
}

}  // namespace trine::vision
