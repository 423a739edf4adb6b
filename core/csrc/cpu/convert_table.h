// Where cpu/kernels/convert.cpp registers the conversions of each instruction set.
#pragma once
#include "cpu/convert.h"
#include "cpu/isa.h"

namespace trine::cpu {
struct ConvertTable {
  ConvertFn fn[kNumDTypes][kNumDTypes];  // [to][from]
};
extern ConvertTable convert_tables[kIsaLevels];
}  // namespace trine::cpu
