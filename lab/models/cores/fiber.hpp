// SPDX-License-Identifier: Apache-2.0
// A function with a stack of its own that can stop in the middle: one simulated thread.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <functional>
#include <memory>

namespace tollbar::cores {

/// Runs `body` piece by piece. One that is destroyed before its end leaves what is on its stack undestroyed.
class Fiber {
public:
    explicit Fiber(std::function<void()> body);
    ~Fiber();
    Fiber(Fiber&&) noexcept;
    Fiber& operator=(Fiber&&) noexcept;

    /// Goes on until the body stops or ends. Not from within.
    void resume();
    bool ended() const noexcept;

    /// Stops the body of `this`, which is the caller; returns after the next resume().
    void stop();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tollbar::cores
