#include <algorithm>
#include <cstring>
#include <iterator>

#include "color.h"
#include "exif.h"
#include "png_codec.h"
#include "png_errors.h"

namespace trine::vision {
namespace {

constexpr size_t kSignatureBytes = 8;

// Chunks that do not change the samples. Reading them would cost time, and memory that a hostile file chooses.
constexpr png_byte kSkippedChunks[] = {
    'b', 'K', 'G', 'D', 0,   'c', 'H', 'R', 'M', 0,   'g', 'A', 'M', 'A', 0,   'h', 'I', 'S', 'T', 0,   'i', 'C', 'C', 'P', 0,   'i', 'T',
    'X', 't', 0,   'o', 'F', 'F', 's', 0,   'p', 'C', 'A', 'L', 0,   'p', 'H', 'Y', 's', 0,   's', 'B', 'I', 'T', 0,   's', 'C', 'A', 'L',
    0,   's', 'P', 'L', 'T', 0,   's', 'R', 'G', 'B', 0,   't', 'E', 'X', 't', 0,   't', 'I', 'M', 'E', 0,   'z', 'T', 'X', 't', 0,
};

int channels_of(ReadMode mode) { return static_cast<int>(mode); }  // GRAY 1, GRAY_ALPHA 2, RGB 3, RGB_ALPHA 4

}  // namespace

bool is_png(const uint8_t* data, size_t size) { return size >= kSignatureBytes && png_sig_cmp(data, 0, kSignatureBytes) == 0; }

struct PngDecoder::State {
  png_structp png = nullptr;
  png_infop info = nullptr;
  PngErrors errors;
  DecodeOptions options;
  const uint8_t* next = nullptr;
  size_t left = 0;
  ImageShape stored;
  int file_channels = 0;  // what libpng hands out, before convert_row
  bool interlaced = false;
  int orientation = 1;
  std::vector<uint8_t> raw;       // what libpng hands out, where it is not yet what the caller asked for
  std::vector<uint8_t> sideways;  // the picture before it is turned upright
  std::vector<png_bytep> rows;

  ~State() { png_destroy_read_struct(&png, &info, nullptr); }

  static void read(png_structp png, png_bytep out, size_t count) {
    auto* self = static_cast<State*>(png_get_io_ptr(png));
    if (count > self->left) PngErrors::fail(png, "the file is incomplete or truncated");
    std::memcpy(out, self->next, count);
    self->next += count;
    self->left -= count;
  }

  void start() {
    png_set_read_fn(png, this, read);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_size judges the area instead
    if (options.limits.max_chunk_bytes != 0) png_set_chunk_malloc_max(png, options.limits.max_chunk_bytes);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, kSkippedChunks, static_cast<int>(std::size(kSkippedChunks) / 5));
    png_read_info(png, info);
    stored.height = png_get_image_height(png, info);
    stored.width = png_get_image_width(png, info);
  }

  // Unpacks samples of less than 8 bits and palettes; conversions between gray, color and alpha are convert_row's.
  void choose_layout() {
    const int color_type = png_get_color_type(png, info);
    const int depth = png_get_bit_depth(png, info);
    const bool unchanged = options.mode == ReadMode::unchanged;
    const bool wants_alpha = options.mode == ReadMode::gray_alpha || options.mode == ReadMode::rgb_alpha;

    if (color_type == PNG_COLOR_TYPE_PALETTE) {
      if (unchanged) {
        png_set_packing(png);
      } else {
        png_set_palette_to_rgb(png);
      }
    } else {
      if (depth < 8) png_set_expand_gray_1_2_4_to_8(png);
      if (wants_alpha && png_get_valid(png, info, PNG_INFO_tRNS) != 0) png_set_tRNS_to_alpha(png);
    }
    if (depth == 16) png_set_swap(png);  // PNG is big-endian
    interlaced = png_set_interlace_handling(png) > 1;
    png_read_update_info(png, info);

    file_channels = png_get_channels(png, info);
    stored.bits = depth == 16 ? 16 : 8;
    stored.channels = unchanged ? file_channels : channels_of(options.mode);
    if (options.apply_exif_orientation) {
      png_bytep exif = nullptr;
      png_uint_32 size = 0;
      if (png_get_eXIf_1(png, info, &size, &exif) != 0) orientation = exif_orientation(exif, size);
    }
  }

  bool direct() const { return stored.bits == 8 && file_channels == stored.channels; }
  size_t raw_row_bytes() const {
    return static_cast<size_t>(stored.width) * static_cast<size_t>(file_channels) * (stored.bits == 16 ? 2 : 1);
  }

  void convert(const uint8_t* from, uint8_t* to) const {
    if (stored.bits == 16) {
      convert_row(reinterpret_cast<const uint16_t*>(from), file_channels, reinterpret_cast<int32_t*>(to), stored.channels, stored.width);
    } else {
      convert_row(from, file_channels, to, stored.channels, stored.width);
    }
  }

  // Vectors are sized here, outside the guard.
  void prepare(uint8_t* target) {
    if (!direct()) raw.resize(raw_row_bytes() * (interlaced ? stored.height : 1));
    if (!interlaced) return;
    uint8_t* base = direct() ? target : raw.data();
    rows.resize(stored.height);
    for (size_t y = 0; y < rows.size(); ++y) rows[y] = base + y * raw_row_bytes();
  }

  void read_rows(uint8_t* target) {
    const size_t pitch = stored.row_bytes();
    if (interlaced) {
      png_read_image(png, rows.data());
      if (!direct()) {
        for (size_t y = 0; y < stored.height; ++y) convert(rows[y], target + y * pitch);
      }
    } else {
      for (size_t y = 0; y < stored.height; ++y) {
        uint8_t* at = target + y * pitch;
        png_read_row(png, direct() ? at : raw.data(), nullptr);
        if (!direct()) convert(raw.data(), at);
      }
    }
  }
};

PngDecoder::PngDecoder(const uint8_t* data, size_t size, const DecodeOptions& options) : state_(std::make_unique<State>()) {
  State& state = *state_;
  if (!is_png(data, size)) throw ImageError("decode_png: the data are not a PNG file");
  state.options = options;
  state.next = data;
  state.left = size;
  state.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state.errors, PngErrors::fail, PngErrors::ignore);
  if (state.png != nullptr) state.info = png_create_info_struct(state.png);
  if (state.info == nullptr) throw ImageError("decode_png: not enough memory");
  guard_png("decode_png", state.png, state.errors, [&] { state.start(); });
}

PngDecoder::~PngDecoder() = default;

ImageShape PngDecoder::read_header() {
  State& state = *state_;
  check_size("decode_png", state.stored.height, state.stored.width, state.options.limits);
  guard_png("decode_png", state.png, state.errors, [&] { state.choose_layout(); });
  return oriented(state.stored, state.orientation);
}

void PngDecoder::decode(uint8_t* out) {
  State& state = *state_;
  if (state.orientation != 1) state.sideways.resize(state.stored.bytes());
  uint8_t* target = state.orientation == 1 ? out : state.sideways.data();
  state.prepare(target);
  guard_png("decode_png", state.png, state.errors, [&] { state.read_rows(target); });
  if (state.orientation != 1) apply_orientation(target, state.stored, state.orientation, out);
}

}  // namespace trine::vision
