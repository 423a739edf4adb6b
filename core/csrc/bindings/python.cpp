#include "bindings/python.h"

namespace trine::py {
namespace {

// A Python exception on its way through C++ frames: kept in the error as an opaque index would outlive the thread state, so the triple
// itself travels.
class CapturedError : public Error {
 public:
  CapturedError() : Error(ErrorKind::Python, "Python exception") { PyErr_Fetch(&type, &value, &traceback); }
  CapturedError(const CapturedError& o) : Error(o), type(o.type), value(o.value), traceback(o.traceback) {
    GilAcquire gil;
    Py_XINCREF(type);
    Py_XINCREF(value);
    Py_XINCREF(traceback);
  }
  ~CapturedError() override {
    if (!type) return;
    GilAcquire gil;
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
  }
  void restore() const {
    Py_XINCREF(type);
    Py_XINCREF(value);
    Py_XINCREF(traceback);
    PyErr_Restore(type, value, traceback);
  }
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
};

}  // namespace

void throw_python_error() { throw CapturedError(); }

PyObject* linalg_error() {
  static PyObject* const type = PyErr_NewExceptionWithDoc("trine.linalg.LinAlgError", "A matrix is singular, not positive-definite, or its decomposition did not converge.", PyExc_RuntimeError, nullptr);
  return type;
}

void set_error(const Error& e) {
  if (auto* captured = dynamic_cast<const CapturedError*>(&e)) return captured->restore();
  PyObject* type = PyExc_RuntimeError;
  switch (e.kind()) {
    case ErrorKind::Type: type = PyExc_TypeError; break;
    case ErrorKind::Value: type = PyExc_ValueError; break;
    case ErrorKind::Index: type = PyExc_IndexError; break;
    case ErrorKind::NotImplemented: type = PyExc_NotImplementedError; break;
    case ErrorKind::OutOfMemory: type = PyExc_MemoryError; break;
    case ErrorKind::Buffer: type = PyExc_BufferError; break;
    case ErrorKind::LinAlg: type = linalg_error(); break;
    default: break;
  }
  PyErr_SetString(type, e.what());
}

Ref string(std::string_view s) { return checked(PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()))); }

}  // namespace trine::py
