# Operator tables -> C++ (see core/codegen). The generator leaves a file alone whose text did not change, and
# ninja then rebuilds nothing that depends on it: an edit of one entry costs the few files it appears in.

set(TRINE_GENERATOR "${CMAKE_SOURCE_DIR}/core/codegen/main.py")
file(GLOB TRINE_TABLES CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/core/ops/*.yaml")
file(GLOB TRINE_GENERATOR_SOURCES CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/core/codegen/*.py")

set(generate_command "${Python_EXECUTABLE}" "${TRINE_GENERATOR}"
    --ops "${CMAKE_SOURCE_DIR}/core/ops" --out "${TRINE_GENERATED}")
if(NOT EXISTS "${TRINE_GENERATOR}")
  add_custom_target(trine_codegen)
  return()
endif()
execute_process(COMMAND ${generate_command} --list-outputs
                OUTPUT_VARIABLE outputs OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" outputs "${outputs}")
# Which files there are may follow from what the tables say.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TRINE_TABLES} ${TRINE_GENERATOR_SOURCES})

set(TRINE_GENERATED_FILES "")
set(TRINE_GENERATED_KERNELS "")  # compiled once per instruction set
set(TRINE_GENERATED_BINDINGS "") # include Python.h
set(TRINE_GENERATED_SOURCES "")
foreach(output ${outputs})
  cmake_path(ABSOLUTE_PATH output BASE_DIRECTORY "${TRINE_GENERATED}" NORMALIZE)
  list(APPEND TRINE_GENERATED_FILES "${output}")
  if(output MATCHES "/kernels/[^/]*\\.cpp$")
    list(APPEND TRINE_GENERATED_KERNELS "${output}")
  elseif(output MATCHES "/bindings/[^/]*\\.cpp$")
    list(APPEND TRINE_GENERATED_BINDINGS "${output}")
  elseif(output MATCHES "\\.cpp$")
    list(APPEND TRINE_GENERATED_SOURCES "${output}")
  endif()
endforeach()

set(stamp "${TRINE_GENERATED}/codegen.stamp")
add_custom_command(
  OUTPUT "${stamp}"
  BYPRODUCTS ${TRINE_GENERATED_FILES}
  COMMAND ${generate_command}
  COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
  DEPENDS ${TRINE_TABLES} ${TRINE_GENERATOR_SOURCES}
  COMMENT "Generating operators from the tables"
  VERBATIM)
add_custom_target(trine_codegen DEPENDS "${stamp}")
set_source_files_properties(${TRINE_GENERATED_FILES} PROPERTIES GENERATED TRUE)
