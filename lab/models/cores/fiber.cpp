// SPDX-License-Identifier: Apache-2.0
// Stacks are made by makecontext; later switches are jumps, which need no system call.
#include "fiber.hpp"

#include <ucontext.h>

#include <csetjmp>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace tollbar::cores {

namespace {

constexpr std::size_t stack_bytes = 65536;

}  // namespace

struct Fiber::State {
    std::function<void()> body;
    std::unique_ptr<char[]> stack;
    ucontext_t made{};
    jmp_buf inside{};
    jmp_buf outside{};
    bool begun = false;
    bool ended = false;
};

namespace {

/// makecontext passes integers only. A simulation is one thread's.
thread_local void* beginning = nullptr;

}  // namespace

Fiber::Fiber(std::function<void()> body) : state_(std::make_unique<State>()) {
    state_->body = std::move(body);
    state_->stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
    if (getcontext(&state_->made) != 0) throw std::system_error(errno, std::generic_category(), "getcontext");
    state_->made.uc_stack.ss_sp = state_->stack.get();
    state_->made.uc_stack.ss_size = stack_bytes;
    state_->made.uc_link = nullptr;
    makecontext(
        &state_->made,
        +[] {
            auto& state = *static_cast<State*>(beginning);
            state.body();
            state.ended = true;
            _longjmp(state.outside, 1);
        },
        0);
}

Fiber::~Fiber() = default;
Fiber::Fiber(Fiber&&) noexcept = default;
Fiber& Fiber::operator=(Fiber&&) noexcept = default;

bool Fiber::ended() const noexcept { return state_->ended; }

[[gnu::noinline]] void Fiber::resume() {
    if (_setjmp(state_->outside) != 0) return;
    if (state_->begun) _longjmp(state_->inside, 1);
    state_->begun = true;
    beginning = state_.get();
    setcontext(&state_->made);
    std::abort();  // setcontext returns only when it fails, which it cannot with what getcontext gave
}

[[gnu::noinline]] void Fiber::stop() {
    if (_setjmp(state_->inside) == 0) _longjmp(state_->outside, 1);
}

}  // namespace tollbar::cores
