// torch.fft over three structured operators: input types, lengths and dimensions, normalisation.
#include "composite/helpers_fft.h"

#include "dispatch/boxing.h"
#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {
namespace {

enum Normalization : int64_t { kNone, kRoot, kLength };

int64_t normalization(FftNorm norm, bool forward) {
  if (!norm || *norm == "backward") return forward ? kNone : kLength;
  if (*norm == "forward") return forward ? kLength : kNone;
  TRINE_CHECK(*norm == "ortho", "Invalid normalization mode: \"", *norm, "\"");
  return kRoot;
}

// Integers become the default dtype.
Tensor promoted(const Tensor& t, bool need_complex) {
  DType type = is_integral(t.dtype(), true) ? default_dtype() : t.dtype();
  TRINE_CHECK(is_complex(type) || type == DType::Float || type == DType::Double, "Unsupported dtype ", legacy_name(type));
  if (need_complex && !is_complex(type)) type = to_complex(type);
  return t.dtype() == type ? t : trine::to(t, type);
}

void check_points(int64_t n) { TRINE_CHECK(n >= 1, "Invalid number of data points (", n, ") specified"); }

// Each dimension cut, or filled with zeros, to the length that stands for it.
Tensor resized(const Tensor& t, const Dims& dims, const Dims& shape) {
  Tensor x = t;
  Dims pad;
  pad.resize(2 * static_cast<size_t>(t.dim()), 0);
  bool longer = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t have = t.size(dims[i]), want = shape[i];
    if (want < have) x = trine::narrow(x, dims[i], 0, want);
    if (want > have) pad[2 * static_cast<size_t>(t.dim() - 1 - dims[i]) + 1] = want - have, longer = true;
  }
  return longer ? trine::constant_pad_nd(x, pad) : x;
}

struct Axes {
  Dims dims, shape;
};

Axes axes_of(const Tensor& t, std::optional<DimsRef> s, std::optional<DimsRef> dim) {
  Axes axes;
  if (dim) {
    for (int64_t d : *dim) axes.dims.push_back(wrap_dim(d, t.dim(), false));
    for (size_t i = 0; i < axes.dims.size(); ++i)
      for (size_t j = 0; j < i; ++j) TRINE_CHECK(axes.dims[i] != axes.dims[j], "FFT dims must be unique");
  }
  if (s) {
    TRINE_CHECK(!dim || dim->size() == s->size(), "When given, dim and shape arguments must have the same length");
    const int64_t count = static_cast<int64_t>(s->size());
    TRINE_CHECK(count <= t.dim(), "Got shape with ", count, " values but input tensor only has ", t.dim(), " dimensions.");
    if (!dim)
      for (int64_t d = t.dim() - count; d < t.dim(); ++d) axes.dims.push_back(d);
  } else if (!dim) {
    for (int64_t d = 0; d < t.dim(); ++d) axes.dims.push_back(d);
  }
  for (size_t i = 0; i < axes.dims.size(); ++i) {
    axes.shape.push_back(s && (*s)[i] != -1 ? (*s)[i] : t.size(axes.dims[i]));
    check_points(axes.shape.back());
  }
  return axes;
}

const char* real_name(bool forward, bool several) { return several ? forward ? "rfftn" : "ihfftn" : forward ? "rfft" : "ihfft"; }

}  // namespace

Tensor fft_c2c_op(const Tensor& self, std::optional<int64_t> n, int64_t dim, FftNorm norm, bool forward) {
  const Tensor input = promoted(self, false);
  const Dims dims{wrap_dim(dim, self.dim(), false)}, shape{n.value_or(self.size(dim))};
  check_points(shape[0]);
  const Tensor x = resized(input, dims, shape);
  if (x.is_complex()) return trine::_fft_c2c(x, dims, normalization(norm, forward), forward);
  const Tensor full = trine::_fft_r2c(x, dims, normalization(norm, forward), false);
  return forward ? full : trine::conj(full);
}

Tensor fft_r2c_op(const Tensor& self, std::optional<int64_t> n, int64_t dim, FftNorm norm, bool forward) {
  TRINE_CHECK(!self.is_complex(), real_name(forward, false), " expects a real input tensor, but got ", legacy_name(self.dtype()));
  const Tensor input = promoted(self, false);
  const Dims dims{wrap_dim(dim, self.dim(), false)}, shape{n.value_or(self.size(dim))};
  check_points(shape[0]);
  const Tensor half = trine::_fft_r2c(resized(input, dims, shape), dims, normalization(norm, forward), true);
  return forward ? half : trine::conj(half);
}

Tensor fft_c2r_op(const Tensor& self, std::optional<int64_t> n, int64_t dim, FftNorm norm, bool forward) {
  const Tensor input = promoted(self, true);
  const Dims dims{wrap_dim(dim, self.dim(), false)};
  const int64_t length = n.value_or(2 * (self.size(dim) - 1));
  check_points(length);
  const Tensor x = resized(input, dims, Dims{length / 2 + 1});
  return trine::_fft_c2r(forward ? trine::conj(x) : x, dims, normalization(norm, forward), length);
}

Tensor fft_c2c_nd(const Tensor& self, std::optional<DimsRef> s, std::optional<DimsRef> dim, FftNorm norm, bool forward) {
  const Tensor input = promoted(self, true);
  const Axes axes = axes_of(input, s, dim);
  return trine::_fft_c2c(resized(input, axes.dims, axes.shape), axes.dims, normalization(norm, forward), forward);
}

Tensor fft_r2c_nd(const Tensor& self, std::optional<DimsRef> s, std::optional<DimsRef> dim, FftNorm norm, bool forward) {
  if (forward) TRINE_CHECK(!self.is_complex(), "rfftn expects a real-valued input tensor, but got ", legacy_name(self.dtype()));
  const Axes axes = axes_of(self, s, dim);
  TRINE_CHECK(!axes.dims.empty(), real_name(forward, true), " must transform at least one axis");
  TRINE_CHECK(!self.is_complex(), "Only supports floating-point dtypes, but found: ", legacy_name(self.dtype()));
  const Tensor x = resized(promoted(self, false), axes.dims, axes.shape);
  const int64_t scaling = normalization(norm, forward);
  if (forward) return trine::_fft_r2c(x, axes.dims, scaling, true);
  // The last dimension from real to half complex, conjugated; the others backwards.
  Dims others(axes.dims);
  others.pop_back();
  const Tensor half = trine::conj(trine::_fft_r2c(x, Dims{axes.dims.back()}, scaling, true));
  return others.empty() ? half : trine::_fft_c2c(half, others, scaling, false);
}

Tensor fft_c2r_nd(const Tensor& self, std::optional<DimsRef> s, std::optional<DimsRef> dim, FftNorm norm, bool forward) {
  const Tensor input = promoted(self, true);
  Axes axes = axes_of(input, s, dim);
  TRINE_CHECK(!axes.dims.empty(), forward ? "hfftn" : "irfftn", " must transform at least one axis");
  const int64_t last = s && s->back() != -1 ? s->back() : 2 * (self.size(axes.dims.back()) - 1);
  check_points(last);
  axes.shape.back() = last / 2 + 1;
  const Tensor x = resized(input, axes.dims, axes.shape);
  const int64_t scaling = normalization(norm, forward);
  if (!forward) return trine::_fft_c2r(x, axes.dims, scaling, last);
  Dims others(axes.dims);
  others.pop_back();
  return trine::_fft_c2r(trine::conj(others.empty() ? x : trine::_fft_c2c(x, others, scaling, true)), Dims{axes.dims.back()}, scaling, last);
}

const Tensor& fft_store_real(const char* op, const Tensor& out, const Tensor& value) {
  TRINE_CHECK(is_floating(out.dtype()), op, " expects a floating point output tensor, but got ", legacy_name(out.dtype()));
  store_result(op, out, value);
  return out;
}

Tensor fft_freq(const char* op, int64_t n, double d, DType dtype, std::optional<Device> device, bool half) {
  if (dtype == DType::Undefined) dtype = default_dtype();
  TRINE_CHECK(is_floating(dtype) || is_complex(dtype), op, " requires a floating point or complex dtype");
  Tensor bins = trine::arange(Scalar(half ? n / 2 + 1 : n), dtype, device);
  if (!half) {
    const int64_t positive = (n + 1) / 2;
    trine::sub_(trine::narrow(bins, 0, positive, n - positive), wrapped_number(Scalar(n)));
  }
  return trine::mul_(bins, wrapped_number(Scalar(1.0 / (static_cast<double>(n) * d))));
}

Tensor fft_shift(const Tensor& self, std::optional<DimsRef> dim, bool forward) {
  Dims dims, shifts;
  if (dim)
    for (int64_t d : *dim) dims.push_back(wrap_dim(d, self.dim()));
  else
    for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  for (int64_t d : dims) shifts.push_back(forward ? self.size(d) / 2 : (self.size(d) + 1) / 2);
  return trine::roll(self, shifts, dims);
}

}  // namespace trine::composite
