// Bytes that tensors look at: owned, shared between processes, mapped from a file, or borrowed from somebody else.
#pragma once
#include <cstddef>

#include "base/allocator.h"
#include "base/device.h"
#include "base/intrusive.h"

namespace trine {

class Storage final : public RefCounted, public Pooled {
 public:
  using Deleter = void (*)(void* context);

  static Ptr<Storage> allocate(size_t nbytes, Device device = {});
  // Borrowed or mapped memory: `deleter(context)` runs when the last tensor is gone.
  static Ptr<Storage> borrow(void* data, size_t nbytes, Device device, Deleter deleter, void* context);

  char* data() const { return static_cast<char*>(data_); }
  size_t nbytes() const { return nbytes_; }
  Device device() const { return device_; }
  bool resizable() const { return owned_; }
  void resize(size_t nbytes);  // keeps the first bytes
  // The version counts in-place writes; saved tensors compare it before a backward pass uses them.
  uint32_t version() const { return version_; }
  void bump_version() { version_++; }
  void swap_contents(Storage& other);
  // Storage handles of Python refer to this object.
  void* python_object = nullptr;

  void destroy();

 private:
  void* data_ = nullptr;
  size_t nbytes_ = 0;
  Device device_;
  bool owned_ = true;
  uint32_t version_ = 0;
  Deleter deleter_ = nullptr;
  void* context_ = nullptr;
};

// How memory of a device is obtained; out-of-tree devices register theirs.
struct DeviceMemory {
  void* (*allocate)(size_t nbytes);
  void (*free)(void* p, size_t nbytes);
};
void register_device_memory(DeviceType type, DeviceMemory memory);

}  // namespace trine
