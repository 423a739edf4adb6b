# Compiler, flags, cache and linker. Everything here holds for every target of Trine.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# No -O here: each target names its own level, kernels differ from the rest.
set(CMAKE_CXX_FLAGS_RELEASE "-DNDEBUG")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the source tree are cached relative to it, so that a second clone hits the same entries.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_BASEDIR=${CMAKE_SOURCE_DIR};CCACHE_NOHASHDIR=1;${CCACHE_PROGRAM}")
endif()

find_program(MOLD_PROGRAM NAMES mold)
find_program(LLD_PROGRAM NAMES ld.lld)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
elseif(LLD_PROGRAM)
  add_link_options(-fuse-ld=lld)
endif()

string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" TRINE_PROCESSOR)
if(TRINE_PROCESSOR MATCHES "^(x86_64|amd64)$")
  set(TRINE_X86 ON)
  set(TRINE_BASELINE_FLAGS -march=x86-64-v2)
  set(TRINE_ALL_INSTRUCTION_SETS base avx2 avx512)
else()
  set(TRINE_X86 OFF)
  set(TRINE_BASELINE_FLAGS "")
  set(TRINE_ALL_INSTRUCTION_SETS base)
endif()
if(NOT TRINE_INSTRUCTION_SETS)
  set(TRINE_INSTRUCTION_SETS ${TRINE_ALL_INSTRUCTION_SETS})
endif()

set(TRINE_FLAGS_base ${TRINE_BASELINE_FLAGS})
set(TRINE_FLAGS_avx2 -march=x86-64-v3)
# gcc prefers 256-bit vectors for this level unless told otherwise; the kernels are wide enough for 512.
set(TRINE_FLAGS_avx512 -march=x86-64-v4 -mprefer-vector-width=512)

set(TRINE_COMMON_FLAGS
    -fno-math-errno -fno-trapping-math
    -Wall -Wextra
    "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND TRINE_COMMON_FLAGS -fno-semantic-interposition)
else()
  list(APPEND TRINE_COMMON_FLAGS -Wno-unknown-pragmas) # GCC ivdep
endif()
if(TRINE_WERROR)
  list(APPEND TRINE_COMMON_FLAGS -Werror)
endif()
if(TRINE_SANITIZE)
  list(APPEND TRINE_COMMON_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=undefined
       -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
endif()

# Thread-local state is read on every call: initial-exec makes that one instruction.
set(TRINE_CORE_FLAGS -O2 ${TRINE_BASELINE_FLAGS} ${TRINE_COMMON_FLAGS} -ftls-model=initial-exec)
set(TRINE_KERNEL_FLAGS -O3 ${TRINE_COMMON_FLAGS} -ffp-contract=fast -ftls-model=initial-exec)
