// SPDX-License-Identifier: Apache-2.0
// Polls as often as the neighbours allow.
#include "waiting.hpp"

#include "helping.hpp"
#include "missing.hpp"

#include "transports/shmem/open_mpi.hpp"

#include <tollbar/environment.hpp>
#include <tollbar/waiting.hpp>

#include <algorithm>
#include <chrono>
#include <thread>
#include <type_traits>

namespace tollbar::shmem {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// Through shared memory nobody needs our progress to reach us; it still has others to answer.
constexpr std::uint32_t looks_a_progress_near = 32;
constexpr std::uint32_t looks_a_help = 4;
constexpr std::uint32_t looks_an_examination = 1024;

/// Of many PEs on few CPUs most wait for somebody who waits for the CPU; a few looks cost less than a switch.
constexpr std::uint32_t looks_a_yield = 4;

/// Looked in vain for so long a PE naps: nothing wakes it, so that it keeps looking.
constexpr auto worth_polling = 2ms;

Clock::duration nap_after(Clock::duration waited) { return std::clamp<Clock::duration>(waited / 32, 200us, 4ms); }

void do_the_rest(tollbar_shmem_barrier& barrier) noexcept {
    if (!barrier.course->near() || barrier.looks % looks_a_progress_near == 0) make_progress();
    if (barrier.looks % looks_a_help == 0) help_others(barrier);
    if (barrier.looks % looks_an_examination == 0) examine(barrier);
}

template <class Deadline>
bool wait(tollbar_shmem_barrier& barrier, Deadline deadline) noexcept {
    const wait_policy policy = wait_policy_from_environment();
    const Patience patience = patience_for<NativeSync>(policy, barrier.crowded ? Crowding::crowded : Crowding::roomy);
    const bool naps = policy == wait_policy::automatic || policy == wait_policy::park;
    Clock::time_point since{};
    for (std::uint32_t turn = 0;; ++turn) {
        if (look(barrier)) return true;
        if (turn < patience.spins || patience.spins == Patience::for_ever) {
            constexpr std::uint32_t turns_a_look_at_the_clock = 64;
            NativeSync::pause();
            if (turn % turns_a_look_at_the_clock == 0 && deadline.passed()) return look(barrier);
            continue;
        }
        if (turn % looks_a_yield != 0) continue;
        if (deadline.passed()) return look(barrier);
        const auto now = Clock::now();
        if (since == Clock::time_point{}) since = now;
        if (naps && now - since > worth_polling) {
            // The nap does not outlast the deadline by more than it is long.
            std::this_thread::sleep_for(nap_after(now - since));
        } else {
            NativeSync::yield();
        }
    }
}

}  // namespace

bool look(tollbar_shmem_barrier& barrier) noexcept {
    if (barrier.fault != 0 || barrier.course->advance()) return true;
    ++barrier.looks;
    do_the_rest(barrier);
    return barrier.fault != 0;
}

bool finish(tollbar_shmem_barrier& barrier, Never never) noexcept { return wait(barrier, never); }
bool finish(tollbar_shmem_barrier& barrier, Deadline deadline) noexcept { return wait(barrier, deadline); }

}  // namespace tollbar::shmem
