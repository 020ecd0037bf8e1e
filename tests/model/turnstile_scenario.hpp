// SPDX-License-Identifier: Apache-2.0
// Threads without ranks that go through a Turnstile, or Leaves, for a few phases in the model checker, paying tolls.
#pragma once

#include "relacy_sync.hpp"

#include <tollbar/detail/leaves.hpp>
#include <tollbar/detail/turnstile.hpp>

#include <cstdint>
#include <memory>

namespace tollbar::model {

struct TurnstileSettings {
    unsigned threads = 2;
    std::uint64_t phases = 2;
    WaitBudget budget = {WaitBudget::for_ever, 0};
    unsigned arrivals_of_first = 1;  ///< how many arrivals the first thread makes a phase, in one call
    unsigned leaving = 0;            ///< how many threads, the last ones, leave for good, the k-th of them in phase k
    bool leaving_together = false;   ///< all of them leave in the first phase instead
    unsigned giving_up =
        0;              ///< how many threads, the first ones, wait with deadlines that may pass, up to twice a phase
    bool poll = false;  ///< looks again and again instead of waiting
};

inline constexpr WaitBudget spinning{WaitBudget::for_ever, 0};
inline constexpr WaitBudget yielding{0, WaitBudget::for_ever};
inline constexpr WaitBudget parking{0, 0};

/// Leaves of two places; which one is near is the checker's choice. Of two threads on a CPU, the last one spins.
struct LeavesOfTwo : Leaves<RelacySync> {
    explicit LeavesOfTwo(std::uint64_t expected) : Leaves(expected, 2, LeafOf::cpu) {}
};

/// Meeting: where they meet; whether it runs a completion.
template <class Meeting, bool completes>
class UnrankedScenario : public Scenario {
public:
    explicit UnrankedScenario(const TurnstileSettings& settings)
        : settings_(settings), meeting_(settings.threads - 1 + settings.arrivals_of_first), tolls_(settings.threads) {}

    void run(unsigned self) override {
        for (std::uint64_t phase = 1; phase <= settings_.phases; ++phase) {
            tolls_.pay(self, phase);
            const auto complete = [this, phase] {
                tolls_.check(phase, staying(phase));
                completed_(RL_INFO) = phase;
            };
            if (phase == leaves_in(self)) {
                meeting_.arrive_and_drop(complete);
                return;
            }
            const auto target = meeting_.arrive(self == 0 ? settings_.arrivals_of_first : 1, complete);
            wait(self, target);
            tolls_.check(phase, staying(phase));
            if constexpr (completes) {
                const std::uint64_t completed = completed_(RL_INFO);
                RL_ASSERT(completed == phase);
            }
        }
    }

private:
    /// The phase in which a thread leaves; 0 when it stays.
    std::uint64_t leaves_in(unsigned self) const {
        const unsigned from_the_end = settings_.threads - 1 - self;
        if (from_the_end >= settings_.leaving) return 0;
        return settings_.leaving_together ? 1 : from_the_end + 1;
    }

    /// How many threads, the first ones, take part in a phase.
    unsigned staying(std::uint64_t phase) const {
        unsigned threads = settings_.threads;
        while (threads > 0 && leaves_in(threads - 1) != 0 && leaves_in(threads - 1) < phase) --threads;
        return threads;
    }

    template <class Target>
    void wait(unsigned self, Target target) {
        if (settings_.poll) {
            while (!meeting_.reached(target)) RelacySync::yield();
            return;
        }
        if (self < settings_.giving_up)
            for (int tries = 0; tries < 2; ++tries)
                if (meeting_.wait(target, settings_.budget, Sometime{})) return;
        RL_ASSERT(meeting_.wait(target, settings_.budget, Never{}));
    }

    const TurnstileSettings& settings_;
    Meeting meeting_;
    Tolls tolls_;
    rl::var<std::uint64_t> completed_{0};
};

/// Scenarios of these settings.
template <Closing closing = Closing::none>
MakeScenario make(const TurnstileSettings& settings) {
    using Meeting = Turnstile<RelacySync, closing>;
    return [settings]() -> std::unique_ptr<Scenario> {
        return std::make_unique<UnrankedScenario<Meeting, closing == Closing::step>>(settings);
    };
}

inline MakeScenario make_leaves(const TurnstileSettings& settings) {
    return [settings]() -> std::unique_ptr<Scenario> {
        return std::make_unique<UnrankedScenario<LeavesOfTwo, true>>(settings);
    };
}

}  // namespace tollbar::model
