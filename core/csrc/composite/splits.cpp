// Splitting by number or by place, as NumPy does it.
#include "composite/helpers.h"
#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {

std::vector<Tensor> tensor_split_sections(const Tensor& self, int64_t sections, int64_t dim) {
  TRINE_CHECK(self.dim() > 0, "tensor_split: expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  TRINE_CHECK(sections > 0, "tensor_split: number of sections must be larger than 0, got ", sections);
  const int64_t n = self.size(dim), least = n / sections, longer = n % sections;
  std::vector<Tensor> out;
  for (int64_t i = 0, at = 0; i < sections; ++i) {
    const int64_t length = least + (i < longer);
    out.push_back(trine::narrow(self, dim, at, length));
    at += length;
  }
  return out;
}

std::vector<Tensor> tensor_split_indices(const Tensor& self, DimsRef indices, int64_t dim) {
  TRINE_CHECK(self.dim() > 0, "tensor_split: expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  std::vector<Tensor> out;
  int64_t begin = 0;
  for (int64_t end : indices) {
    out.push_back(trine::slice(self, dim, begin, end, 1));
    begin = end;
  }
  out.push_back(trine::slice(self, dim, begin, std::nullopt, 1));
  return out;
}

std::vector<Tensor> tensor_split_tensor(const Tensor& self, const Tensor& where, int64_t dim) {
  TRINE_CHECK(where.dtype() == DType::Int64 && where.dim() <= 1, "tensor_split: expected tensor_indices_or_sections to be a zero- or one-dimensional int64 tensor, got ", name(where.dtype()), " of shape ",
              where.sizes());
  Tensor numbers = trine::contiguous(where);
  if (where.dim() == 0) return tensor_split_sections(self, *numbers.data<int64_t>(), dim);
  return tensor_split_indices(self, DimsRef(numbers.data<int64_t>(), static_cast<size_t>(numbers.numel())), dim);
}

namespace {

// `least` is the number of dimensions the split needs; the dimension split is the last of those.
int64_t split_dim(const char* op, const Tensor& self, int64_t least) {
  TRINE_CHECK(self.dim() >= (least == 2 ? 2 : least), op, ": requires a tensor with at least ", least, " dimension", least == 1 ? "" : "s", ", but got a tensor with ", self.dim(), " dimensions!");
  return least == 1 ? (self.dim() == 1 ? 0 : 1) : least == 2 ? 0 : 2;
}

}  // namespace

std::vector<Tensor> nth_split_sections(const char* op, const Tensor& self, int64_t sections, int64_t least) {
  const int64_t dim = split_dim(op, self, least);
  TRINE_CHECK(sections > 0, op, ": number of sections must be larger than 0, got ", sections);
  TRINE_CHECK(self.size(dim) % sections == 0, op, ": attempted to split along dimension ", dim, ", but the size of the dimension ", self.size(dim), " is not divisible by the split_size ", sections, "!");
  return tensor_split_sections(self, sections, dim);
}

std::vector<Tensor> nth_split_indices(const char* op, const Tensor& self, DimsRef indices, int64_t least) { return tensor_split_indices(self, indices, split_dim(op, self, least)); }

}  // namespace trine::composite
