// The extension module `trine.vision._C`: codecs and resampling on objects with the buffer protocol. Memory for
// results comes from a Python callable, so that this module needs nothing of the tensor core.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <exception>
#include <vector>

#include "image.h"
#include "jpeg_codec.h"
#include "png_codec.h"
#include "resize.h"
#include "trine_build.h"

namespace {

using namespace trine::vision;

class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (view.obj != nullptr) PyBuffer_Release(&view);
  }
  bool open(PyObject* object, int flags) { return PyObject_GetBuffer(object, &view, flags) == 0; }
  const uint8_t* data() const { return static_cast<const uint8_t*>(view.buf); }
  uint8_t* writable() const { return static_cast<uint8_t*>(view.buf); }
  size_t size() const { return static_cast<size_t>(view.len); }

  Py_buffer view{};
};

// Runs `work` without the interpreter lock; a C++ exception becomes a Python one.
template <class Work>
bool unlocked(const Work& work) {
  PyObject* kind = nullptr;
  std::string message;
  Py_BEGIN_ALLOW_THREADS;
  try {
    work();
  } catch (const ImageError& error) {
    kind = PyExc_RuntimeError;
    message = error.what();
  } catch (const std::bad_alloc&) {
    kind = PyExc_MemoryError;
    message = "not enough memory for the picture";
  } catch (const std::exception& error) {
    kind = PyExc_RuntimeError;
    message = error.what();
  }
  Py_END_ALLOW_THREADS;
  if (kind == nullptr) return true;
  PyErr_SetString(kind, message.c_str());
  return false;
}

// Calls `allocate(height, width, channels, bits)` and opens the memory of the result.
PyObject* allocate_image(PyObject* allocate, const ImageShape& shape, Buffer& memory) {
  PyObject* result = PyObject_CallFunction(allocate, "IIii", shape.height, shape.width, shape.channels, shape.bits);
  if (result == nullptr) return nullptr;
  if (!memory.open(result, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS)) {
    Py_DECREF(result);
    return nullptr;
  }
  if (memory.size() != shape.bytes()) {
    Py_DECREF(result);
    PyErr_Format(PyExc_ValueError, "allocate returned %zu bytes for a picture of %zu", memory.size(), shape.bytes());
    return nullptr;
  }
  return result;
}

template <class Decoder>
PyObject* decode(PyObject* data, const DecodeOptions& options, PyObject* allocate) {
  Buffer input;
  if (!input.open(data, PyBUF_C_CONTIGUOUS)) return nullptr;
  std::unique_ptr<Decoder> decoder;
  ImageShape shape;
  if (!unlocked([&] {
        decoder = std::make_unique<Decoder>(input.data(), input.size(), options);
        shape = decoder->read_header();
      })) {
    return nullptr;
  }
  Buffer memory;
  PyObject* result = allocate_image(allocate, shape, memory);
  if (result == nullptr) return nullptr;
  if (!unlocked([&] { decoder->decode(memory.writable()); })) {
    Py_DECREF(result);
    return nullptr;
  }
  return result;
}

bool parse_decode(PyObject* args, const char* format, PyObject** data, DecodeOptions& options, size_t* limit, PyObject** allocate) {
  int mode = 0;
  int orientation = 0;
  Py_ssize_t max_pixels = 0;
  Py_ssize_t other = 0;
  if (!PyArg_ParseTuple(args, format, data, &mode, &orientation, &max_pixels, &other, allocate)) return false;
  if (mode < 0 || mode > static_cast<int>(ReadMode::rgb_alpha)) {
    PyErr_Format(PyExc_ValueError, "mode must be a member of ImageReadMode, not %d", mode);
    return false;
  }
  if (max_pixels < 0 || other < 0) {
    PyErr_SetString(PyExc_ValueError, "limits must not be negative");
    return false;
  }
  options.mode = static_cast<ReadMode>(mode);
  options.apply_exif_orientation = orientation != 0;
  options.limits.max_pixels = static_cast<size_t>(max_pixels);
  *limit = static_cast<size_t>(other);
  return true;
}

PyObject* py_decode_jpeg(PyObject*, PyObject* args) {
  PyObject* data = nullptr;
  PyObject* allocate = nullptr;
  DecodeOptions options;
  size_t max_scans = 0;
  if (!parse_decode(args, "OipnnO:decode_jpeg", &data, options, &max_scans, &allocate)) return nullptr;
  options.limits.max_scans = static_cast<int>(std::min<size_t>(max_scans, INT_MAX));
  return decode<JpegDecoder>(data, options, allocate);
}

PyObject* py_decode_png(PyObject*, PyObject* args) {
  PyObject* data = nullptr;
  PyObject* allocate = nullptr;
  DecodeOptions options;
  if (!parse_decode(args, "OipnnO:decode_png", &data, options, &options.limits.max_chunk_bytes, &allocate)) { return nullptr; }
  return decode<PngDecoder>(data, options, allocate);
}

using Encode = std::vector<uint8_t> (*)(const uint8_t*, const ImageShape&, int);

// pixels (interleaved uint8), height, width, channels, setting -> bytes
PyObject* encode(PyObject* args, const char* format, Encode run) {
  PyObject* pixels = nullptr;
  unsigned height = 0;
  unsigned width = 0;
  int channels = 0;
  int setting = 0;
  if (!PyArg_ParseTuple(args, format, &pixels, &height, &width, &channels, &setting)) return nullptr;
  if (channels < 1 || channels > 4) {
    PyErr_Format(PyExc_ValueError, "channels must be 1 to 4, not %d", channels);
    return nullptr;
  }
  Buffer input;
  if (!input.open(pixels, PyBUF_C_CONTIGUOUS)) return nullptr;
  const ImageShape shape{height, width, channels, 8};
  if (input.size() != shape.bytes()) {
    PyErr_Format(PyExc_ValueError, "%zu bytes of pixels given for a picture of %zu", input.size(), shape.bytes());
    return nullptr;
  }
  std::vector<uint8_t> file;
  if (!unlocked([&] { file = run(input.data(), shape, setting); })) return nullptr;
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(file.data()), static_cast<Py_ssize_t>(file.size()));
}

PyObject* py_encode_jpeg(PyObject*, PyObject* args) { return encode(args, "OIIii:encode_jpeg", encode_jpeg); }
PyObject* py_encode_png(PyObject*, PyObject* args) { return encode(args, "OIIii:encode_png", encode_png); }

// source, height, width, channels, target, out_height, out_width, (left, top, right, bottom), filter
PyObject* py_resize(PyObject*, PyObject* args) {
  PyObject* source = nullptr;
  PyObject* target = nullptr;
  Py_ssize_t height = 0;
  Py_ssize_t width = 0;
  Py_ssize_t channels = 0;
  Py_ssize_t out_height = 0;
  Py_ssize_t out_width = 0;
  ResizeBox box{};
  int filter = 0;
  if (!PyArg_ParseTuple(args, "OnnnOnn(dddd)i:resize", &source, &height, &width, &channels, &target, &out_height, &out_width, &box.left,
                        &box.top, &box.right, &box.bottom, &filter)) {
    return nullptr;
  }
  constexpr Py_ssize_t largest = 1 << 30;
  for (const Py_ssize_t side : {height, width, out_height, out_width}) {
    if (side < 1 || side > largest) {
      PyErr_Format(PyExc_ValueError, "resize: sides must be 1 to %zd, not %zd", largest, side);
      return nullptr;
    }
  }
  const bool box_inside = box.left >= 0 && box.top >= 0 && box.right <= static_cast<double>(width) &&
                          box.bottom <= static_cast<double>(height) && box.left < box.right && box.top < box.bottom;
  if (!box_inside || channels < 1 || channels > 4 || filter < 0 || filter > static_cast<int>(ResizeFilter::hamming)) {
    PyErr_SetString(PyExc_ValueError, "resize: bad box, number of channels or filter");
    return nullptr;
  }
  Buffer from;
  Buffer to;
  if (!from.open(source, PyBUF_C_CONTIGUOUS) || !to.open(target, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS)) return nullptr;
  const ResizeSize in{static_cast<size_t>(height), static_cast<size_t>(width)};
  const ResizeSize out{static_cast<size_t>(out_height), static_cast<size_t>(out_width)};
  const size_t depth = static_cast<size_t>(channels);
  if (from.size() != in.height * in.width * depth || to.size() != out.height * out.width * depth) {
    PyErr_SetString(PyExc_ValueError, "resize: the buffers do not have the sizes given");
    return nullptr;
  }
  if (!unlocked([&] { resize_interleaved(from.data(), in, depth, to.writable(), out, box, static_cast<ResizeFilter>(filter)); })) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"decode_jpeg", py_decode_jpeg, METH_VARARGS,
     "decode_jpeg(data, mode, apply_exif_orientation, max_pixels, max_scans, allocate): decode into the memory that "
     "allocate(height, width, channels, bits) returns, and return it."},
    {"decode_png", py_decode_png, METH_VARARGS,
     "decode_png(data, mode, apply_exif_orientation, max_pixels, max_chunk_bytes, allocate): decode into the memory "
     "that allocate(height, width, channels, bits) returns, and return it. 16-bit samples are int32."},
    {"encode_jpeg", py_encode_jpeg, METH_VARARGS, "encode_jpeg(pixels, height, width, channels, quality) -> bytes"},
    {"encode_png", py_encode_png, METH_VARARGS, "encode_png(pixels, height, width, channels, compression_level) -> bytes"},
    {"resize", py_resize, METH_VARARGS,
     "resize(source, height, width, channels, target, out_height, out_width, (left, top, right, bottom), filter)"},
    {nullptr, nullptr, 0, nullptr},
};

// Which build this is: the package compares it with the core's.
int add_stamp(PyObject* self) {
  if (PyModule_AddStringConstant(self, "__version__", TRINE_VERSION) < 0) return -1;
  return PyModule_AddStringConstant(self, "_build_stamp", TRINE_BUILD_STAMP);
}
PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void*>(add_stamp)}, {0, nullptr}};

PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_C", "Native codecs and resampling of trine.vision.", 0, methods, slots, nullptr, nullptr, nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit__C() { return PyModuleDef_Init(&module); }
