// SPDX-License-Identifier: Apache-2.0
// Threads that go through a gate for a few phases; the serial one of the last phase, or whichever the first is,
// destroys it at once, while others still leave. Each access to the gate reads a variable that the destroyer writes
// afterwards.
#pragma once

#include "waiting/gate.hpp"
#include "turnstile_scenario.hpp"

#include <array>
#include <cstdint>
#include <memory>

namespace tollbar::model {

/// RelacySync for words that may be destroyed: the checker sees a race where one is used after that.
struct DestroyedSync : RelacySync {
    /// The memory of the gate, as far as the checker is concerned.
    static inline rl::var<std::uint64_t>* memory = nullptr;

    /// How threads at leaves wait.
    static inline WaitBudget budget = {};

    static void touch() {
        const std::uint64_t alive = (*memory)(RL_INFO);
        RL_ASSERT(alive == 1);
    }

    template <class T>
    class Atomic : public RelacySync::Atomic<T> {
    public:
        using RelacySync::Atomic<T>::Atomic;

        T load(std::memory_order order) const noexcept {
            touch();
            return RelacySync::Atomic<T>::load(order);
        }
        void store(T value, std::memory_order order) noexcept {
            touch();
            RelacySync::Atomic<T>::store(value, order);
        }
        T fetch_add(T value, std::memory_order order) noexcept {
            touch();
            return RelacySync::Atomic<T>::fetch_add(value, order);
        }
        T fetch_sub(T value, std::memory_order order) noexcept {
            touch();
            return RelacySync::Atomic<T>::fetch_sub(value, order);
        }
    };

    template <class Deadline>
    static bool sleep_on(const Atomic<std::uint64_t>& word, std::uint64_t seen, std::uint32_t mask, Scope scope,
                         Deadline deadline) noexcept {
        touch();
        return RelacySync::sleep_on(word, seen, mask, scope, deadline);
    }

    static void wake(const Atomic<std::uint64_t>& word, std::uint32_t mask, Scope scope) noexcept {
        touch();
        RelacySync::wake(word, mask, scope);
    }
};

inline Manner<Backoff> manner_of_unranked(DestroyedSync, std::uint64_t) noexcept {
    return {.budget = DestroyedSync::budget, .for_all = true};
}

struct GateSettings {
    unsigned threads = 2;
    std::uint64_t phases = 2;
    WaitBudget budget = spinning;
    bool first_destroys = false;  ///< the first thread, wherever it has arrived; else the serial one
};

template <class AnyGate>
class GateScenario : public Scenario {
public:
    explicit GateScenario(const GateSettings& settings) : settings_(settings), tolls_(settings.threads) {
        DestroyedSync::memory = &memory_;
        DestroyedSync::budget = settings.budget;
        memory_(RL_INFO) = 1;
    }

    void run(unsigned self) override {
        for (std::uint64_t phase = 1; phase <= settings_.phases; ++phase) {
            tolls_.pay(self, phase);
            const bool serial = gate_.pass(visits_[self], [&](std::uint64_t target, auto...) { wait(target); });
            tolls_.check(phase);
            if (phase == settings_.phases && (settings_.first_destroys ? self == 0 : serial)) destroy();
        }
    }

private:
    void wait(std::uint64_t target) {
        if constexpr (requires { gate_.wait(target, Never{}); })
            RL_ASSERT(gate_.wait(target, Never{}));
        else
            RL_ASSERT(detail::wait<DestroyedSync>(AwaitedEnd<AnyGate>{gate_, target}, settings_.budget, Never{}));
    }

    void destroy() {
        gate_.clear(
            [&](auto look) {
                for (unsigned thread = 0; thread < settings_.threads; ++thread) look(visits_[thread]);
            },
            [](auto&& are_gone) {
                while (!are_gone()) RelacySync::yield();
            });
        memory_(RL_INFO) = 2;
    }

    const GateSettings& settings_;
    rl::var<std::uint64_t> memory_;
    AnyGate gate_{settings_.threads};
    std::array<GateVisit<RelacySync>, max_threads> visits_;
    Tolls tolls_;
};

/// Leaves of two places, which are destroyed with the gate.
struct GateAtLeavesOfTwo : GateAtLeaves<DestroyedSync> {
    explicit GateAtLeavesOfTwo(std::uint64_t expected) : GateAtLeavesOfTwo(leaves_of_two(expected)) {}

private:
    using Owned = std::unique_ptr<Leaves<DestroyedSync>>;

    explicit GateAtLeavesOfTwo(Owned owned) : GateAtLeaves(std::move(owned)) {}
    static Owned leaves_of_two(std::uint64_t expected) {
        return std::make_unique<Leaves<DestroyedSync>>(expected, 2, LeafOf::cpu);
    }
};

/// Scenarios of these settings.
template <class AnyGate>
MakeScenario make_gates(const GateSettings& settings) {
    return [settings]() -> std::unique_ptr<Scenario> { return std::make_unique<GateScenario<AnyGate>>(settings); };
}

template <Scope scope>
MakeScenario make_gates(const GateSettings& settings) {
    return make_gates<Gate<DestroyedSync, scope>>(settings);
}

inline MakeScenario make_gates_at_leaves(const GateSettings& settings) {
    return make_gates<GateAtLeavesOfTwo>(settings);
}

}  // namespace tollbar::model
