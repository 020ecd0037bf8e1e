// SPDX-License-Identifier: Apache-2.0
// The Linux half of NativeSync: futex(2) to sleep and wake, membarrier(2) for the asymmetric fence.
#include <tollbar/detail/sync.hpp>

#include "kept_errno.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tollbar {

namespace {

/// The half of the word that changes: futexes have 32 bits.
const std::uint32_t* low_half(const std::atomic<std::uint64_t>& word) noexcept {
    static_assert(sizeof(word) == sizeof(std::uint64_t) && std::atomic<std::uint64_t>::is_always_lock_free);
    return reinterpret_cast<const std::uint32_t*>(&word) + (std::endian::native == std::endian::little ? 0 : 1);
}

int in_scope(int operation, Scope scope) noexcept {
    return scope == Scope::process ? operation | FUTEX_PRIVATE_FLAG : operation;
}

timespec to_timespec(std::chrono::steady_clock::time_point at) noexcept {
    const auto since_boot = at.time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
    return {.tv_sec = seconds.count(), .tv_nsec = std::chrono::nanoseconds(since_boot - seconds).count()};
}

void futex_wait(const std::atomic<std::uint64_t>& word, std::uint64_t seen, Scope scope,
                const timespec* until) noexcept {
    // The bitset form takes an absolute time on CLOCK_MONOTONIC; interrupted and mistaken waits just return.
    const runtime::KeptErrno kept;
    syscall(SYS_futex, low_half(word), in_scope(FUTEX_WAIT_BITSET, scope), static_cast<std::uint32_t>(seen), until,
            nullptr, FUTEX_BITSET_MATCH_ANY);
}

long membarrier(int command) noexcept {
    const runtime::KeptErrno kept;
    return syscall(SYS_membarrier, command, 0, 0);
}

std::uint32_t measure_spins_worth_a_wake() noexcept {
    using namespace std::chrono;
    constexpr std::uint32_t sample = 512;
    constexpr nanoseconds price_of_a_wake = microseconds(20);
    nanoseconds best = nanoseconds::max();
    for (int attempt = 0; attempt < 3; ++attempt) {
        const auto before = steady_clock::now();
        for (std::uint32_t i = 0; i < sample; ++i) NativeSync::pause();
        best = std::min<nanoseconds>(best, steady_clock::now() - before);
    }
    return static_cast<std::uint32_t>(price_of_a_wake.count() * sample / std::max<nanoseconds::rep>(best.count(), 1));
}

}  // namespace

void NativeSync::yield() noexcept { sched_yield(); }

void NativeSync::nap_until(Deadline deadline) noexcept {
    const timespec until = to_timespec(deadline.at);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

bool NativeSync::register_for_heavy_fence() noexcept {
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
           membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

void NativeSync::heavy_fence(Scope scope) noexcept {
    membarrier(scope == Scope::process ? MEMBARRIER_CMD_PRIVATE_EXPEDITED : MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

bool NativeSync::sleep_on(const std::atomic<std::uint64_t>& word, std::uint64_t seen, Scope scope, Never) noexcept {
    futex_wait(word, seen, scope, nullptr);
    return true;
}

bool NativeSync::sleep_on(const std::atomic<std::uint64_t>& word, std::uint64_t seen, Scope scope,
                          Deadline deadline) noexcept {
    if (deadline.passed()) return false;
    const timespec until = to_timespec(deadline.at);
    futex_wait(word, seen, scope, &until);
    return true;
}

void NativeSync::wake_all(const std::atomic<std::uint64_t>& word, Scope scope) noexcept {
    syscall(SYS_futex, low_half(word), in_scope(FUTEX_WAKE, scope), INT_MAX, nullptr, nullptr, 0);
}

std::uint32_t NativeSync::spins_worth_a_wake() noexcept {
    static const std::uint32_t spins = measure_spins_worth_a_wake();
    return spins;
}

}  // namespace tollbar
