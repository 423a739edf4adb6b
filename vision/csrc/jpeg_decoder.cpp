#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <jerror.h>
#include <jpeglib.h>

#include "color.h"
#include "exif.h"
#include "jpeg_codec.h"
#include "jpeg_errors.h"
#include "jpeg_huffman.h"

namespace trine::vision {
namespace {

constexpr int kExifMarker = JPEG_APP0 + 1;
constexpr char kExifTag[6] = {'E', 'x', 'i', 'f', 0, 0};
constexpr int kRowsPerCall = 16;  // two MCU rows of 4:2:0: libjpeg hands out what it has without copying

// libjpeg's own memory source invents an end-of-image marker when the bytes run out, so that half a picture
// would pass as a whole one.
boolean out_of_bytes(j_decompress_ptr info) { throw_jpeg(reinterpret_cast<j_common_ptr>(info), "the file is incomplete or truncated"); }

void skip_bytes(j_decompress_ptr info, long count) {
  if (count <= 0) return;
  jpeg_source_mgr* source = info->src;
  if (static_cast<unsigned long>(count) > source->bytes_in_buffer) { out_of_bytes(info); }
  source->next_input_byte += count;
  source->bytes_in_buffer -= static_cast<size_t>(count);
}

void no_source_step(j_decompress_ptr) {}

}  // namespace

struct JpegDecoder::State {
  jpeg_decompress_struct info{};
  JpegErrors errors{};
  jpeg_source_mgr source{};
  jpeg_progress_mgr progress{};
  DecodeOptions options;
  ImageShape stored;
  int orientation = 1;
  JpegHuffman huffman;
  std::vector<uint8_t> row;       // one CMYK row
  std::vector<uint8_t> sideways;  // the picture before it is turned upright

  static void count_scans(j_common_ptr common) {
    auto* info = reinterpret_cast<j_decompress_ptr>(common);
    const auto* state = static_cast<const State*>(info->client_data);
    if (info->input_scan_number > state->options.limits.max_scans) { throw_jpeg(common, "the file has more scans than allowed"); }
  }

  bool from_cmyk() const { return info.out_color_space == JCS_CMYK && stored.channels != 4; }

  void start(const uint8_t* data, size_t size) {
    jpeg_create_decompress(&info);
    info.client_data = this;
    source.next_input_byte = data;
    source.bytes_in_buffer = size;
    source.init_source = no_source_step;
    source.fill_input_buffer = out_of_bytes;
    source.skip_input_data = skip_bytes;
    source.resync_to_restart = jpeg_resync_to_restart;
    source.term_source = no_source_step;
    info.src = &source;
    if (options.limits.max_scans != 0) {
      progress.progress_monitor = count_scans;
      info.progress = &progress;
    }
    if (options.apply_exif_orientation) jpeg_save_markers(&info, kExifMarker, 0xffff);
    jpeg_read_header(&info, TRUE);
  }

  void choose_colors() {
    const bool four_inks = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
    switch (options.mode) {
      case ReadMode::unchanged: stored.channels = info.num_components; break;
      case ReadMode::gray:
        stored.channels = 1;
        info.out_color_space = four_inks ? JCS_CMYK : JCS_GRAYSCALE;
        break;
      case ReadMode::rgb:
        stored.channels = 3;
        info.out_color_space = four_inks ? JCS_CMYK : JCS_RGB;
        break;
      default: throw ImageError("decode_jpeg: the mode must be UNCHANGED, GRAY or RGB: JPEG has no alpha channel");
    }
    stored.height = info.image_height;
    stored.width = info.image_width;
  }

  int find_orientation() const {
    for (jpeg_saved_marker_ptr marker = info.marker_list; marker != nullptr; marker = marker->next) {
      if (marker->marker != kExifMarker || marker->data_length < sizeof kExifTag) continue;
      if (std::memcmp(marker->data, kExifTag, sizeof kExifTag) != 0) continue;
      return exif_orientation(marker->data + sizeof kExifTag, marker->data_length - sizeof kExifTag);
    }
    return 1;
  }

  void read_rows(uint8_t* out) {
    jpeg_start_decompress(&info);
    huffman.install(info);
    const size_t pitch = stored.row_bytes();
    std::array<JSAMPROW, kRowsPerCall> rows;
    while (info.output_scanline < info.output_height) {
      uint8_t* at = out + info.output_scanline * pitch;
      if (from_cmyk()) {
        rows[0] = row.data();
        jpeg_read_scanlines(&info, rows.data(), 1);
        const bool inverted = info.saw_Adobe_marker;
        if (stored.channels == 3) {
          cmyk_row<3>(row.data(), at, stored.width, inverted);
        } else {
          cmyk_row<1>(row.data(), at, stored.width, inverted);
        }
        continue;
      }
      const JDIMENSION count = std::min<JDIMENSION>(kRowsPerCall, info.output_height - info.output_scanline);
      for (JDIMENSION i = 0; i < count; ++i) rows[i] = at + i * pitch;
      jpeg_read_scanlines(&info, rows.data(), count);
    }
    jpeg_finish_decompress(&info);
  }
};

JpegDecoder::JpegDecoder(const uint8_t* data, size_t size, const DecodeOptions& options) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.options = options;
  state.info.err = state.errors.install();
  guard_jpeg("decode_jpeg", state.errors, [&] { state.start(data, size); });
}

JpegDecoder::~JpegDecoder() { jpeg_destroy_decompress(&state_->info); }

ImageShape JpegDecoder::read_header() {
  State& state = *state_;
  check_size("decode_jpeg", state.info.image_height, state.info.image_width, state.options.limits);
  state.choose_colors();
  if (state.stored.channels > 4) {
    throw ImageError("decode_jpeg: " + std::to_string(state.stored.channels) + " components are not supported");
  }
  if (state.options.apply_exif_orientation) state.orientation = state.find_orientation();
  return oriented(state.stored, state.orientation);
}

void JpegDecoder::decode(uint8_t* out) {
  State& state = *state_;
  if (state.from_cmyk()) state.row.resize(static_cast<size_t>(state.stored.width) * 4);
  if (state.orientation != 1) state.sideways.resize(state.stored.bytes());
  uint8_t* target = state.orientation == 1 ? out : state.sideways.data();
  guard_jpeg("decode_jpeg", state.errors, [&] { state.read_rows(target); });
  if (state.orientation != 1) apply_orientation(target, state.stored, state.orientation, out);
}

}  // namespace trine::vision
