#include "png_codec.h"
#include "png_errors.h"

namespace trine::vision {
namespace {

struct Encoder {
  png_structp png = nullptr;
  png_infop info = nullptr;
  PngErrors errors;
  std::vector<uint8_t> bytes;
  bool out_of_memory = false;

  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() { png_destroy_write_struct(&png, &info); }

  static void append(png_structp png, png_bytep data, size_t count) {
    auto* self = static_cast<Encoder*>(png_get_io_ptr(png));
    // No exception may cross libpng's frames.
    try {
      self->bytes.insert(self->bytes.end(), data, data + count);
    } catch (const std::bad_alloc&) { self->out_of_memory = true; }
    if (self->out_of_memory) PngErrors::fail(png, "not enough memory");
  }

  static void flush(png_structp) {}

  void run(const uint8_t* pixels, const ImageShape& shape, int compression_level) {
    constexpr int color_types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    png_set_write_fn(png, this, append, flush);
    png_set_compression_level(png, compression_level);
    png_set_IHDR(png, info, shape.width, shape.height, 8, color_types[shape.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (size_t y = 0; y < shape.height; ++y) png_write_row(png, pixels + y * shape.row_bytes());
    png_write_end(png, info);
  }
};

}  // namespace

std::vector<uint8_t> encode_png(const uint8_t* pixels, const ImageShape& shape, int compression_level) {
  Encoder encoder;
  encoder.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder.errors, PngErrors::fail, PngErrors::ignore);
  if (encoder.png != nullptr) encoder.info = png_create_info_struct(encoder.png);
  if (encoder.info == nullptr) throw ImageError("encode_png: not enough memory");
  guard_png("encode_png", encoder.png, encoder.errors, [&] { encoder.run(pixels, shape, compression_level); });
  return std::move(encoder.bytes);
}

}  // namespace trine::vision
