// Threads. One pool (OpenMP's) serves our kernels and oneDNN's, so they never compete for the cores.
#pragma once
#include <algorithm>
#include <cstdint>
#include <exception>
#include <type_traits>

namespace trine {

int num_threads();
// While it lives, libraries called from this thread compute in it alone.
class Alone {
 public:
  explicit Alone(bool alone);
  ~Alone();
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  int before_ = 0;  // 0: nothing was changed
};
void set_num_threads(int n);
bool in_parallel_region();

namespace detail {
using RangeFn = void (*)(void* ctx, int64_t begin, int64_t end);
void parallel_ranges(int64_t begin, int64_t end, int64_t grain, RangeFn fn, void* ctx);
}  // namespace detail

// Calls f(b, e) over disjoint ranges that cover [begin, end). Work of at most `grain` items stays on the calling thread.
// Which ranges come depends on the number of threads, so a result may never depend on the split. An exception of f reaches the caller.
template <class F> void parallel_for(int64_t begin, int64_t end, int64_t grain, F&& f) {
  if (begin >= end) return;
  if (end - begin <= grain || num_threads() == 1 || in_parallel_region()) {
    f(begin, end);
    return;
  }
  auto call = [](void* ctx, int64_t b, int64_t e) { (*static_cast<std::remove_reference_t<F>*>(ctx))(b, e); };
  detail::parallel_ranges(begin, end, grain, call, const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace trine
