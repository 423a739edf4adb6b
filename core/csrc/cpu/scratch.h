// Working memory of a kernel, from the caching allocator: cheap to take and to give back, 64-byte aligned.
#pragma once
#include <cstdint>

#include "base/allocator.h"

namespace trine::cpu {

template <class T> class Scratch {
 public:
  explicit Scratch(int64_t n) : bytes_(static_cast<size_t>(n > 0 ? n : 1) * sizeof(T)), data_(static_cast<T*>(cpu_allocate(bytes_))) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { cpu_free(data_, bytes_); }
  T* data() const { return data_; }
  T& operator[](int64_t i) const { return data_[i]; }

 private:
  size_t bytes_;
  T* data_;
};

}  // namespace trine::cpu
