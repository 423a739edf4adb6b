#include <cstdlib>

#include "jpeg_codec.h"
#include "jpeg_errors.h"

namespace trine::vision {
namespace {

struct Encoder {
  jpeg_compress_struct info{};
  JpegErrors errors{};
  unsigned char* bytes = nullptr;
  unsigned long size = 0;

  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() {
    jpeg_destroy_compress(&info);
    std::free(bytes);
  }

  void run(const uint8_t* pixels, const ImageShape& shape, int quality) {
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &bytes, &size);
    info.image_width = shape.width;
    info.image_height = shape.height;
    info.input_components = shape.channels;
    info.in_color_space = shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, quality, TRUE);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
      // libjpeg only reads the rows; its interface predates const.
      JSAMPROW row = const_cast<JSAMPROW>(pixels + info.next_scanline * shape.row_bytes());
      jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
  }
};

}  // namespace

std::vector<uint8_t> encode_jpeg(const uint8_t* pixels, const ImageShape& shape, int quality) {
  Encoder encoder;
  encoder.info.err = encoder.errors.install();
  guard_jpeg("encode_jpeg", encoder.errors, [&] { encoder.run(pixels, shape, quality); });
  return {encoder.bytes, encoder.bytes + encoder.size};
}

}  // namespace trine::vision
