#include "base/error.h"

#include <atomic>
#include <cstdio>

namespace trine {

void append_str(std::string& out, long long v) { out += std::to_string(v); }
void append_str(std::string& out, unsigned long long v) { out += std::to_string(v); }
void append_str(std::string& out, double v) {
  char buf[32];
  std::snprintf(buf, sizeof buf, "%g", v);
  out += buf;
}
void append_str(std::string& out, std::span<const int64_t> v) {
  out += '[';
  for (size_t i = 0; i < v.size(); i++) {
    if (i) out += ", ";
    out += std::to_string(v[i]);
  }
  out += ']';
}

void throw_error(ErrorKind kind, std::string message) { throw Error(kind, std::move(message)); }

namespace {
void warn_to_stderr(const std::string& message) { std::fprintf(stderr, "trine warning: %s\n", message.c_str()); }
std::atomic<WarningHandler> warning_handler{warn_to_stderr};
std::atomic<DType> default_dtype_{DType::Float};
}  // namespace

void warn(const std::string& message) { warning_handler.load()(message); }
void set_warning_handler(WarningHandler handler) { warning_handler = handler; }

const char* name(DType t) {
  switch (t) {
#define X(T, E, N) \
  case DType::E: return N;
    TRINE_FORALL_DTYPES(X)
#undef X
    default: return "undefined";
  }
}

const char* legacy_name(DType t) {
  static const char* const names[] = {"Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double", "ComplexFloat", "ComplexDouble"};
  return t < DType::Count ? names[static_cast<int>(t)] : "Undefined";
}

DType default_dtype() { return default_dtype_.load(std::memory_order_relaxed); }
void set_default_dtype(DType t) { default_dtype_.store(t, std::memory_order_relaxed); }

void unsupported_dtype(const char* op, DType t) {
  throw_error(ErrorKind::NotImplemented, str("\"", op, "\" not implemented for '", legacy_name(t), "'"));
}

}  // namespace trine
