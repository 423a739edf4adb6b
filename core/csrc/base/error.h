// Exceptions and checks. Python sees them as RuntimeError, TypeError, ValueError, IndexError, ...
#pragma once
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include "base/dtype.h"

namespace trine {

enum class ErrorKind : uint8_t { Runtime, Type, Value, Index, NotImplemented, OutOfMemory, Buffer, LinAlg, Python };

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }

 private:
  ErrorKind kind_;
  std::string message_;
};

// Text of a value for messages; overload `append_str` for other types.
void append_str(std::string& out, long long v);
void append_str(std::string& out, unsigned long long v);
void append_str(std::string& out, double v);
void append_str(std::string& out, std::span<const int64_t> v);  // [2, 3]
inline void append_str(std::string& out, std::string_view v) { out.append(v); }
inline void append_str(std::string& out, const char* v) { out.append(v); }
inline void append_str(std::string& out, const std::string& v) { out.append(v); }
inline void append_str(std::string& out, char v) { out.push_back(v); }
inline void append_str(std::string& out, bool v) { out.append(v ? "True" : "False"); }
inline void append_str(std::string& out, DType t) { out.append(name(t)); }
inline void append_str(std::string& out, int v) { append_str(out, static_cast<long long>(v)); }
inline void append_str(std::string& out, long v) { append_str(out, static_cast<long long>(v)); }
inline void append_str(std::string& out, unsigned v) { append_str(out, static_cast<unsigned long long>(v)); }
inline void append_str(std::string& out, unsigned long v) { append_str(out, static_cast<unsigned long long>(v)); }
inline void append_str(std::string& out, float v) { append_str(out, static_cast<double>(v)); }

template <class... Args> std::string str(const Args&... args) {
  std::string out;
  (append_str(out, args), ...);
  return out;
}

[[noreturn]] void throw_error(ErrorKind kind, std::string message);

#define TRINE_CHECK_KIND_(KIND, COND, ...) \
  do { \
    if (__builtin_expect(!(COND), 0)) ::trine::throw_error(::trine::ErrorKind::KIND, ::trine::str(__VA_ARGS__)); \
  } while (0)
#define TRINE_CHECK(COND, ...) TRINE_CHECK_KIND_(Runtime, COND, __VA_ARGS__)
#define TRINE_CHECK_TYPE(COND, ...) TRINE_CHECK_KIND_(Type, COND, __VA_ARGS__)
#define TRINE_CHECK_VALUE(COND, ...) TRINE_CHECK_KIND_(Value, COND, __VA_ARGS__)
#define TRINE_CHECK_INDEX(COND, ...) TRINE_CHECK_KIND_(Index, COND, __VA_ARGS__)
#define TRINE_CHECK_IMPLEMENTED(COND, ...) TRINE_CHECK_KIND_(NotImplemented, COND, __VA_ARGS__)

void warn(const std::string& message);
using WarningHandler = void (*)(const std::string&);
void set_warning_handler(WarningHandler handler);

}  // namespace trine
