#include "cpu/stream.h"

namespace trine::cpu {

TRINE_ISA_TABLE(stream_copy);
TRINE_ISA_TABLE(stream_fence);

}  // namespace trine::cpu
