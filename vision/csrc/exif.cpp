#include "exif.h"

#include <cstring>
#include <utility>

namespace trine::vision {
namespace {

constexpr uint16_t kOrientationTag = 0x0112;
constexpr uint16_t kShortType = 3;
constexpr size_t kEntryBytes = 12;

class TiffReader {
 public:
  TiffReader(const uint8_t* data, size_t size, bool big_endian) : data_(data), size_(size), big_endian_(big_endian) {}

  bool holds(size_t at, size_t count) const { return at <= size_ && count <= size_ - at; }

  uint32_t number(size_t at, size_t bytes) const {
    uint32_t value = 0;
    for (size_t i = 0; i < bytes; ++i) {
      const uint8_t byte = data_[at + (big_endian_ ? i : bytes - 1 - i)];
      value = value << 8 | byte;
    }
    return value;
  }

 private:
  const uint8_t* data_;
  size_t size_;
  bool big_endian_;
};

template <size_t PixelBytes>
void turn(const uint8_t* source, const ImageShape& stored, int orientation, uint8_t* target) {
  const bool transpose = orientation_transposes(orientation);
  // In the upright picture's own row and column, which of the stored axes run backwards?
  const bool flip_stored_rows = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool flip_stored_columns = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  size_t height = stored.height;
  size_t width = stored.width;
  const size_t stored_row = stored.width * PixelBytes;
  if (transpose) std::swap(height, width);
  const bool flip_y = transpose ? flip_stored_columns : flip_stored_rows;
  const bool flip_x = transpose ? flip_stored_rows : flip_stored_columns;
  const size_t step_y = transpose ? PixelBytes : stored_row;
  const size_t step_x = transpose ? stored_row : PixelBytes;

  for (size_t y = 0; y < height; ++y) {
    const uint8_t* line = source + (flip_y ? height - 1 - y : y) * step_y;
    for (size_t x = 0; x < width; ++x) {
      std::memcpy(target, line + (flip_x ? width - 1 - x : x) * step_x, PixelBytes);
      target += PixelBytes;
    }
  }
}

}  // namespace

int exif_orientation(const uint8_t* tiff, size_t size) {
  constexpr int upright = 1;
  if (size < 8) return upright;
  const bool big_endian = tiff[0] == 'M' && tiff[1] == 'M';
  if (!big_endian && !(tiff[0] == 'I' && tiff[1] == 'I')) return upright;
  const TiffReader reader(tiff, size, big_endian);
  if (reader.number(2, 2) != 42) return upright;

  const size_t directory = reader.number(4, 4);
  if (!reader.holds(directory, 2)) return upright;
  const size_t entries = reader.number(directory, 2);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (!reader.holds(entry, kEntryBytes)) return upright;
    if (reader.number(entry, 2) != kOrientationTag) continue;
    if (reader.number(entry + 2, 2) != kShortType) return upright;
    const uint32_t value = reader.number(entry + 8, 2);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : upright;
  }
  return upright;
}

ImageShape oriented(ImageShape stored, int orientation) {
  if (orientation_transposes(orientation)) std::swap(stored.height, stored.width);
  return stored;
}

void apply_orientation(const uint8_t* source, const ImageShape& stored, int orientation, uint8_t* target) {
  switch (static_cast<size_t>(stored.channels) * stored.sample_bytes()) {
    case 1: return turn<1>(source, stored, orientation, target);
    case 2: return turn<2>(source, stored, orientation, target);
    case 3: return turn<3>(source, stored, orientation, target);
    case 4: return turn<4>(source, stored, orientation, target);
    case 8: return turn<8>(source, stored, orientation, target);
    case 12: return turn<12>(source, stored, orientation, target);
    case 16: return turn<16>(source, stored, orientation, target);
    default: throw ImageError("apply_orientation: unexpected number of channels " + std::to_string(stored.channels));
  }
}

}  // namespace trine::vision
