// Shapes, dtypes and layouts of joined and padded tensors.
#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

// Vectors without elements are joined with tensors of any shape, as they always were in PyTorch.
inline bool is_skipped(const Tensor& t) { return t.dim() == 1 && t.numel() == 0; }

inline TensorSpec cat_spec(TensorList tensors, int64_t dim) {
  TRINE_CHECK_VALUE(!tensors.empty(), "torch.cat(): expected a non-empty list of Tensors");
  Promotion promotion;
  const Tensor* first = nullptr;
  for (const Tensor& t : tensors) {
    promotion.add(t);
    if (!first && !is_skipped(t)) first = &t;
  }
  DType dtype = promotion.result();
  for (size_t i = 0; i < tensors.size(); i++) TRINE_CHECK(tensors[i].dim() > 0, "zero-dimensional tensor (at position ", i, ") cannot be concatenated");
  if (!first) return {Dims{0}, dtype};
  int64_t d = wrap_dim(dim, first->dim());
  Dims sizes(first->sizes());
  sizes[d] = 0;
  MemoryFormat format = first->suggest_memory_format();
  for (size_t i = 0; i < tensors.size(); i++) {
    const Tensor& t = tensors[i];
    if (is_skipped(t)) continue;
    TRINE_CHECK(t.dim() == first->dim(), "Tensors must have same number of dimensions: got ", first->dim(), " and ", t.dim(), " (shapes ", first->sizes(), " and ", t.sizes(), ")");
    for (int64_t k = 0; k < t.dim(); k++)
      TRINE_CHECK(k == d || t.sizes()[k] == sizes[k], "Sizes of tensors must match except in dimension ", d, ". Expected size ", sizes[k], " but got size ", t.sizes()[k], " for tensor number ", i,
                  " in the list.");
    sizes[d] += t.sizes()[d];
    if (t.suggest_memory_format() != format) format = MemoryFormat::Contiguous;
  }
  return {sizes, dtype, format};
}

inline TensorSpec pad_spec(const Tensor& self, DimsRef pad) {
  TRINE_CHECK(pad.size() % 2 == 0, "constant_pad_nd: Length of pad must be even but instead it equals ", pad.size());
  TRINE_CHECK(static_cast<int64_t>(pad.size()) <= 2 * self.dim(), "constant_pad_nd: Length of pad should be no more than twice the number of dimensions of the input. Pad length is ", pad.size(),
              " while the input has ", self.dim(), " dimensions.");
  Dims sizes(self.sizes());
  for (size_t i = 0; i < pad.size() / 2; i++) {
    int64_t& n = sizes[sizes.size() - 1 - i];
    int64_t padded = n + pad[2 * i] + pad[2 * i + 1];
    TRINE_CHECK(padded >= 0, "constant_pad_nd: The input size ", n, ", plus negative padding ", pad[2 * i], " and ", pad[2 * i + 1],
                " resulted in a negative output size, which is invalid. Check dimension ", sizes.size() - 1 - i, " of your input.");
    n = padded;
  }
  return {sizes, self.dtype(), self.suggest_memory_format()};
}

// Of a tensor with a channel dimension before the padded ones. Only batches may be empty.
inline TensorSpec pad_inside_spec(const Tensor& self, DimsRef pad, std::string_view mode) {
  Dims sizes(self.sizes());
  const size_t nd = sizes.size(), count = pad.size() / 2;
  for (size_t d = nd - count - 1; d < nd; d++)
    TRINE_CHECK(sizes[d] != 0, "pad: only the batch may be empty in mode '", mode, "', but the input has the shape ", self.sizes());
  for (size_t i = 0; i < count; i++) {
    int64_t& n = sizes[nd - 1 - i];
    const int64_t before = pad[2 * i], after = pad[2 * i + 1], padded = n + before + after, most = std::max(before, after);
    TRINE_CHECK(mode != "reflect" || most < n, "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding (", before, ", ", after, ") at dimension ",
                nd - 1 - i, " of input ", self.sizes());
    if (mode == "circular") {
      // The circle closes over what is left after cropping.
      const int64_t left = n + std::min<int64_t>(0, before) + std::min<int64_t>(0, after);
      TRINE_CHECK(most <= left && left >= 0, "Padding value causes wrapping around more than once.");
    } else {
      TRINE_CHECK(padded > 0, "pad: input ", self.sizes(), " with padding ", pad, " leaves nothing of dimension ", nd - 1 - i);
    }
    n = padded;
  }
  return {sizes, self.dtype()};
}

}  // namespace trine::rules
