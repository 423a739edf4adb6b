#include "batching/batched.h"

#include <algorithm>
#include <memory>

#include "trine/ops.h"

namespace trine {

void destroy_batch_info(BatchInfo* info) noexcept { delete info; }

namespace batching {

namespace {
// Behind a pointer: the static thread-local block is small, and shared by every library of the process.
thread_local std::unique_ptr<std::vector<Region>> in_progress;
}  // namespace

void refuse_random(const char* op) {
  throw_error(ErrorKind::Runtime, str("vmap: called random operation ", op,
                                      " while in randomness error mode. Please either use the 'same' or 'different' randomness flags on vmap or perform the randomness operation out of vmap"));
}

const std::vector<Region>& regions() {
  if (!in_progress) in_progress = std::make_unique<std::vector<Region>>();
  return *in_progress;
}
void enter(const Region& region) { regions(), in_progress->push_back(region); }
void leave() {
  if (in_progress && !in_progress->empty()) in_progress->pop_back();
}
Randomness randomness() { return in_progress && !in_progress->empty() ? in_progress->back().randomness : Randomness::Error; }

Draw draw(const char* op, DimsRef sizes) {
  Draw d;
  if (in_progress)
    for (const Region& r : *in_progress) {
      if (r.randomness == Randomness::Error) refuse_random(op);
      if (r.randomness == Randomness::Different) d.levels.push_back(r.level), d.sizes.push_back(r.size);
    }
  for (int64_t n : sizes) d.sizes.push_back(n);
  return d;
}

bool has_level(const Tensor& t, int64_t level) {
  for (int64_t l : levels(t))
    if (l == level) return true;
  return false;
}

Tensor make(const Tensor& value, DimsRef levels) {
  if (levels.empty()) return value;
  const size_t n = levels.size();
  Tensor t = make_view(value, value.sizes().subspan(n), value.strides().subspan(n), value.offset());
  t.impl()->batch = new BatchInfo{value, Dims(levels)};
  t.impl()->keys = t.impl()->keys | Key::Batched;
  return t;
}

Tensor with_levels(const Tensor& t, DimsRef wanted) {
  const DimsRef own = levels(t);
  Tensor v = value(t);
  if (own.size() == wanted.size()) return v;
  size_t at = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (at < own.size() && own[at] == wanted[i]) ++at;
    else v = unsqueeze(v, static_cast<int64_t>(i));
  }
  return v;
}

int64_t level_size(const Tensor& t, int64_t level) {
  const DimsRef own = levels(t);
  for (size_t i = 0; i < own.size(); ++i)
    if (own[i] == level) return value(t).sizes()[i];
  return -1;
}

namespace {
Dims merged(DimsRef a, DimsRef b) {
  Dims all;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i] < b[j])) all.push_back(a[i++]);
    else if (i == a.size() || b[j] < a[i]) all.push_back(b[j++]);
    else all.push_back(a[i++]), ++j;
  }
  return all;
}
}  // namespace

Tensor expand_levels(const Tensor& t, const Tensor& like) {
  const Dims all = merged(levels(t), levels(like));
  if (all.size() == levels(t).size()) return t;
  Tensor v = with_levels(t, all);
  Dims sizes(v.sizes());
  for (size_t i = 0; i < all.size(); ++i)
    if (const int64_t n = level_size(like, all[i]); n >= 0) sizes[i] = n;
  return make(expand(v, sizes), all);
}

Tensor zeros_for(const Tensor& like, DimsRef sizes) {
  Dims all;
  for (size_t i = 0; i < levels(like).size(); ++i) all.push_back(value(like).sizes()[i]);
  for (int64_t n : sizes) all.push_back(n);
  return make(zeros(all, like.dtype(), like.device()), levels(like));
}

Tensor add_batch_dim(const Tensor& t, int64_t dim, int64_t level) {
  const DimsRef own = levels(t);
  const int64_t n = static_cast<int64_t>(own.size()), at = std::lower_bound(own.begin(), own.end(), level) - own.begin(), d = wrap_dim(dim, t.dim(), false) + n;
  if (at < n && own[static_cast<size_t>(at)] == level) {
    // The tensor differs from element to element already: element i sees place i of its own.
    const Tensor v = movedim(diagonal(value(t), 0, at, d), Dims{-1}, Dims{at});
    return make(make_view(v, v.sizes(), v.strides(), v.offset()), own);
  }
  // A view of its own, so that nothing of the function's arguments is recorded twice.
  const Tensor v = movedim(value(t), Dims{d}, Dims{at});
  Dims all(own.first(static_cast<size_t>(at)));
  all.push_back(level);
  for (size_t i = static_cast<size_t>(at); i < own.size(); ++i) all.push_back(own[i]);
  return make(make_view(v, v.sizes(), v.strides(), v.offset()), all);
}

Tensor remove_batch_dim(const Tensor& t, int64_t level, int64_t dim) {
  const DimsRef own = levels(t);
  const auto found = std::find(own.begin(), own.end(), level);
  TRINE_CHECK(found != own.end(), "vmap: the tensor does not have the level ", level);
  Dims rest;
  for (int64_t l : own)
    if (l != level) rest.push_back(l);
  const int64_t to = wrap_dim(dim, t.dim() + 1, false) + static_cast<int64_t>(rest.size());
  const Tensor v = movedim(value(t), Dims{found - own.begin()}, Dims{to});
  return make(make_view(v, v.sizes(), v.strides(), v.offset()), rest);
}

Tensor sum_other_levels(const Tensor& g, DimsRef from, DimsRef to) {
  Dims summed, kept;
  const DimsRef own = levels(g);
  for (size_t i = 0; i < own.size(); ++i) {
    auto in = [&](DimsRef l) { return std::find(l.begin(), l.end(), own[i]) != l.end(); };
    if (in(from) && !in(to)) summed.push_back(static_cast<int64_t>(i));
    else kept.push_back(own[i]);
  }
  if (summed.empty()) return g;
  return make(sum(value(g), std::optional<DimsRef>(DimsRef(summed))), kept);
}

}  // namespace batching
}  // namespace trine
