// Where a tensor lives.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace trine {

enum class DeviceType : uint8_t { CPU, Meta, CUDA, PrivateUse, Count };

struct Device {
  DeviceType type = DeviceType::CPU;
  int8_t index = -1;  // -1: the current one
  friend bool operator==(const Device&, const Device&) = default;
};

std::string str_of(Device d);  // "cpu", "cuda:0"
inline void append_str(std::string& out, Device d) { out += str_of(d); }
Device parse_device(std::string_view text);            // throws Error(Runtime) for unknown names
void register_private_device(const std::string& name);  // names DeviceType::PrivateUse ("mydevice")
const std::string& device_type_name(DeviceType t);

}  // namespace trine
