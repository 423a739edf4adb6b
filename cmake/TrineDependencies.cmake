# Libraries Trine links to. Two of them come from PyPI packages and are therefore looked up through Python.
# Each shared library that a wheel must bring along is copied, stripped, to trine/lib.

find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(Threads REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)

# Copies LIBRARY to trine/lib under the name the loader asks for, and its licence beside it.
function(trine_bundle_library library soname licence)
  set(target "${TRINE_PACKAGE_DIR}/lib/${soname}")
  if(NOT EXISTS "${target}" OR "${library}" IS_NEWER_THAN "${target}")
    file(REAL_PATH "${library}" real)
    file(COPY_FILE "${real}" "${target}.new")
    if(CMAKE_STRIP)
      execute_process(COMMAND "${CMAKE_STRIP}" --strip-unneeded "${target}.new")
    endif()
    file(RENAME "${target}.new" "${target}") # a process that has the old file mapped keeps it
  endif()
  if(EXISTS "${licence}")
    configure_file("${licence}" "${TRINE_PACKAGE_DIR}/lib/licenses/${soname}.txt" COPYONLY)
  endif()
endfunction()

function(trine_ask_python result code)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "${code}"
                  OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${result} "${answer}" PARENT_SCOPE)
endfunction()

# Path of a file that a Python package brought, by the end of its name.
function(trine_package_file result package ending)
  trine_ask_python(path "import importlib.metadata as m
print(next(f.locate().resolve() for f in m.files('${package}') if str(f).endswith('${ending}')))")
  set(${result} "${path}" PARENT_SCOPE)
endfunction()

trine_ask_python(openblas_dirs
  "import scipy_openblas32 as o; print(o.get_include_dir(), o.get_lib_dir(), sep=';')")
if(NOT openblas_dirs)
  message(FATAL_ERROR "OpenBLAS not found: ${Python_EXECUTABLE} -m pip install scipy-openblas32")
endif()
list(GET openblas_dirs 0 openblas_include)
list(GET openblas_dirs 1 openblas_lib)
trine_package_file(openblas_licence scipy-openblas32 LICENSE.txt)
trine_bundle_library("${openblas_lib}/libscipy_openblas.so" libscipy_openblas.so "${openblas_licence}")
add_library(openblas SHARED IMPORTED GLOBAL)
set_target_properties(openblas PROPERTIES
  IMPORTED_LOCATION "${TRINE_PACKAGE_DIR}/lib/libscipy_openblas.so"
  INTERFACE_INCLUDE_DIRECTORIES "${openblas_include}"
  INTERFACE_COMPILE_DEFINITIONS "BLAS_SYMBOL_PREFIX=scipy_")

# The package exists for x86-64 only; elsewhere Trine's own kernels do the work.
set(TRINE_HAVE_DNNL 0)
if(TRINE_X86)
  # Found through the package's record: under pip's build isolation it is in no prefix that CMake searches.
  trine_package_file(dnnl_config onednn-devel-cpu-gomp dnnl-config.cmake)
  if(NOT dnnl_config)
    message(FATAL_ERROR "oneDNN not found: ${Python_EXECUTABLE} -m pip install onednn-devel-cpu-gomp==2023.2.0")
  endif()
  cmake_path(GET dnnl_config PARENT_PATH dnnl_cmake_dir)
  find_package(dnnl 3.2 REQUIRED CONFIG PATHS "${dnnl_cmake_dir}" NO_DEFAULT_PATH)
  get_target_property(dnnl_location DNNL::dnnl IMPORTED_LOCATION_RELEASE)
  trine_package_file(dnnl_licence onednn-cpu-gomp LICENSE.txt)
  trine_bundle_library("${dnnl_location}" libdnnl.so.3 "${dnnl_licence}")
  get_target_property(dnnl_include DNNL::dnnl INTERFACE_INCLUDE_DIRECTORIES)
  add_library(onednn SHARED IMPORTED GLOBAL)
  set_target_properties(onednn PROPERTIES
    IMPORTED_LOCATION "${TRINE_PACKAGE_DIR}/lib/libdnnl.so.3"
    INTERFACE_INCLUDE_DIRECTORIES "${dnnl_include}")
  set(TRINE_HAVE_DNNL 1)
endif()
