// SPDX-License-Identifier: Apache-2.0
// How functions of the module give up the interpreter's lock and call Python, in threads that Python may end there.
#pragma once

#include <nanobind/nanobind.h>

#include <cxxabi.h>
#include <unistd.h>
#include <utility>

namespace python {

/// The result of `call`, which takes the interpreter's lock or runs Python code, and owns nothing.
///
/// While an interpreter ends, Python before 3.14 ends a daemon thread that wants its lock by pthread_exit(3), which
/// unwinds the stack. The handlers of nanobind and destructors that take Python's references are on it: such a thread
/// stays here for ever, as Python keeps it from 3.14 on.
template <class Call>
auto staying(Call&& call) {
    try {
        return std::forward<Call>(call)();
    } catch (const abi::__forced_unwind&) {
        for (;;) pause();
    }
}

/// While it exists, other threads may run Python.
class LockGivenUp {
public:
    LockGivenUp() noexcept = default;
    ~LockGivenUp() {
        staying([this] { PyEval_RestoreThread(state_); });
    }
    LockGivenUp(const LockGivenUp&) = delete;
    LockGivenUp& operator=(const LockGivenUp&) = delete;

private:
    PyThreadState* const state_ = PyEval_SaveThread();
};

/// While it exists, this thread, which has given it up, has the lock again.
class LockTaken {
public:
    LockTaken() noexcept : state_(staying([] { return PyGILState_Ensure(); })) {}
    ~LockTaken() { PyGILState_Release(state_); }
    LockTaken(const LockTaken&) = delete;
    LockTaken& operator=(const LockTaken&) = delete;

private:
    const PyGILState_STATE state_;
};

/// Calls a Python function, whose result is of no interest. Throws what it raises.
inline void call(const nanobind::object& function, const nanobind::tuple& arguments = nanobind::make_tuple()) {
    const bool done = staying([&] {
        PyObject* const result = PyObject_CallObject(function.ptr(), arguments.ptr());
        Py_XDECREF(result);
        return result != nullptr;
    });
    if (!done) throw nanobind::python_error();
}

/// Lets handlers of signals run, in the main thread. Throws what they raise.
inline void let_handlers_run() {
    if (staying([] { return PyErr_CheckSignals(); }) != 0) throw nanobind::python_error();
}

}  // namespace python
