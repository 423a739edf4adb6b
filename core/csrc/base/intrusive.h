// Reference counts inside the object, and the pointer that owns one count.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

namespace trine {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  // Takes a count only while somebody else still holds one: for weak back pointers.
  bool try_retain() const {
    uint32_t n = count_.load(std::memory_order_relaxed);
    while (n && !count_.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel)) {
    }
    return n != 0;
  }
  bool release_count() const { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  uint32_t use_count() const { return count_.load(std::memory_order_acquire); }

 private:
  mutable std::atomic<uint32_t> count_{1};
};

// T provides `void destroy()`, called when the last count goes.
template <class T> class Ptr {
 public:
  Ptr() = default;
  Ptr(std::nullptr_t) {}
  static Ptr adopt(T* p) {  // takes over one existing count
    Ptr r;
    r.p_ = p;
    return r;
  }
  static Ptr share(T* p) {
    if (p) p->retain();
    return adopt(p);
  }
  Ptr(const Ptr& o) : p_(o.p_) {
    if (p_) p_->retain();
  }
  Ptr(Ptr&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <class U> Ptr(Ptr<U> o) : p_(o.leak()) {}
  ~Ptr() { reset(); }
  Ptr& operator=(const Ptr& o) {
    Ptr(o).swap(*this);
    return *this;
  }
  Ptr& operator=(Ptr&& o) noexcept {
    Ptr(std::move(o)).swap(*this);
    return *this;
  }
  void swap(Ptr& o) { std::swap(p_, o.p_); }
  void reset() {
    if (T* p = std::exchange(p_, nullptr))
      if (p->release_count()) p->destroy();
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  T* leak() { return std::exchange(p_, nullptr); }
  friend bool operator==(const Ptr& a, const Ptr& b) { return a.p_ == b.p_; }

 private:
  T* p_ = nullptr;
};

}  // namespace trine
