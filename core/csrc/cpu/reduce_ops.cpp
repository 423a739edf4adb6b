// The reducing operators: which loops, over which dimensions, in which type.
#include <cmath>

#include "cpu/dense.h"
#include "cpu/reduce.h"
#include "rules/reduce.h"
#include "trine/kernels.h"

namespace trine::cpu {
namespace {

using rules::dim_mask;

// Sums and products: integers have loops of their own, everything else is computed in the type of the result.
void accumulate(const char* name, ReduceOp op, Tensor& out, const Tensor& self, uint64_t dims, double divisor) {
  DType in = compute_type(out.dtype());
  if (is_integral(in, true)) in = is_integral(self.dtype(), true) ? self.dtype() : DType::Int64;
  Reduction r{&reduce_loop(name, op, in), dims, {divisor, 0}};
  reduce(r, out, nullptr, self);
}

int64_t reduced_count(const Tensor& self, uint64_t dims) {
  int64_t n = 1;
  for (int64_t d = 0; d < self.dim(); d++)
    if (dims >> d & 1) n *= self.sizes()[d];
  return n;
}

void extreme(const char* name, ReduceOp op, Tensor& out, const Tensor& self, uint64_t dims) {
  Reduction r{&reduce_loop(name, op, compute_type(self.dtype())), dims};
  reduce(r, out, nullptr, self);
}

void extreme_with_position(const char* name, ReduceOp op, const Tensor& values, const Tensor& indices, const Tensor& self, uint64_t dims) {
  Reduction r{&reduce_loop(name, op, compute_type(self.dtype())), dims};
  r.ordered = true;
  reduce(r, values, &indices, self);
}

void position(const char* name, ReduceOp op, Tensor& out, const Tensor& self, std::optional<int64_t> dim) {
  Tensor values = empty(out.sizes(), self.dtype());
  extreme_with_position(name, op, values, out, self, dim_mask(dim, self.dim()));
}

void truth(ReduceOp op, Tensor& out, const Tensor& self, std::optional<DimsRef> dim) {
  Reduction r{&reduce_loop("any", op, DType::Bool), dim_mask(dim, self.dim())};
  reduce(r, out, nullptr, self);
}

// Real (0) or imaginary (1) parts of complex elements, as a view.
Tensor part_of(const Tensor& t, int64_t part) {
  Dims strides(t.strides());
  for (int64_t& s : strides) s *= 2;
  return from_storage(t.storage(), to_real(t.dtype()), t.sizes(), strides, t.offset() * 2 + part);
}

void moments(const char* name, const Tensor& out, const Tensor* mean, const Tensor& self, std::optional<DimsRef> dim, const std::optional<Scalar>& correction, bool root) {
  uint64_t dims = dim_mask(dim, self.dim());
  double minus = correction ? correction->to_double() : 1.0;
  if (static_cast<double>(reduced_count(self, dims)) - minus <= 0 && out.numel() > 0)
    warn(str(name, "(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel divided by output numel)."));
  auto run = [&](const Tensor& to, const Tensor* to_mean, const Tensor& from, bool with_root) {
    Reduction r{&reduce_loop(name, ReduceOp::Moments, compute_type(from.dtype())), dims, {minus, with_root ? 1.0 : 0.0}};
    reduce(r, to, to_mean, from);
  };
  if (!self.is_complex()) return run(out, mean, self, root);
  // The variance of a complex number is that of its two parts together.
  Tensor imaginary = empty(out.sizes(), out.dtype());
  Tensor means[2];
  for (int64_t part = 0; part < 2; part++) {
    if (mean) means[part] = part_of(*mean, part);
    run(part ? imaginary : out, mean ? &means[part] : nullptr, part_of(self, part), false);
  }
  Tensor sum = trine::add(out, imaginary);
  convert_copy(out, root ? trine::sqrt(sum) : sum);
}

}  // namespace

void sum(Tensor& out, const Tensor& self, std::optional<DimsRef> dim, bool, DType) { accumulate("sum", ReduceOp::Sum, out, self, dim_mask(dim, self.dim()), 1); }

void nansum(Tensor& out, const Tensor& self, std::optional<DimsRef> dim, bool, DType) {
  bool integral = is_integral(out.dtype(), true);
  accumulate("nansum", integral ? ReduceOp::Sum : ReduceOp::NanSum, out, self, dim_mask(dim, self.dim()), 1);
}

void mean(Tensor& out, const Tensor& self, std::optional<DimsRef> dim, bool, DType) {
  uint64_t dims = dim_mask(dim, self.dim());
  accumulate("mean", ReduceOp::Sum, out, self, dims, static_cast<double>(reduced_count(self, dims)));
}

void prod(Tensor& out, const Tensor& self, std::optional<int64_t> dim, bool, DType) { accumulate("prod", ReduceOp::Prod, out, self, dim_mask(dim, self.dim()), 1); }

void amax(Tensor& out, const Tensor& self, DimsRef dim, bool) { extreme("amax", ReduceOp::Max, out, self, dim_mask(std::optional<DimsRef>(dim), self.dim())); }
void amin(Tensor& out, const Tensor& self, DimsRef dim, bool) { extreme("amin", ReduceOp::Min, out, self, dim_mask(std::optional<DimsRef>(dim), self.dim())); }
void max(Tensor& out, const Tensor& self) { extreme("max", ReduceOp::Max, out, self, dim_mask(std::optional<DimsRef>(), self.dim())); }
void min(Tensor& out, const Tensor& self) { extreme("min", ReduceOp::Min, out, self, dim_mask(std::optional<DimsRef>(), self.dim())); }

void max_dim(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim, bool) {
  extreme_with_position("max", ReduceOp::ArgMax, values, indices, self, dim_mask(std::optional<int64_t>(dim), self.dim()));
}
void min_dim(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim, bool) {
  extreme_with_position("min", ReduceOp::ArgMin, values, indices, self, dim_mask(std::optional<int64_t>(dim), self.dim()));
}
void argmax(Tensor& out, const Tensor& self, std::optional<int64_t> dim, bool) { position("argmax", ReduceOp::ArgMax, out, self, dim); }
void argmin(Tensor& out, const Tensor& self, std::optional<int64_t> dim, bool) { position("argmin", ReduceOp::ArgMin, out, self, dim); }

void any(Tensor& out, const Tensor& self, std::optional<DimsRef> dim, bool) { truth(ReduceOp::Max, out, self, dim); }
void all(Tensor& out, const Tensor& self, std::optional<DimsRef> dim, bool) { truth(ReduceOp::Min, out, self, dim); }

void logsumexp(Tensor& out, const Tensor& self, DimsRef dim, bool keepdim) {
  if (self.is_complex()) {
    Tensor largest = trine::amax(part_of(self, 0), dim, true);
    Tensor shift = trine::where(trine::isfinite(largest), largest, Scalar(0));
    Tensor sum = trine::sum(trine::exp(trine::sub(self, shift)), dim, true, DType::Undefined), result = trine::add(trine::log(sum), shift);
    convert_copy(out, keepdim ? result : trine::reshape(result, out.sizes()));
    return;
  }
  Reduction r{&reduce_loop("logsumexp", ReduceOp::LogSumExp, compute_type(out.dtype())), dim_mask(std::optional<DimsRef>(dim), self.dim())};
  reduce(r, out, nullptr, self);
}

void var(Tensor& out, const Tensor& self, std::optional<DimsRef> dim, const std::optional<Scalar>& correction, bool) { moments("var", out, nullptr, self, dim, correction, false); }
void std(Tensor& out, const Tensor& self, std::optional<DimsRef> dim, const std::optional<Scalar>& correction, bool) { moments("std", out, nullptr, self, dim, correction, true); }
void var_mean(Tensor& out, Tensor& mean, const Tensor& self, std::optional<DimsRef> dim, const std::optional<Scalar>& correction, bool) {
  moments("var_mean", out, &mean, self, dim, correction, false);
}
void std_mean(Tensor& out, Tensor& mean, const Tensor& self, std::optional<DimsRef> dim, const std::optional<Scalar>& correction, bool) {
  moments("std_mean", out, &mean, self, dim, correction, true);
}

void linalg_vector_norm(Tensor& out, const Tensor& x, const Scalar& ord, std::optional<DimsRef> dim, bool, DType) {
  Tensor self = x.is_complex() ? trine::abs(x) : x;
  double p = ord.to_double();
  ReduceOp op = p == 0 ? ReduceOp::Norm0 : p == 1 ? ReduceOp::Norm1 : p == 2 ? ReduceOp::Norm2 : std::isinf(p) ? (p > 0 ? ReduceOp::NormMax : ReduceOp::NormMin) : ReduceOp::NormP;
  Reduction r{&reduce_loop("linalg.vector_norm", op, compute_type(out.dtype())), dim_mask(dim, x.dim()), {p, 0}};
  reduce(r, out, nullptr, self);
}

}  // namespace trine::cpu
