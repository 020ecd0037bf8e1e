// SPDX-License-Identifier: Apache-2.0
// Frames of a thread from the copy of its stack; libdw unwinds, and the thread may run meanwhile.
#pragma once

#include "process.hpp"

#include <memory>
#include <string_view>

namespace tollbar::look {

class Unwinder {
public:
    /// Parses the modules of the process, so that nothing is left to be read while a thread is stopped.
    explicit Unwinder(const Process& process);
    ~Unwinder();
    Unwinder(const Unwinder&) = delete;
    Unwinder& operator=(const Unwinder&) = delete;

    /// Fills the frames and whether they are complete. Without registers, a frame pointer that leads to the thread's
    /// start is taken from the stack.
    void unwind(Thread& thread);

    /// The address of a symbol of a module whose file's name begins so; 0: there is none.
    Address symbol(std::string_view module, std::string_view name) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tollbar::look
