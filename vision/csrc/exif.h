// The orientation tag of EXIF metadata, and the eight ways it can turn a picture.
#pragma once

#include <cstddef>
#include <cstdint>

#include "image.h"

namespace trine::vision {

// `tiff` points at the TIFF header ("II*\0" or "MM\0*") of an EXIF block. Returns 1 to 8; 1 when absent or malformed.
int exif_orientation(const uint8_t* tiff, size_t size);

// Orientations 5 to 8 exchange height and width.
inline bool orientation_transposes(int orientation) { return orientation >= 5 && orientation <= 8; }

// The shape of the picture once it is upright.
ImageShape oriented(ImageShape stored, int orientation);

// Writes the upright picture of `stored` pixels at `source` to `target`; the two must not overlap.
void apply_orientation(const uint8_t* source, const ImageShape& stored, int orientation, uint8_t* target);

}  // namespace trine::vision
