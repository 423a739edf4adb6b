#include "dispatch/operator.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

namespace trine {
namespace {

struct Registry {
  std::vector<const OperatorInfo*> list;
  std::unordered_map<std::string, const OperatorInfo*> by_name;
};
Registry& registry() {
  static Registry r;
  return r;
}
std::string key_name(std::string_view name, std::string_view overload) { return std::string(name) + "." + std::string(overload); }

ModeHandler handlers[kNumKeys] = {};

// TRINE_DEBUG=1: one line a call on stderr.
void print_call(const OperatorInfo& op, const Value* args, Value* results) {
  std::string line = op.name;
  line += '(';
  for (int i = 0; i < op.num_args; i++) {
    if (i) line += ", ";
    line += op.args[i].name;
    line += '=';
    const Value& v = args[i];
    switch (v.tag()) {
      case Tag::Tensor: line += str(v.tensor().dtype(), v.tensor().sizes()); break;
      case Tag::TensorList: line += str(v.tensors().size(), " tensors"); break;
      case Tag::Int: line += str(v.to_int()); break;
      case Tag::Bool: line += str(v.to_bool()); break;
      case Tag::Double: line += str(v.to_double()); break;
      case Tag::IntList: line += str(v.ints()); break;
      case Tag::DType: line += name(v.dtype()); break;
      case Tag::None: line += "None"; break;
      default: line += "..."; break;
    }
  }
  line += ")";
  std::fprintf(stderr, "trine: %s\n", line.c_str());
  ExcludeKeys below(Key::Debug);
  op.boxed(args, results);
}

}  // namespace

std::span<const OperatorInfo* const> all_operators() { return registry().list; }

void register_operators(std::span<const OperatorInfo* const> infos) {
  Registry& r = registry();
  for (const OperatorInfo* info : infos) {
    r.list.push_back(info);
    r.by_name[key_name(info->name, info->overload)] = info;
  }
}

const OperatorInfo* find_operator(std::string_view name, std::string_view overload) {
  auto it = registry().by_name.find(key_name(name, overload));
  return it == registry().by_name.end() ? nullptr : it->second;
}

void missing_kernel(const char* op, Key key) {
  std::string device = device_type_name(static_cast<DeviceType>(key));
  if (key == Key::CUDA) device += " (no CUDA kernels exist yet; docs/devices.md says what does)";
  throw_error(ErrorKind::NotImplemented, str(op, ": there is no kernel for the device ", device));
}

void set_mode_handler(Key key, ModeHandler handler) { handlers[static_cast<int>(key)] = handler; }
ModeHandler mode_handler(Key key) { return handlers[static_cast<int>(key)]; }

namespace {
const bool debug_requested = [] {
  set_mode_handler(Key::Debug, print_call);
  const char* level = std::getenv("TRINE_DEBUG");
  if (level && level[0] >= '1') key_modes.included = key_modes.included | Key::Debug;
  return true;
}();
}  // namespace

}  // namespace trine
