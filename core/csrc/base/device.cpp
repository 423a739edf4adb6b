#include "base/device.h"

#include <charconv>

#include "base/error.h"

namespace trine {
namespace {
std::string& type_name(DeviceType t) {
  static std::string names[] = {"cpu", "meta", "cuda", "privateuseone"};
  return names[static_cast<int>(t)];
}
}  // namespace

const std::string& device_type_name(DeviceType t) { return type_name(t); }
void register_private_device(const std::string& name) { type_name(DeviceType::PrivateUse) = name; }

std::string str_of(Device d) {
  std::string out = type_name(d.type);
  if (d.index >= 0) out += ":" + std::to_string(d.index);
  return out;
}

Device parse_device(std::string_view text) {
  size_t colon = text.find(':');
  std::string_view kind = text.substr(0, colon);
  int index = -1;
  bool ok = true;
  if (colon != text.npos) {
    auto [end, err] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), index);
    ok = err == std::errc() && end == text.data() + text.size() && index >= 0 && index < 128;
  }
  for (int t = 0; ok && t < static_cast<int>(DeviceType::Count); t++)
    if (kind == type_name(static_cast<DeviceType>(t))) return {static_cast<DeviceType>(t), static_cast<int8_t>(index)};
  TRINE_CHECK(ok, "Invalid device string: '", text, "'");
  throw_error(ErrorKind::Runtime, str("Expected one of cpu, meta, cuda, ", type_name(DeviceType::PrivateUse), " device type at start of device string: ", text));
}

}  // namespace trine
