// The form in which most operators are written: a rule that says shape and dtype of the results, and a kernel that fills them.
// From the two come the functional, in-place, out= and meta variants.
#pragma once
#include <array>
#include <optional>

#include "dispatch/operator.h"
#include "tensor/promotion.h"

namespace trine {

struct TensorSpec {
  Dims sizes;
  DType dtype = DType::Undefined;
  MemoryFormat format = MemoryFormat::Contiguous;
  std::optional<Dims> strides;  // wins over format
  TensorSpec() = default;
  TensorSpec(DimsRef s, DType t, MemoryFormat f = MemoryFormat::Contiguous) : sizes(s), dtype(t), format(f) {}
  TensorSpec(const Dims& s, DType t, MemoryFormat f = MemoryFormat::Contiguous) : sizes(s), dtype(t), format(f) {}
};

Tensor allocate(const TensorSpec& spec, Device device);
// The device the result goes to; throws when tensors (0-dim CPU tensors excepted) live on different ones.
Device common_device(const char* op, std::initializer_list<const Tensor*> tensors);
Device common_device(const char* op, TensorList tensors);

// out=: resizes `out`, checks that the result's dtype can be stored, and gives the tensor the kernel shall write: `out` itself, or a
// temporary when the dtype differs or when out's memory meets an input's; finish() copies the temporary back.
class OutTarget {
 public:
  OutTarget(const char* op, const Tensor& out, const TensorSpec& spec, std::initializer_list<const Tensor*> inputs, bool in_place = false);
  Tensor& target() { return temporary_.defined() ? temporary_ : out_; }
  void finish();

 private:
  Tensor out_, temporary_;
};

void check_writable(const char* op, const Tensor& t);  // refuses expanded tensors and read-only memory
// Refuses an argument that shares memory with the tensor an operator changes.
void check_no_overlap(const char* op, const Tensor& written, const Tensor& read);
void check_no_overlap(const char* op, const Tensor& written, TensorList read);

}  // namespace trine
