// A vector with room for N elements inside the object: shapes, strides, argument lists.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace trine {

template <class T, unsigned N> class SmallVector {
  static_assert(std::is_nothrow_move_constructible_v<T>);

 public:
  using value_type = T;
  SmallVector() = default;
  explicit SmallVector(size_t n, const T& v = T()) { resize(n, v); }
  SmallVector(std::initializer_list<T> l) { append(l.begin(), l.end()); }
  SmallVector(std::span<const T> s) { append(s.begin(), s.end()); }
  template <class It> SmallVector(It first, It last) { append(first, last); }
  SmallVector(const SmallVector& o) { append(o.begin(), o.end()); }
  SmallVector(SmallVector&& o) noexcept { steal(o); }
  ~SmallVector() {
    clear();
    release();
  }
  SmallVector& operator=(const SmallVector& o) {
    if (this != &o) {
      clear();
      append(o.begin(), o.end());
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& o) noexcept {
    if (this != &o) {
      clear();
      release();
      steal(o);
    }
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }

  void push_back(T v) {
    if (size_ == capacity_) grow(size_ + 1);
    new (data_ + size_) T(std::move(v));
    size_++;
  }
  template <class... A> T& emplace_back(A&&... a) {
    push_back(T(std::forward<A>(a)...));
    return back();
  }
  void pop_back() { data_[--size_].~T(); }
  template <class It> void append(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  void insert(size_t at, T v) {
    push_back(std::move(v));
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(size_t at) {
    std::move(begin() + at + 1, end(), begin() + at);
    pop_back();
  }
  void resize(size_t n, const T& v = T()) {
    while (size_ > n) pop_back();
    if (n > capacity_) grow(n);
    while (size_ < n) new (data_ + size_++) T(v);
  }
  void assign(std::span<const T> s) {
    clear();
    append(s.begin(), s.end());
  }
  void clear() {
    if constexpr (!std::is_trivially_destructible_v<T>)
      for (size_t i = 0; i < size_; i++) data_[i].~T();
    size_ = 0;
  }
  operator std::span<const T>() const { return {data_, size_}; }
  friend bool operator==(const SmallVector& a, const SmallVector& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  T* inline_data() { return reinterpret_cast<T*>(storage_); }
  void grow(size_t need) {
    size_t cap = std::max<size_t>(need, 2 * capacity_);
    T* fresh = static_cast<T*>(std::malloc(cap * sizeof(T)));
    if (!fresh) throw std::bad_alloc();
    for (size_t i = 0; i < size_; i++) {
      new (fresh + i) T(std::move(data_[i]));
      data_[i].~T();
    }
    release();
    data_ = fresh;
    capacity_ = static_cast<uint32_t>(cap);
  }
  void release() {
    if (data_ != inline_data()) std::free(data_);
    data_ = inline_data();
    capacity_ = N;
  }
  void steal(SmallVector& o) {
    if (o.data_ != o.inline_data()) {
      data_ = o.data_;
      size_ = o.size_;
      capacity_ = o.capacity_;
      o.data_ = o.inline_data();
      o.capacity_ = N;
    } else {
      for (size_t i = 0; i < o.size_; i++) new (data_ + i) T(std::move(o.data_[i]));
      size_ = o.size_;
      o.clear();
    }
    o.size_ = 0;
  }

  T* data_ = reinterpret_cast<T*>(storage_);
  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  alignas(T) unsigned char storage_[N * sizeof(T)];
};

using Dims = SmallVector<int64_t, 5>;        // shapes, strides, lists of axes
using DimsRef = std::span<const int64_t>;    // borrowed

// A borrowed shape written in place: f(dims({2, 3})).
inline bool equal(DimsRef a, DimsRef b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

}  // namespace trine
