// Batched tensors: what vmap lets a function see instead of a batch. The function sees the shape of one element; the memory holds all.
//
// A level is one vmap in progress (or a past one, whose graph still holds such tensors). The value of a batched tensor has a dimension for
// each of its levels, in ascending order, in front of the dimensions that the function sees.
#pragma once
#include <vector>

#include "tensor/tensor.h"

namespace trine {

struct BatchInfo {
  Tensor value;
  Dims levels;
};

namespace batching {

inline bool is_batched(const Tensor& t) { return t.defined() && t.impl()->batch; }
// The levels of a tensor, none for an ordinary one.
inline DimsRef levels(const Tensor& t) { return is_batched(t) ? DimsRef(t.impl()->batch->levels) : DimsRef(); }
bool has_level(const Tensor& t, int64_t level);
// All elements: of [levels..., what the function sees]; an ordinary tensor itself.
inline const Tensor& value(const Tensor& t) { return is_batched(t) ? t.impl()->batch->value : t; }

// A tensor that shows the dimensions of `value` behind the levels. With no levels, `value` itself.
Tensor make(const Tensor& value, DimsRef levels);
// The value with a dimension for each of `wanted` (ascending, among them the tensor's own): of size 1 where the tensor does not have it.
Tensor with_levels(const Tensor& t, DimsRef wanted);
// The size of a level, as one of the tensors knows it.
int64_t level_size(const Tensor& t, int64_t level);
// Same levels as `like` at least: the missing ones by expansion.
Tensor expand_levels(const Tensor& t, const Tensor& like);
// Zeros of the dtype, device and levels of `like`, which a part of it can be written into.
Tensor zeros_for(const Tensor& like, DimsRef sizes);
// The gradient `g` of a result that had `from` levels for an input that has `to` levels: what every element of the other levels contributes.
Tensor sum_other_levels(const Tensor& g, DimsRef from, DimsRef to);

// In and out of a level: the dimension `dim` of what the function sees is hidden behind it, or shown again.
Tensor add_batch_dim(const Tensor& t, int64_t dim, int64_t level);
Tensor remove_batch_dim(const Tensor& t, int64_t level, int64_t dim);

// What random operators do under vmap.
enum class Randomness : uint8_t { Error, Different, Same };
// A vmap in progress on this thread.
struct Region {
  int64_t level, size;
  Randomness randomness;
};
const std::vector<Region>& regions();  // the outermost first
void enter(const Region& region);
void leave();
[[noreturn]] void refuse_random(const char* op);
Randomness randomness();  // of the innermost; Error outside
// Memory for numbers that a function draws for tensors of these sizes: `levels` in front of them where each element of a vmap gets its own.
struct Draw {
  Dims levels, sizes;
};
Draw draw(const char* op, DimsRef sizes);

}  // namespace batching
}  // namespace trine
