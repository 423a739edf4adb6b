# libtrine.so: everything that knows tensors. trine/_C: everything that knows Python.

set(csrc "${CMAKE_SOURCE_DIR}/core/csrc")
file(GLOB_RECURSE core_sources CONFIGURE_DEPENDS "${csrc}/*.cpp")
file(GLOB kernel_sources CONFIGURE_DEPENDS "${csrc}/cpu/kernels/*.cpp")
file(GLOB binding_sources CONFIGURE_DEPENDS "${csrc}/bindings/*.cpp")
list(REMOVE_ITEM core_sources "" ${kernel_sources} ${binding_sources})

add_library(trine_headers INTERFACE)
target_include_directories(trine_headers INTERFACE "${csrc}" "${csrc}/include" "${TRINE_GENERATED}")
target_link_libraries(trine_headers INTERFACE Threads::Threads)
if(TRINE_HAVE_DNNL)
  target_include_directories(trine_headers SYSTEM INTERFACE
    $<TARGET_PROPERTY:onednn,INTERFACE_INCLUDE_DIRECTORIES>)
endif()

add_library(trine SHARED ${core_sources} ${TRINE_GENERATED_SOURCES})
target_compile_options(trine PRIVATE ${TRINE_CORE_FLAGS})
target_link_libraries(trine PUBLIC trine_headers PRIVATE openblas gomp)
if(TRINE_HAVE_DNNL)
  target_link_libraries(trine PRIVATE onednn)
endif()
add_dependencies(trine trine_codegen)

# The instruction sets are linked in rising order, after everything else. Of an inline function that several
# objects emit the linker keeps the first copy, so nothing outside a kernel can end up with a copy that needs
# instructions its caller did not ask for.
set(index 0)
foreach(isa ${TRINE_ALL_INSTRUCTION_SETS})
  if(isa IN_LIST TRINE_INSTRUCTION_SETS AND (kernel_sources OR TRINE_GENERATED_KERNELS))
    add_library(kernels_${isa} OBJECT ${kernel_sources} ${TRINE_GENERATED_KERNELS})
    target_compile_options(kernels_${isa} PRIVATE ${TRINE_KERNEL_FLAGS} ${TRINE_FLAGS_${isa}})
    target_compile_definitions(kernels_${isa} PRIVATE TRINE_ISA=${isa} TRINE_ISA_INDEX=${index})
    target_link_libraries(kernels_${isa} PRIVATE trine_headers openblas)
    add_dependencies(kernels_${isa} trine_codegen)
    target_sources(trine PRIVATE $<TARGET_OBJECTS:kernels_${isa}>)
  endif()
  math(EXPR index "${index} + 1")
endforeach()
set_target_properties(trine PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY "${TRINE_PACKAGE_DIR}"
  BUILD_RPATH_USE_ORIGIN ON BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/lib")

if(binding_sources OR TRINE_GENERATED_BINDINGS)
  Python_add_library(trine_C MODULE WITH_SOABI ${binding_sources} ${TRINE_GENERATED_BINDINGS})
  target_compile_options(trine_C PRIVATE ${TRINE_CORE_FLAGS})
  target_link_libraries(trine_C PRIVATE trine)
  add_dependencies(trine_C trine_codegen)
  set_target_properties(trine_C PROPERTIES
    OUTPUT_NAME _C
    LIBRARY_OUTPUT_DIRECTORY "${TRINE_PACKAGE_DIR}"
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
endif()
