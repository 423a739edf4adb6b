# A build is importable in place: build/site/trine holds links to the Python files of the source tree beside
# the libraries that were just linked. `PYTHONPATH=build/site` (or one .pth file) is all an import needs, and an
# edit of a Python file is live at once.

set(TRINE_SITE "${CMAKE_BINARY_DIR}/site")
set(TRINE_PACKAGE_DIR "${TRINE_SITE}/trine")
file(MAKE_DIRECTORY "${TRINE_PACKAGE_DIR}/lib")
