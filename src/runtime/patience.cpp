// SPDX-License-Identifier: Apache-2.0
// How long an unranked thread waits in which way: what TOLLBAR_WAIT says, and who else is pinned to its CPU.
#include <tollbar/detail/crowding.hpp>
#include "environment.hpp"

#include <array>
#include <atomic>
#include <bit>

namespace tollbar {

namespace {

/// How many waiting threads of this process are pinned to each CPU, and to how many CPUs more than one.
std::array<std::atomic<std::uint32_t>, 1024> pinned_waiters;
std::atomic<std::uint32_t> collisions{0};

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
        if (waiters_->fetch_add(1, std::memory_order_relaxed) == 1) collisions.fetch_add(1, std::memory_order_relaxed);
    }

    ~Pin() {
        if (waiters_ != nullptr && waiters_->fetch_sub(1, std::memory_order_relaxed) == 2)
            collisions.fetch_sub(1, std::memory_order_relaxed);
    }

    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

    bool shared() const noexcept { return waiters_ != nullptr && waiters_->load(std::memory_order_relaxed) > 1; }

private:
    std::atomic<std::uint32_t>* waiters_ = nullptr;
};

}  // namespace

std::atomic<std::uint64_t> roomy_up_to{0};

Patience default_patience(std::uint64_t participants) noexcept {
    const wait_policy policy = environment::wait();
    thread_local const Pin pin;
    const std::uint64_t cpus = masked_cpus();
    roomy_up_to.store(policy == wait_policy::automatic && collisions.load(std::memory_order_relaxed) == 0 ? cpus : 0,
                      std::memory_order_relaxed);
    const bool crowded = pin.shared() || participants > cpus;
    return patience_for<NativeSync>(policy, crowded ? Crowding::crowded : Crowding::roomy);
}

}  // namespace tollbar
