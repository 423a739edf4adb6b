#include "base/build.h"

#include "trine_build.h"

namespace trine {

const char* version() { return TRINE_VERSION; }
const char* build_stamp() { return TRINE_BUILD_STAMP; }

}  // namespace trine
