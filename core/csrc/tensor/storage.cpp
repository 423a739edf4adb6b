#include "tensor/storage.h"

#include <cstring>

#include "base/error.h"

namespace trine {
namespace {

DeviceMemory& memory_of(DeviceType type) {
  static DeviceMemory table[static_cast<int>(DeviceType::Count)] = {{cpu_allocate, cpu_free}};
  return table[static_cast<int>(type)];
}

void* allocate_on(Device device, size_t nbytes) {
  if (device.type == DeviceType::CPU) return cpu_allocate(nbytes);
  if (device.type == DeviceType::Meta || nbytes == 0) return nullptr;
  auto* fn = memory_of(device.type).allocate;
  TRINE_CHECK(fn, "Trine is not built with support for the device '", device,
              "'. CUDA kernels are not part of Trine yet; a CUDA build of a later version will need nvcc 13. docs/devices.md says what exists.");
  return fn(nbytes);
}

void free_on(Device device, void* p, size_t nbytes) {
  if (device.type == DeviceType::CPU) return cpu_free(p, nbytes);
  if (p) memory_of(device.type).free(p, nbytes);
}

}  // namespace

void register_device_memory(DeviceType type, DeviceMemory memory) { memory_of(type) = memory; }

Ptr<Storage> Storage::allocate(size_t nbytes, Device device) {
  auto s = Ptr<Storage>::adopt(new Storage);
  s->device_ = device;
  s->data_ = allocate_on(device, nbytes);
  s->nbytes_ = nbytes;
  return s;
}

Ptr<Storage> Storage::borrow(void* data, size_t nbytes, Device device, Deleter deleter, void* context) {
  auto s = Ptr<Storage>::adopt(new Storage);
  s->data_ = data;
  s->nbytes_ = nbytes;
  s->device_ = device;
  s->owned_ = false;
  s->deleter_ = deleter;
  s->context_ = context;
  return s;
}

void Storage::resize(size_t nbytes) {
  TRINE_CHECK(owned_, "resize_: the storage of ", nbytes_, " bytes is borrowed or mapped and cannot be resized to ", nbytes, " bytes");
  void* fresh = allocate_on(device_, nbytes);
  if (device_.type == DeviceType::CPU && data_ && fresh) std::memcpy(fresh, data_, nbytes < nbytes_ ? nbytes : nbytes_);
  free_on(device_, data_, nbytes_);
  data_ = fresh;
  nbytes_ = nbytes;
}

void Storage::swap_contents(Storage& o) {
  std::swap(data_, o.data_);
  std::swap(nbytes_, o.nbytes_);
  std::swap(owned_, o.owned_);
  std::swap(deleter_, o.deleter_);
  std::swap(context_, o.context_);
}

void Storage::destroy() {
  if (owned_)
    free_on(device_, data_, nbytes_);
  else if (deleter_)
    deleter_(context_);
  delete this;
}

}  // namespace trine
