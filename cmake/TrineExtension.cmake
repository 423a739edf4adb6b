# trine_add_extension(vision SOURCES a.cpp ... [LIBRARIES JPEG::JPEG ...])
# builds trine/vision/_C, an extension that links to libtrine and registers its operators there.
function(trine_add_extension domain)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  set(target trine_${domain}_C)
  set(package "${TRINE_PACKAGE_DIR}/${domain}")
  Python_add_library(${target} MODULE WITH_SOABI ${arg_SOURCES})
  target_compile_options(${target} PRIVATE ${TRINE_CORE_FLAGS})
  target_link_libraries(${target} PRIVATE trine ${arg_LIBRARIES})
  add_dependencies(${target} trine_codegen)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME _C
    LIBRARY_OUTPUT_DIRECTORY "${package}"
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/..;$ORIGIN/../lib")
  install(TARGETS ${target} DESTINATION trine/${domain} COMPONENT wheel)
endfunction()
