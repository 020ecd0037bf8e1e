// SPDX-License-Identifier: Apache-2.0
// The textbook counter barrier, right and wrong: what the Turnstile replaces by never resetting anything.
#pragma once

#include "relacy_sync.hpp"

#include <cstdint>
#include <memory>

namespace tollbar::model {

enum class Reset : std::uint8_t {
    before_release,
    after_release,  ///< loses the arrival of whoever is back before the counter is zero again
};

template <Reset reset>
class ResetBarrierScenario : public Scenario {
public:
    explicit ResetBarrierScenario(unsigned threads) : threads_(threads), tolls_(threads) {}

    void run(unsigned self) override {
        for (std::uint64_t episode = 1; episode <= 3; ++episode) {
            tolls_.pay(self, episode);
            arrive_and_wait(episode);
            tolls_.check(episode);
        }
    }

private:
    void arrive_and_wait(std::uint64_t episode) {
        if (arrived_.fetch_add(1, std::memory_order_seq_cst) + 1 == threads_) {
            if (reset == Reset::before_release) arrived_.store(0, std::memory_order_relaxed);
            released_.store(episode, std::memory_order_release);
            if (reset == Reset::after_release) arrived_.store(0, std::memory_order_relaxed);
        }
        while (released_.load(std::memory_order_acquire) < episode) RelacySync::pause();
    }

    std::uint64_t threads_;
    RelacySync::Atomic<std::uint64_t> arrived_{0};
    RelacySync::Atomic<std::uint64_t> released_{0};
    Tolls tolls_;
};

template <Reset reset>
MakeScenario reset_barrier(unsigned threads) {
    return [threads]() -> std::unique_ptr<Scenario> { return std::make_unique<ResetBarrierScenario<reset>>(threads); };
}

}  // namespace tollbar::model
