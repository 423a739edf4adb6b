// The little that every binding file needs: owned references, exceptions both ways, the interpreter lock.
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

#include "base/error.h"

namespace trine::py {

class Ref {  // owns one reference
 public:
  Ref() = default;
  explicit Ref(PyObject* stolen) : p_(stolen) {}
  static Ref borrow(PyObject* p) {
    Py_XINCREF(p);
    return Ref(p);
  }
  Ref(const Ref& o) : p_(o.p_) { Py_XINCREF(p_); }
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  ~Ref() { Py_XDECREF(p_); }
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  PyObject* get() const { return p_; }
  PyObject* release() { return std::exchange(p_, nullptr); }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  PyObject* p_ = nullptr;
};

struct PythonError {};  // thrown when a Python exception is already set

// The object, or PythonError when it is null.
inline Ref checked(PyObject* p) {
  if (!p) throw PythonError{};
  return Ref(p);
}

// The attribute, or nothing where there is none; another failure than its absence is passed on.
inline Ref optional_attribute(PyObject* o, const char* name) {
  Ref value(PyObject_GetAttrString(o, name));
  if (value) return value;
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) checked(nullptr);
  PyErr_Clear();
  return value;
}

void set_error(const Error& e);  // as a Python exception
PyObject* linalg_error();         // the class trine.linalg.LinAlgError (borrowed)

// Runs f and turns what it throws into a Python exception and `failed`.
template <class R, class F> R guarded(R failed, F&& f) noexcept {
  try {
    return f();
  } catch (const PythonError&) {
  } catch (const Error& e) {
    set_error(e);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return failed;
}
template <class F> PyObject* guarded(F&& f) noexcept { return guarded<PyObject*>(nullptr, std::forward<F>(f)); }

class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() { PyEval_RestoreThread(state_); }
  GilRelease(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

class GilAcquire {
 public:
  GilAcquire() : state_(PyGILState_Ensure()) {}
  ~GilAcquire() { PyGILState_Release(state_); }
  GilAcquire(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

// The Python exception that is set now, as a C++ exception that may cross code which does not hold the lock.
[[noreturn]] void throw_python_error();

inline PyObject* none() { return Py_NewRef(Py_None); }
inline PyObject* boolean(bool v) { return PyBool_FromLong(v); }
Ref string(std::string_view s);

}  // namespace trine::py
