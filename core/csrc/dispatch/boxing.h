// Optional arguments out of boxed values, for the generated boxed calls.
#pragma once
#include "dispatch/operator.h"

namespace trine {

inline std::optional<int64_t> opt_int(const Value& v) { return v.is_none() ? std::nullopt : std::optional(v.to_int()); }
inline std::optional<DimsRef> opt_ints(const Value& v) { return v.is_none() ? std::nullopt : std::optional(v.ints()); }
inline std::optional<double> opt_double(const Value& v) { return v.is_none() ? std::nullopt : std::optional(v.to_double()); }
inline std::optional<std::span<const double>> opt_doubles(const Value& v) { return v.is_none() ? std::nullopt : std::optional(v.doubles()); }
inline std::optional<bool> opt_bool(const Value& v) { return v.is_none() ? std::nullopt : std::optional(v.to_bool()); }
inline std::optional<Scalar> opt_scalar(const Value& v) { return v.is_none() ? std::nullopt : std::optional(v.scalar()); }
inline std::optional<std::string_view> opt_string(const Value& v) { return v.is_none() ? std::nullopt : std::optional(v.string()); }
inline std::optional<Device> opt_device(const Value& v) { return v.is_none() ? std::nullopt : std::optional(v.device()); }
inline std::optional<MemoryFormat> opt_format(const Value& v) { return v.is_none() ? std::nullopt : std::optional(v.memory_format()); }

// out= of operators that return fresh tensors: resize, check the dtype, copy.
void store_result(const char* op, const Tensor& out, const Tensor& value);

}  // namespace trine
