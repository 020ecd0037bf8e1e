// SPDX-License-Identifier: Apache-2.0
// The Linux half of NativeSync: futex(2) to sleep and wake, membarrier(2) for the asymmetric fence.
#include <tollbar/detail/cpus.hpp>
#include <tollbar/detail/sync.hpp>

#include "base/kept_errno.hpp"
#include "base/once.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <ctime>
#include <limits>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tollbar::detail {

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

void futex_wait(const std::atomic<std::uint64_t>& word, std::uint64_t seen, std::uint32_t mask, Scope scope,
                const timespec* until) noexcept {
    // The bitset form takes an absolute time on CLOCK_MONOTONIC; interrupted and mistaken waits just return.
    const c_door::KeptErrno kept;
    syscall(SYS_futex, low_half(word), in_scope(FUTEX_WAIT_BITSET, scope), static_cast<std::uint32_t>(seen), until,
            nullptr, mask);
}

long membarrier(int command) noexcept {
    const c_door::KeptErrno kept;
    return syscall(SYS_membarrier, command, 0, 0);
}

std::uint32_t measure_spins_worth_a_wake() noexcept {
    using namespace std::chrono;
    constexpr std::uint32_t sample = 512;
    constexpr nanoseconds price_of_a_wake = microseconds(wake_us);
    nanoseconds best = nanoseconds::max();
    for (int attempt = 0; attempt < 3; ++attempt) {
        const auto before = steady_clock::now();
        for (std::uint32_t i = 0; i < sample; ++i) NativeSync::pause();
        best = std::min<nanoseconds>(best, steady_clock::now() - before);
    }
    return static_cast<std::uint32_t>(price_of_a_wake.count() * sample / std::max<nanoseconds::rep>(best.count(), 1));
}

/// The shortest of a few yields; of the first that comes back late, nothing can be said.
std::uint64_t measure_yield(std::uint64_t wake) noexcept {
    std::uint64_t best = wake / 80;
    for (int attempt = 0; attempt < 8; ++attempt) {
        const std::uint64_t before = NativeSync::ticks();
        NativeSync::yield();
        const std::uint64_t took = NativeSync::ticks() - before;
        best = std::min(best, took);
        if (took > wake) break;
    }
    return best;
}

Pace measure_pace() noexcept {
    using namespace std::chrono;
    const auto begun = steady_clock::now();
    const std::uint64_t ticks = NativeSync::ticks();
    while (steady_clock::now() - begun < microseconds(50)) {
    }
    const duration<double, std::micro> took = steady_clock::now() - begun;
    const auto a_us = static_cast<std::uint64_t>(static_cast<double>(NativeSync::ticks() - ticks) / took.count());
    Pace pace{.ticks_per_us = std::max<std::uint64_t>(a_us, 1), .fruitless = 0};
    pace.fruitless = 5 * measure_yield(pace.ticks(wake_us)) / 2;
    return pace;
}

std::array<Neighbours, 1024> neighbours_of_cpu;  // one a CPU

}  // namespace

const Pace& NativeSync::pace() noexcept {
    static constinit Once<Pace> pace;
    return pace.get(measure_pace);
}

NativeSync::Neighbours& NativeSync::neighbours() noexcept {
    const int cpu = sched_getcpu();
    return neighbours_of_cpu[static_cast<std::size_t>(cpu < 0 ? 0 : cpu) % neighbours_of_cpu.size()];
}

void NativeSync::yield() noexcept { sched_yield(); }

void NativeSync::nap_until(Deadline deadline) noexcept {
    const c_door::KeptErrno kept;
    const timespec until = to_timespec(deadline.at);
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);  // clock_nanosleep(3) is cancelled
}

bool NativeSync::register_for_heavy_fence() noexcept {
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
           membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

bool NativeSync::heavy_fence(Scope scope) noexcept {
    return membarrier(scope == Scope::process ? MEMBARRIER_CMD_PRIVATE_EXPEDITED : MEMBARRIER_CMD_GLOBAL_EXPEDITED) ==
           0;
}

bool NativeSync::sleep_on(const std::atomic<std::uint64_t>& word, std::uint64_t seen, std::uint32_t mask, Scope scope,
                          Never) noexcept {
    futex_wait(word, seen, mask, scope, nullptr);
    return true;
}

bool NativeSync::sleep_on(const std::atomic<std::uint64_t>& word, std::uint64_t seen, std::uint32_t mask, Scope scope,
                          Deadline deadline) noexcept {
    if (deadline.passed()) return false;
    const timespec until = to_timespec(deadline.at);
    futex_wait(word, seen, mask, scope, &until);
    return true;
}

void NativeSync::wake(const std::atomic<std::uint64_t>& word, std::uint32_t mask, Scope scope) noexcept {
    constexpr int all = std::numeric_limits<int>::max();
    syscall(SYS_futex, low_half(word), in_scope(FUTEX_WAKE_BITSET, scope), all, nullptr, nullptr, mask);
}

std::uint32_t NativeSync::spins_worth_a_wake() noexcept {
    static constinit Once<std::uint32_t> spins;
    return spins.get(measure_spins_worth_a_wake);
}

}  // namespace tollbar::detail
