// SPDX-License-Identifier: Apache-2.0
// How long an unranked thread waits in which way: by TOLLBAR_WAIT, and by the threads that are pinned to its CPU.
#include <tollbar/detail/unranked.hpp>

#include "base/environment.hpp"

#include <tollbar/detail/cpus.hpp>

#include <array>
#include <atomic>
#include <bit>

namespace tollbar::detail {

namespace {

/// How many waiting threads of this process are pinned to each CPU, and to how many CPUs more than one.
alignas(line_bytes) std::array<std::atomic<std::uint32_t>, 1024> pinned_waiters;
struct alignas(line_bytes) {
    std::atomic<std::uint32_t> count{0};
} collisions;

/// This thread's entry there, from its first wait to its end, if it is pinned to one CPU.
class Pin {
public:
    Pin() noexcept {
        const CpuSet cpus = affinity();
        if (cpus.count() != 1) return;
        std::uint32_t cpu = 0;
        for (std::uint32_t i = 0; i < cpus.bits.size(); ++i)
            if (cpus.bits[i] != 0) cpu = i * 64 + static_cast<std::uint32_t>(std::countr_zero(cpus.bits[i]));
        waiters_ = &pinned_waiters[cpu];
        if (waiters_->fetch_add(1, std::memory_order_relaxed) == 1)
            collisions.count.fetch_add(1, std::memory_order_relaxed);
    }

    ~Pin() {
        if (waiters_ != nullptr && waiters_->fetch_sub(1, std::memory_order_relaxed) == 2)
            collisions.count.fetch_sub(1, std::memory_order_relaxed);
    }

    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

    bool shared() const noexcept { return waiters_ != nullptr && waiters_->load(std::memory_order_relaxed) > 1; }

private:
    std::atomic<std::uint32_t>* waiters_ = nullptr;
};

}  // namespace

Manner<Backoff> manner_of_unranked(NativeSync, std::uint64_t participants) noexcept {
    const wait_policy policy = environment::wait();
    thread_local const Pin pin;
    const bool too_many = participants > masked_cpus();
    const Occupancy occupancy = too_many || pin.shared() ? Occupancy::oversubscribed : Occupancy::exclusive;
    const bool for_all = policy != wait_policy::automatic || too_many ||
                         collisions.count.load(std::memory_order_relaxed) == 0;
    return {.budget = wait_budget_for<NativeSync>(policy, occupancy), .for_all = for_all};
}

}  // namespace tollbar::detail
