// Fourier transforms over their structured operators.
#include "composite/helpers_nn.h"
#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {
namespace {

enum Normalization : int64_t { kNone, kRoot, kLength };

int64_t normalization(const char* op, std::optional<std::string_view> norm, bool forward) {
  if (!norm || *norm == "backward") return forward ? kNone : kLength;
  if (*norm == "forward") return forward ? kLength : kNone;
  TRINE_CHECK(*norm == "ortho", op, ": Invalid normalization mode: \"", *norm, "\"");
  return kRoot;
}

// Cut or filled with zeros to n elements.
Tensor resized(const char* op, const Tensor& t, int64_t dim, int64_t n) {
  TRINE_CHECK(n >= 1, op, ": Invalid number of data points (", n, ") specified");
  const int64_t have = t.size(dim);
  if (n == have) return t;
  if (n < have) return trine::narrow(t, dim, 0, n);
  Dims sizes(t.sizes());
  sizes[static_cast<size_t>(wrap_dim(dim, t.dim()))] = n - have;
  const Tensor parts[] = {t, zeros(sizes, t.dtype(), t.device())};
  return cat(parts, dim);
}

DType float_type(const Tensor& t) { return is_integral(t.dtype(), true) ? default_dtype() : compute_type(t.dtype()); }

void check_float(const char* op, const Tensor& t) {
  TRINE_CHECK(t.dim() > 0, op, ": input must have at least one dimension");
  TRINE_CHECK(t.dtype() != DType::Half && t.dtype() != DType::BFloat16, op, ": Unsupported dtype ", legacy_name(t.dtype()));
}

}  // namespace

Tensor fft_c2c_op(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm, bool forward) {
  const char* op = forward ? "fft" : "ifft";
  check_float(op, self);
  Tensor x = resized(op, self, dim, n.value_or(self.size(dim)));
  const Dims dims{dim};
  return _fft_c2c(x.is_complex() ? x : to(x, to_complex(float_type(x))), dims, normalization(op, norm, forward), forward);
}

Tensor fft_rfft_op(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm) {
  check_float("rfft", self);
  TRINE_CHECK(!self.is_complex(), "rfft: expects a floating point input tensor, but got ", name(self.dtype()));
  Tensor x = resized("rfft", self, dim, n.value_or(self.size(dim)));
  const Dims dims{dim};
  return _fft_r2c(x.dtype() == float_type(x) ? x : to(x, float_type(x)), dims, normalization("rfft", norm, true), true);
}

Tensor fft_irfft_op(const Tensor& self, std::optional<int64_t> n, int64_t dim, std::optional<std::string_view> norm) {
  check_float("irfft", self);
  const int64_t length = n.value_or(2 * (self.size(dim) - 1));
  TRINE_CHECK(length >= 1, "irfft: Invalid number of data points (", length, ") specified");
  Tensor x = resized("irfft", self, dim, length / 2 + 1);
  const Dims dims{dim};
  return _fft_c2r(x.is_complex() ? x : to(x, to_complex(float_type(x))), dims, normalization("irfft", norm, false), length);
}

}  // namespace trine::composite
