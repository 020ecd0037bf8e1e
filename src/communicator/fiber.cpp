// SPDX-License-Identifier: Apache-2.0
// Contexts of POSIX.1-2001, which glibc keeps; a page that nobody may touch ends the stack.
#include "fiber.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <utility>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace tollbar::detail {

struct Fiber::Stack {
    /// An MPI's own calls run on it; untouched pages cost nothing.
    static constexpr std::size_t bytes = std::size_t{1} << 20;

    explicit Stack(std::function<void()> all)
        : work(std::move(all)),
          memory(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        if (memory == MAP_FAILED) throw std::system_error(ENOMEM, std::generic_category(), "no stack for a fiber");
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        mprotect(memory, page, PROT_NONE);
        getcontext(&own);
        own.uc_stack.ss_sp = memory;
        own.uc_stack.ss_size = bytes;
        own.uc_link = &caller;
        const auto self = reinterpret_cast<std::uintptr_t>(this);
        makecontext(&own, reinterpret_cast<void (*)()>(run), 2, static_cast<unsigned>(self >> 32),
                    static_cast<unsigned>(self));
    }
    ~Stack() { munmap(memory, bytes); }
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;

    static void run(unsigned high, unsigned low) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): makecontext() passes ints
        auto& self = *reinterpret_cast<Stack*>(static_cast<std::uintptr_t>(std::uint64_t{high} << 32 | low));
        self.work();
        self.over = true;
    }

    std::function<void()> work;
    void* memory;
    ucontext_t own{}, caller{};
    bool over = false;
};

Fiber::Fiber(std::function<void()> work) : stack_(std::make_unique<Stack>(std::move(work))) {}

Fiber::~Fiber() = default;

bool Fiber::resume() {
    if (!stack_->over) swapcontext(&stack_->caller, &stack_->own);
    return stack_->over;
}

void Fiber::yield() { swapcontext(&stack_->own, &stack_->caller); }

}  // namespace tollbar::detail
