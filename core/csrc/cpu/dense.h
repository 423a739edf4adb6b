// Tensors brought into the plain layout that the heavy kernels read and write.
#pragma once
#include <cstring>

#include "cpu/pointwise.h"
#include "tensor/tensor.h"

namespace trine::cpu {

inline Tensor plain(const Tensor& t, MemoryFormat format = MemoryFormat::Contiguous) {
  if (t.is_contiguous(format)) return t;
  Tensor dense = empty(t.sizes(), t.dtype(), t.device(), format);
  convert_copy(dense, t);
  return dense;
}

inline Tensor converted(const Tensor& t, DType dtype, MemoryFormat format = MemoryFormat::Contiguous) {
  if (t.dtype() == dtype) return plain(t, format);
  Tensor dense = empty(t.sizes(), dtype, t.device(), format);
  convert_copy(dense, t);
  return dense;
}

// Makes a dense tensor's elements zero; one without elements may have no memory.
inline void zero_fill(const Tensor& dense) {
  if (dense.numel()) std::memset(dense.data(), 0, static_cast<size_t>(dense.numel()) * static_cast<size_t>(dense.itemsize()));
}

// Memory of an output in the wanted dtype and format: the output itself when it fits, otherwise a temporary that finish() copies back.
class DenseOutput {
 public:
  DenseOutput(const Tensor& out, DType dtype, MemoryFormat format = MemoryFormat::Contiguous)
      : out_(out), dense_(out.dtype() == dtype && out.is_contiguous(format) ? out : empty(out.sizes(), dtype, out.device(), format)) {}
  explicit DenseOutput(const Tensor& out) : DenseOutput(out, out.dtype()) {}
  const Tensor& tensor() const { return dense_; }
  template <class T> T* data() const { return dense_.data<T>(); }
  void finish() const {
    if (!dense_.is_same(out_)) convert_copy(out_, dense_);
  }

 private:
  const Tensor& out_;
  Tensor dense_;
};

}  // namespace trine::cpu
