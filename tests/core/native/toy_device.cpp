// An out-of-tree device in one file: its memory is the host's with every byte inverted, so that a result that never went through the
// device's own kernels shows at once.
#include <cstdlib>
#include <cstring>

#include "trine/backend.h"

namespace {

using namespace trine;

void* allocate(size_t n) { return std::malloc(n); }
void release(void* p, size_t) { std::free(p); }

void invert(char* p, size_t n) {
  for (size_t i = 0; i < n; i++) p[i] = static_cast<char>(~p[i]);
}

// The tensor's elements as a dense host tensor.
Tensor fetch(const Tensor& t) {
  if (t.is_cpu()) return t;
  Tensor host = empty(Dims{static_cast<int64_t>(t.storage()->nbytes()) / t.itemsize()}, t.dtype());
  std::memcpy(host.data(), t.storage()->data(), t.storage()->nbytes());
  invert(host.data<char>(), t.storage()->nbytes());
  return make_view(host, t.sizes(), t.strides(), t.offset());
}

void store(const Tensor& device, const Tensor& host) {
  Tensor image = fetch(device);
  copy_(image, host);
  std::memcpy(device.storage()->data(), image.storage()->data(), device.storage()->nbytes());
  invert(device.storage()->data(), device.storage()->nbytes());
}

void pointwise_kernel(const PointwiseDef& def, const Tensor& out, const Tensor* const* in, const Scalar* scalars, DType) {
  Tensor host[kMaxPointwiseInputs];
  const Tensor* pointers[kMaxPointwiseInputs];
  for (int i = 0; i < def.num_inputs; i++) {
    host[i] = fetch(*in[i]);
    pointers[i] = &host[i];
  }
  store(out, pointwise(def, pointers, scalars));
}

void copy_kernel(const Tensor& self, const Tensor& src, bool) {
  if (self.is_cpu())
    copy_(self, fetch(src));
  else
    store(self, fetch(src));
}

void fill_kernel(const Tensor& self, const Scalar& value) { store(self, wrapped_number(value)); }

const bool registered = [] {
  register_private_device("toy");
  register_device_memory(DeviceType::PrivateUse, {allocate, release});
  register_pointwise_backend(DeviceType::PrivateUse, pointwise_kernel);
  register_kernel_copy_(DeviceType::PrivateUse, copy_kernel);
  register_kernel_fill__Scalar(DeviceType::PrivateUse, fill_kernel);
  register_kernel_clone(DeviceType::PrivateUse, [](Tensor& out, const Tensor& self, std::optional<MemoryFormat>) { copy_kernel(out, self, false); });
  return true;
}();

}  // namespace
