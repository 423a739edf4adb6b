// Dispatch keys: which implementation of an operator a call reaches. A key that no argument carries and no mode turned on costs nothing.
#pragma once
#include <bit>
#include <cstdint>

#include "base/device.h"

namespace trine {

// The highest key present wins. Backends come first, in the order of DeviceType. Conjugate and Negative mark views whose elements are the
// conjugates, or the negatives, of what lies in memory: below Autograd, an operator that does not know of them is given copies (dispatch/lazy.h).
// Batched tensors (batching/batched.h) are taken apart below Autograd too: a graph holds them whole.
enum class Key : uint8_t { CPU, Meta, CUDA, PrivateUse, Conjugate, Negative, Batched, Autograd, Autocast, Trace, Profile, Debug, Count };
constexpr int kNumKeys = static_cast<int>(Key::Count);
constexpr int kNumBackends = 4;

struct KeySet {
  uint32_t bits = 0;
  constexpr KeySet() = default;
  constexpr KeySet(Key k) : bits(1u << static_cast<int>(k)) {}
  constexpr explicit KeySet(uint32_t b) : bits(b) {}
  friend constexpr KeySet operator|(KeySet a, KeySet b) { return KeySet(a.bits | b.bits); }
  friend constexpr KeySet operator&(KeySet a, KeySet b) { return KeySet(a.bits & b.bits); }
  friend constexpr KeySet operator-(KeySet a, KeySet b) { return KeySet(a.bits & ~b.bits); }
  constexpr bool has(Key k) const { return bits >> static_cast<int>(k) & 1; }
  constexpr Key top() const { return bits ? static_cast<Key>(31 - std::countl_zero(bits)) : Key::CPU; }
};
constexpr KeySet kLazyKeys = KeySet(Key::Conjugate) | KeySet(Key::Negative);
constexpr KeySet backend_key(DeviceType t) { return KeySet(static_cast<Key>(t)); }

// Modes of this thread: added to, and removed from, the keys of the arguments.
struct KeyModes {
  KeySet included, excluded;
};
extern thread_local KeyModes key_modes;

class ExcludeKeys {
 public:
  explicit ExcludeKeys(KeySet k) : saved_(key_modes.excluded) { key_modes.excluded = saved_ | k; }
  ~ExcludeKeys() { key_modes.excluded = saved_; }
  ExcludeKeys(const ExcludeKeys&) = delete;

 private:
  KeySet saved_;
};
// Code inside runs below autograd: nothing is recorded, and what autocast had to cast is cast.
struct BelowAutograd : ExcludeKeys {
  BelowAutograd() : ExcludeKeys(KeySet(Key::Autograd) | Key::Autocast) {}
};

}  // namespace trine
