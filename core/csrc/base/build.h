// Which build this is, for libraries that are loaded beside it.
#pragma once

namespace trine {

const char* version();
const char* build_stamp();  // of libtrine itself, whatever the caller was compiled against

}  // namespace trine
