// Shapes and dtypes of reductions and scans.
#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

// The dimensions of a list as a bit mask. None and the empty list mean all of them.
inline uint64_t dim_mask(std::optional<DimsRef> dim, int64_t ndim) {
  TRINE_CHECK(ndim <= 64, "only tensors with up to 64 dims are supported");
  const uint64_t all = ndim == 0 ? 0 : ~uint64_t{0} >> (64 - ndim);
  if (!dim || dim->empty()) return all;
  uint64_t mask = 0;
  for (int64_t d : *dim) {
    int64_t i = wrap_dim(d, ndim);
    TRINE_CHECK(!(mask >> i & 1), "dim ", i, " appears multiple times in the list of dims");
    mask |= uint64_t{1} << i;
  }
  return mask & all;
}
inline uint64_t dim_mask(std::optional<int64_t> dim, int64_t ndim) {
  if (!dim) return dim_mask(std::optional<DimsRef>(), ndim);
  return dim_mask(std::optional<DimsRef>(DimsRef(&*dim, 1)), ndim);
}

inline TensorSpec reduced(const Tensor& self, uint64_t mask, bool keepdim, DType dtype) {
  TensorSpec spec;
  spec.dtype = dtype;
  for (int64_t d = 0; d < self.dim(); d++) {
    bool gone = mask >> d & 1;
    if (!gone || keepdim) spec.sizes.push_back(gone ? 1 : self.sizes()[d]);
  }
  return spec;
}

inline DType sum_dtype(const Tensor& self, DType dtype) {
  return dtype != DType::Undefined ? dtype : is_integral(self.dtype(), true) ? DType::Int64 : self.dtype();
}
inline DType float_dtype(const Tensor& self) { return is_integral(self.dtype(), true) ? default_dtype() : self.dtype(); }

inline TensorSpec sum_spec(const Tensor& self, std::optional<DimsRef> dim, bool keepdim, DType dtype) {
  return reduced(self, dim_mask(dim, self.dim()), keepdim, sum_dtype(self, dtype));
}
inline TensorSpec nansum_spec(const Tensor& self, std::optional<DimsRef> dim, bool keepdim, DType dtype) {
  TRINE_CHECK(!self.is_complex(), "nansum does not support complex inputs");
  return sum_spec(self, dim, keepdim, dtype);
}
inline TensorSpec prod_spec(const Tensor& self, std::optional<int64_t> dim, bool keepdim, DType dtype) {
  return reduced(self, dim_mask(dim, self.dim()), keepdim, sum_dtype(self, dtype));
}
inline TensorSpec mean_spec(const Tensor& self, std::optional<DimsRef> dim, bool keepdim, DType dtype) {
  DType t = dtype == DType::Undefined ? self.dtype() : dtype;
  TRINE_CHECK(is_differentiable(t), "mean(): could not infer output dtype. ", dtype == DType::Undefined ? "Input" : "Optional", " dtype must be either a floating point or complex dtype. Got: ",
              legacy_name(t));
  return reduced(self, dim_mask(dim, self.dim()), keepdim, t);
}

// Operators without an identity cannot reduce nothing.
inline void check_not_empty(const char* op, const Tensor& self, uint64_t mask, bool all, ErrorKind kind_of_all = ErrorKind::Index) {
  if (self.numel() != 0) return;
  if (all) throw_error(kind_of_all, str(op, "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument."));
  for (int64_t d = 0; d < self.dim(); d++)
    TRINE_CHECK_INDEX(!(mask >> d & 1) || self.sizes()[d] != 0, op, "(): Expected reduction dim ", d, " to have non-zero size.");
}
inline void check_ordered(const char* op, const Tensor& self) {
  if (self.is_complex()) unsupported_dtype(op, self.dtype());
}

inline TensorSpec extreme_spec(const char* op, const Tensor& self, DimsRef dim, bool keepdim) {
  check_ordered(op, self);
  uint64_t mask = dim_mask(std::optional<DimsRef>(dim), self.dim());
  check_not_empty(op, self, mask, dim.empty(), ErrorKind::Runtime);
  return reduced(self, mask, keepdim, self.dtype());
}
inline TensorSpec full_extreme_spec(const char* op, const Tensor& self) {
  check_ordered(op, self);
  TRINE_CHECK(self.numel() != 0, op, "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.");
  return {Dims{}, self.dtype()};
}
inline std::array<TensorSpec, 2> extreme_dim_spec(const char* op, const Tensor& self, int64_t dim, bool keepdim) {
  TRINE_CHECK(!self.is_complex(), op, "(): does not support complex input");
  uint64_t mask = dim_mask(std::optional<int64_t>(dim), self.dim());
  check_not_empty(op, self, mask, false);
  return {reduced(self, mask, keepdim, self.dtype()), reduced(self, mask, keepdim, DType::Int64)};
}
inline TensorSpec position_spec(const char* op, const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  TRINE_CHECK(!self.is_complex(), op, "(): does not support complex input");
  uint64_t mask = dim_mask(dim, self.dim());
  check_not_empty(op, self, mask, !dim);
  return reduced(self, mask, keepdim, DType::Int64);
}
inline TensorSpec truth_spec(const Tensor& self, std::optional<DimsRef> dim, bool keepdim) {
  return reduced(self, dim_mask(dim, self.dim()), keepdim, self.dtype() == DType::UInt8 ? DType::UInt8 : DType::Bool);
}
inline TensorSpec logsumexp_spec(const Tensor& self, DimsRef dim, bool keepdim) {
  return reduced(self, dim_mask(std::optional<DimsRef>(dim), self.dim()), keepdim, float_dtype(self));
}

inline TensorSpec var_spec(const char* op, const Tensor& self, std::optional<DimsRef> dim, bool keepdim) {
  TRINE_CHECK(is_differentiable(self.dtype()), op, ": std and var only support floating point and complex dtypes, got ", name(self.dtype()));
  return reduced(self, dim_mask(dim, self.dim()), keepdim, to_real(self.dtype()));
}
inline std::array<TensorSpec, 2> var_mean_spec(const char* op, const Tensor& self, std::optional<DimsRef> dim, bool keepdim) {
  TensorSpec var = var_spec(op, self, dim, keepdim), mean = var;
  mean.dtype = self.dtype();
  return {var, mean};
}

inline TensorSpec norm_spec(const Tensor& x, const Scalar& ord, std::optional<DimsRef> dim, bool keepdim, DType dtype) {
  const char* op = "linalg.vector_norm";
  TRINE_CHECK(is_differentiable(x.dtype()), op, ": Expected a floating point or complex tensor as input. Got ", legacy_name(x.dtype()));
  DType t = dtype == DType::Undefined ? x.dtype() : dtype;
  TRINE_CHECK(is_differentiable(t), op, ": dtype should be floating point or complex. Got ", legacy_name(t));
  uint64_t mask = dim_mask(dim, x.dim());
  double p = ord.to_double();
  if (p < 0 || p == std::numeric_limits<double>::infinity())
    for (int64_t d = 0; d < x.dim(); d++)
      TRINE_CHECK(!(mask >> d & 1) || x.sizes()[d] != 0, op, " cannot compute the ", p, " norm on the dimension ", d, ", which has size 0, because the operation does not have an identity");
  return reduced(x, mask, keepdim, to_real(t));
}

inline TensorSpec scan_spec(const Tensor& self, int64_t dim, DType dtype) {
  wrap_dim(dim, self.dim());
  return {self.sizes(), dtype};
}
inline std::array<TensorSpec, 2> scan_extreme_spec(const char* op, const Tensor& self, int64_t dim) {
  check_ordered(op, self);
  wrap_dim(dim, self.dim());
  return {TensorSpec(self.sizes(), self.dtype()), TensorSpec(self.sizes(), DType::Int64)};
}

}  // namespace trine::rules
