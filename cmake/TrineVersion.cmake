# Writes generated/trine_build.h. The stamp names one configured build: a domain extension that was compiled
# against another libtrine is found out at import.

set(TRINE_GENERATED "${CMAKE_BINARY_DIR}/generated")

if(NOT TRINE_BUILD_STAMP)
  string(TIMESTAMP now "%Y%m%dT%H%M%S" UTC)
  string(RANDOM LENGTH 4 ALPHABET 0123456789abcdef suffix)
  set(TRINE_BUILD_STAMP "${now}-${suffix}" CACHE INTERNAL "names this build")
endif()

set(TRINE_ISA_DEFINITIONS "")
foreach(isa ${TRINE_INSTRUCTION_SETS})
  string(TOUPPER ${isa} upper)
  string(APPEND TRINE_ISA_DEFINITIONS "#define TRINE_HAVE_ISA_${upper} 1\n")
endforeach()

configure_file("${CMAKE_SOURCE_DIR}/cmake/trine_build.h.in" "${TRINE_GENERATED}/trine_build.h" @ONLY)
