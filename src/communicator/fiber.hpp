// SPDX-License-Identifier: Apache-2.0
// Work that stops in the middle wherever it would wait, for callers that may not block.
//
//     Fiber work([&] { while (!received()) work.yield(); });
//     while (!work.resume()) do_something_else();
#pragma once

#include <functional>
#include <memory>

namespace tollbar::detail {

/// A function on a stack of its own. One thread at a time; another one may resume it than did before.
class Fiber {
public:
    /// Throws std::system_error: ENOMEM, no memory for the stack; ENOTSUP, the C library has no second stacks.
    explicit Fiber(std::function<void()> work);
    /// Work that is not over is abandoned, and what is on its stack with it.
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Goes on with the work until it yields or is over. Returns true when it is over. The work throws nothing.
    bool resume();

    /// For the work itself: returns with the next resume(). Not in a handler of an exception, whose state belongs to
    /// the thread.
    void yield();

private:
    struct Stack;
    std::unique_ptr<Stack> stack_;
};

}  // namespace tollbar::detail
