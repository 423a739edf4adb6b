# What a wheel holds. An editable install holds one .pth file instead, which points at build/site: a path that
# type checkers and editors can follow.

add_custom_target(trine_site ALL
  COMMAND "${Python_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/cmake/link_site.py" "${CMAKE_SOURCE_DIR}" "${TRINE_SITE}"
  VERBATIM)

if(SKBUILD_STATE STREQUAL "editable")
  file(WRITE "${CMAKE_BINARY_DIR}/trine_editable.pth" "${TRINE_SITE}\n")
  install(FILES "${CMAKE_BINARY_DIR}/trine_editable.pth" DESTINATION . COMPONENT wheel)
  return()
endif()

set(python_files FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "*.xz")
set(not_in_package REGEX "/core/(csrc|ops|codegen)$" EXCLUDE REGEX "/(csrc|examples|__pycache__)$" EXCLUDE)
# The trailing slash copies what is in the folder, under the package's name.
install(DIRECTORY core/ DESTINATION trine COMPONENT wheel ${python_files} ${not_in_package})
if(EXISTS "${CMAKE_SOURCE_DIR}/vision")
  install(DIRECTORY vision/ DESTINATION trine/vision COMPONENT wheel ${python_files} ${not_in_package})
endif()

install(TARGETS trine DESTINATION trine COMPONENT wheel)
if(TARGET trine_C)
  install(TARGETS trine_C DESTINATION trine COMPONENT wheel)
endif()

# System codecs travel with the wheel; a development build uses them where they are.
set(codecs "")
foreach(library ${JPEG_LIBRARIES} ${PNG_LIBRARIES})
  if(library MATCHES "lib(jpeg|png)[^/]*\\.so")
    file(REAL_PATH "${library}" real)
    execute_process(COMMAND "${CMAKE_OBJDUMP}" -p "${real}" OUTPUT_VARIABLE header)
    if(header MATCHES "SONAME +([^\n ]+)")
      set(soname "${CMAKE_MATCH_1}")
      set(package libpng16-16)
      if(soname MATCHES "^libjpeg")
        set(package libjpeg62-turbo)
      endif()
      trine_bundle_library("${real}" "${soname}" "/usr/share/doc/${package}/copyright")
    endif()
  endif()
endforeach()
install(DIRECTORY "${TRINE_PACKAGE_DIR}/lib/" DESTINATION trine/lib COMPONENT wheel)
