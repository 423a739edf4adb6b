// Shapes of indexing results, and checks of indices' types and shapes. Their values are checked by the kernels.
#pragma once
#include "dispatch/structured.h"
#include "rules/basic.h"

namespace trine::rules {

inline void check_index_dtype(const char* op, const Tensor& index) {
  TRINE_CHECK(index.dtype() == DType::Int64 || index.dtype() == DType::Int32, op, "(): Expected dtype int32/int64 for index, got ", name(index.dtype()));
}
inline void check_same_dtype(const char* op, const char* what, const Tensor& self, const Tensor& src) {
  TRINE_CHECK(self.dtype() == src.dtype(), op, "(): Expected self.dtype to be equal to ", what, ".dtype, got ", name(self.dtype()), " and ", name(src.dtype()));
}

// Where advanced indexing puts the broadcast shape of its index tensors.
struct IndexShape {
  Dims broadcast;          // of the index tensors
  Dims indexed, others;    // dimensions of self
  bool adjacent = true;    // else the broadcast shape comes first
  Dims sizes;              // of the result
};
inline IndexShape index_shape(const Tensor& self, TensorList indices) {
  IndexShape s;
  TRINE_CHECK_INDEX(static_cast<int64_t>(indices.size()) <= self.dim(), "too many indices for tensor of dimension ", self.dim());
  bool first = true;
  for (size_t d = 0; d < static_cast<size_t>(self.dim()); d++) {
    if (d >= indices.size() || !indices[d].defined()) {
      s.others.push_back(static_cast<int64_t>(d));
      continue;
    }
    TRINE_CHECK_INDEX(is_integral(indices[d].dtype(), false), "tensors used as indices must be long, int, byte or bool tensors, got ", name(indices[d].dtype()));
    if (!s.indexed.empty() && s.indexed.back() != static_cast<int64_t>(d) - 1) s.adjacent = false;
    s.indexed.push_back(static_cast<int64_t>(d));
    if (first) s.broadcast = Dims(indices[d].sizes());
    first = false;
    if (equal(s.broadcast, indices[d].sizes())) continue;
    Dims a = s.broadcast;
    try {
      s.broadcast = broadcast_shapes(a, indices[d].sizes(), "index");
    } catch (const Error&) {
      std::string shapes;
      for (const Tensor& t : indices)
        if (t.defined()) shapes += (shapes.empty() ? "" : ", ") + str(t.sizes());
      throw_error(ErrorKind::Index, "shape mismatch: indexing tensors could not be broadcast together with shapes " + shapes);
    }
  }
  size_t lead = s.adjacent && !s.indexed.empty() ? static_cast<size_t>(s.indexed[0]) : 0;
  for (size_t i = 0; i < lead; i++) s.sizes.push_back(self.sizes()[s.others[i]]);
  if (!s.indexed.empty()) s.sizes.append(s.broadcast.begin(), s.broadcast.end());
  for (size_t i = lead; i < s.others.size(); i++) s.sizes.push_back(self.sizes()[s.others[i]]);
  return s;
}
inline TensorSpec index_spec(const Tensor& self, TensorList indices) { return {index_shape(self, indices).sizes, self.dtype()}; }

inline void check_index_put(const Tensor& self, TensorList indices, const Tensor& values) {
  TRINE_CHECK(self.dtype() == values.dtype(), "Index put requires the source and destination dtypes match, got ", legacy_name(self.dtype()), " for the destination and ",
              legacy_name(values.dtype()), " for the source.");
  IndexShape s = index_shape(self, indices);
  DimsRef have = values.sizes();
  size_t extra = have.size() > s.sizes.size() ? have.size() - s.sizes.size() : 0;
  bool fits = true;
  for (size_t i = 0; i < have.size(); i++) {
    int64_t want = i < extra ? 1 : s.sizes[s.sizes.size() - have.size() + i];
    fits &= have[i] == want || have[i] == 1;
  }
  TRINE_CHECK(fits, "shape mismatch: value tensor of shape ", have, " cannot be broadcast to indexing result of shape ", s.sizes);
}

inline void check_line_shapes(const char* op, const Tensor& self, int64_t dim, const Tensor& index) {
  check_index_dtype(op, index);
  int64_t d = wrap_dim(dim, self.dim());
  if (index.numel() == 0) return;
  TRINE_CHECK(std::max<int64_t>(self.dim(), 1) == std::max<int64_t>(index.dim(), 1), op, "(): Index tensor must have the same number of dimensions as self tensor, got shapes ", index.sizes(),
              " and ", self.sizes());
  for (int64_t i = 0; i < index.dim() && i < self.dim(); i++)
    TRINE_CHECK(i == d || index.sizes()[i] <= self.sizes()[i], op, "(): Size does not match at dimension ", i, " expected index ", index.sizes(), " to be no larger than self ", self.sizes(),
                " apart from dimension ", d);
}
inline TensorSpec gather_spec(const Tensor& self, int64_t dim, const Tensor& index) {
  check_line_shapes("gather", self, dim, index);
  return {index.sizes(), self.dtype()};
}
inline void check_scatter(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_line_shapes(op, self, dim, index);
  if (!src.defined()) return;
  check_same_dtype(op, "src", self, src);
  if (index.numel() == 0) return;
  TRINE_CHECK(std::max<int64_t>(src.dim(), 1) == std::max<int64_t>(index.dim(), 1), op, "(): Index tensor must have the same number of dimensions as src tensor, got shapes ", index.sizes(),
              " and ", src.sizes());
  for (int64_t i = 0; i < index.dim() && i < src.dim(); i++)
    TRINE_CHECK(index.sizes()[i] <= src.sizes()[i], op, "(): Expected index ", index.sizes(), " to be no larger than src ", src.sizes());
}

inline void check_index_vector(const char* op, const Tensor& index) {
  TRINE_CHECK_INDEX(index.dim() <= 1, op, "(): Index is supposed to be a vector, got shape ", index.sizes());
  TRINE_CHECK(index.dtype() == DType::Int64 || index.dtype() == DType::Int32, op, "(): Expected dtype int32 or int64 for index, got ", name(index.dtype()));
}
inline TensorSpec index_select_spec(const Tensor& self, int64_t dim, const Tensor& index) {
  check_index_vector("index_select", index);
  int64_t d = wrap_dim(dim, self.dim());
  TensorSpec spec(self.sizes(), self.dtype());
  if (self.dim() > 0)
    spec.sizes[d] = index.numel();
  else
    TRINE_CHECK(index.numel() == 1, "index_select(): Index to scalar can have only 1 value, got ", index.numel(), " value(s)");
  return spec;
}
inline void check_index_update(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  check_index_vector(op, index);
  int64_t d = wrap_dim(dim, self.dim());
  if (!source.defined()) return;
  check_same_dtype(op, "source", self, source);
  if (self.dim() == 0 || source.dim() == 0) {
    TRINE_CHECK(source.numel() == index.numel(), op, "(): Number of indices (", index.numel(), ") should be equal to the number of source elements (", source.numel(), ")");
    return;
  }
  TRINE_CHECK(source.dim() == self.dim() && source.sizes()[d] == index.numel(), op, "(): Number of indices (", index.numel(), ") should be equal to source.size(dim), self ", self.sizes(),
              ", source ", source.sizes(), ", dim ", d);
  for (int64_t i = 0; i < self.dim(); i++)
    TRINE_CHECK(i == d || self.sizes()[i] == source.sizes()[i], op, "(): Source/destination tensor must have same slice shapes, got ", self.sizes(), " and ", source.sizes(), " at dim ", d);
}

inline void check_index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce) {
  TRINE_CHECK(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin", "index_reduce(): reduce has to be prod, mean, amax or amin, got ", reduce);
  TRINE_CHECK(self.dim() == source.dim(), "index_reduce(): self ", self.sizes(), " and source ", source.sizes(), " differ in their number of dimensions");
  check_index_update("index_reduce", self, dim, index, source);
}

inline TensorSpec take_spec(const Tensor& self, const Tensor& index) {
  TRINE_CHECK(index.dtype() == DType::Int64, "take(): Expected a long tensor for index, but got ", legacy_name(index.dtype()));
  TRINE_CHECK_INDEX(self.numel() > 0 || index.numel() == 0, "take(): tried to take from an empty tensor");
  return {index.sizes(), self.dtype()};
}
inline void check_put(const Tensor& self, const Tensor& index, const Tensor& source) {
  TRINE_CHECK(index.dtype() == DType::Int64, "put_(): Expected a long tensor for index, but got ", legacy_name(index.dtype()));
  check_same_dtype("put_", "source", self, source);
  TRINE_CHECK(index.numel() == source.numel(), "put_(): Expected source and index to have the same number of elements, but got source.numel() = ", source.numel(),
              ", index.numel() = ", index.numel());
}
inline void check_masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  TRINE_CHECK(self.dtype() == source.dtype(), "masked_scatter_: expected self and source to have same dtypes but got ", legacy_name(self.dtype()), " and ", legacy_name(source.dtype()));
  TRINE_CHECK(mask.dtype() == DType::Bool, "masked_scatter_ only supports boolean masks, but got mask with dtype ", legacy_name(mask.dtype()));
  broadcast_check("masked_scatter_", self.sizes(), mask.sizes());
}

inline TensorSpec flip_spec(const Tensor& self, DimsRef dims) {
  uint64_t seen = 0;
  for (int64_t d : dims) {
    int64_t i = wrap_dim(d, self.dim());
    TRINE_CHECK(!(seen >> i & 1), "dim ", i, " appears multiple times in the list of dims");
    seen |= uint64_t{1} << i;
  }
  return like(self);
}
inline TensorSpec triangle_spec(const char* op, const Tensor& self) {
  TRINE_CHECK(self.dim() >= 2, op, ": input tensor must have at least 2 dimensions, got shape ", self.sizes());
  return {self.sizes(), self.dtype()};
}

}  // namespace trine::rules
