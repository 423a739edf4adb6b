#include "base/parallel.h"

#include <omp.h>
#include <pthread.h>

#include <atomic>
#include <mutex>

namespace trine {
namespace {

std::atomic<int> threads{0};

// libgomp's pool does not survive fork(): a child that opened a parallel region would wait for ever, so it computes alone.
void after_fork_in_child() {
  threads.store(1);
  omp_set_num_threads(1);
}

int initial_threads() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, after_fork_in_child); });
  int n = omp_get_max_threads();
  threads.store(n);
  return n;
}

}  // namespace

int num_threads() {
  int n = threads.load(std::memory_order_relaxed);
  return n ? n : initial_threads();
}

void set_num_threads(int n) {
  initial_threads();
  threads.store(std::max(n, 1));
  omp_set_num_threads(std::max(n, 1));
}

bool in_parallel_region() { return omp_in_parallel(); }

void detail::parallel_ranges(int64_t begin, int64_t end, int64_t grain, RangeFn fn, void* ctx) {
  int64_t parts = std::min<int64_t>(num_threads(), (end - begin + grain - 1) / std::max<int64_t>(grain, 1));
  int64_t step = (end - begin + parts - 1) / parts;
  std::exception_ptr failure;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
#pragma omp parallel num_threads(static_cast<int>(parts))
  {
    for (int64_t part = omp_get_thread_num(); part < parts; part += omp_get_num_threads()) {
      int64_t b = begin + part * step, e = std::min(end, b + step);
      try {
        if (b < e) fn(ctx, b, e);
      } catch (...) {
        if (!failed.test_and_set()) failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace trine
