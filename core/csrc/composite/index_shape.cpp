// Rearranged copies made of views and joins.
#include "batching/batched.h"
#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {

Tensor roll(const Tensor& self, DimsRef shifts, DimsRef dims) {
  TRINE_CHECK(!shifts.empty(), "roll: `shifts` required");
  if (dims.empty() && shifts.size() == 1) return trine::view(trine::roll(trine::contiguous(trine::view(trine::contiguous(self), Dims{self.numel()})), shifts, Dims{0}), self.sizes());
  TRINE_CHECK(shifts.size() == dims.size(), "roll: shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  Tensor out = self;
  for (size_t i = 0; i < dims.size(); i++) {
    int64_t n = out.size(dims[i]);
    if (n == 0) continue;
    int64_t start = ((n - shifts[i]) % n + n) % n;
    const Tensor parts[] = {trine::narrow(out, dims[i], start, n - start), trine::narrow(out, dims[i], 0, start)};
    out = trine::cat(parts, dims[i]);
  }
  return out.is_same(self) ? trine::clone(self) : out;
}

Tensor rot90(const Tensor& self, int64_t k, DimsRef dims) {
  TRINE_CHECK(dims.size() == 2, "rot90: expected total rotation dims == 2, but got dims = ", dims.size());
  TRINE_CHECK(self.dim() >= 2, "rot90: expected total dims >= 2, but got total dims = ", self.dim());
  TRINE_CHECK(wrap_dim(dims[0], self.dim()) != wrap_dim(dims[1], self.dim()), "rot90: expected rotation dims to be different, but got dim0 = ", dims[0], " and dim1 = ", dims[1]);
  switch ((k % 4 + 4) % 4) {
    case 1: return trine::transpose(trine::flip(self, Dims{dims[1]}), dims[0], dims[1]);
    case 2: return trine::flip(self, dims);
    case 3: return trine::transpose(trine::flip(self, Dims{dims[0]}), dims[0], dims[1]);
    default: return trine::clone(self, MemoryFormat::Contiguous);
  }
}

Tensor repeat(const Tensor& self, DimsRef repeats) {
  TRINE_CHECK(static_cast<int64_t>(repeats.size()) >= self.dim(), "repeat: Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor (got ", repeats, " for shape ",
              self.sizes(), ")");
  size_t lead = repeats.size() - self.sizes().size();
  // Each dimension becomes (count, size), of which the count is expanded.
  Dims split, wide, sizes;
  for (size_t d = 0; d < repeats.size(); d++) {
    TRINE_CHECK(repeats[d] >= 0, "repeat: Trying to create tensor with negative dimension, got repeats ", repeats);
    int64_t n = d < lead ? 1 : self.sizes()[d - lead];
    split.push_back(1);
    split.push_back(n);
    wide.push_back(repeats[d]);
    wide.push_back(n);
    sizes.push_back(repeats[d] * n);
  }
  Tensor expanded = trine::expand(trine::reshape(self, split), wide);
  return trine::view(trine::clone(expanded, MemoryFormat::Contiguous), sizes);
}

Tensor tile(const Tensor& self, DimsRef dims) {
  Dims counts(dims);
  while (static_cast<int64_t>(counts.size()) < self.dim()) counts.insert(0, 1);
  return trine::repeat(self, counts);
}

Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) {
  TRINE_CHECK(repeats >= 0, "repeat_interleave: Repeats must be non-negative, got ", repeats);
  Tensor t = dim ? self : trine::reshape(self, Dims{-1});
  int64_t d = wrap_dim(dim.value_or(0), t.dim());
  if (t.dim() == 0) t = trine::unsqueeze(t, 0);
  TRINE_CHECK(!output_size || *output_size == t.sizes()[d] * repeats, "repeat_interleave: allocated size ", output_size.value_or(0), " does not match required size ", t.sizes()[d] * repeats);
  Tensor wide = trine::unsqueeze(t, d + 1);
  Dims sizes(wide.sizes());
  sizes[d + 1] = repeats;
  return trine::flatten(trine::clone(trine::expand(wide, sizes), MemoryFormat::Contiguous), d, d + 1);
}

Tensor repeat_interleave_each(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) {
  Tensor t = dim ? self : trine::reshape(self, Dims{-1});
  int64_t d = wrap_dim(dim.value_or(0), t.dim());
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.numel() == 1)) return trine::repeat_interleave(t, item(repeats).to_int(), d, output_size);
  TRINE_CHECK(repeats.dim() == 1 && repeats.numel() == t.size(d), "repeats must have the same size as input along dim, but got repeats.size(0) = ", repeats.numel(), " and input.size(", d,
              ") = ", t.size(d));
  return trine::index_select(t, d, trine::repeat_interleave(repeats, output_size));
}

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  int64_t nd = self.dim() + 1, a = wrap_dim(dim1, nd), b = wrap_dim(dim2, nd);
  TRINE_CHECK(a != b, "diag_embed: diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  int64_t n = self.size(-1) + std::abs(offset);
  Dims sizes(self.sizes());
  sizes.pop_back();
  sizes.insert(static_cast<size_t>(std::min(a, b)), n);
  sizes.insert(static_cast<size_t>(std::max(a, b)), n);
  Tensor out = batching::zeros_for(self, sizes);
  trine::copy_(trine::diagonal(out, offset, a, b), self);
  return out;
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  TRINE_CHECK(self.dim() == 1 || self.dim() == 2, "trine::diag(): Supports 1D or 2D tensors. Got ", self.dim(), "D");
  return self.dim() == 1 ? trine::diag_embed(self, diagonal, -2, -1) : trine::clone(trine::diagonal(self, diagonal, 0, 1), MemoryFormat::Contiguous);
}

}  // namespace trine::composite
