// SPDX-License-Identifier: Apache-2.0
// Threads of an OpenMP team in the model checker: at each barrier any of them may make a task before it arrives, from
// where on all have to meet at the runtime's barrier.
#pragma once

#include "relacy_sync.hpp"

#include "doors/openmp/team.hpp"

#include <cstdint>
#include <memory>

namespace tollbar::model {

struct TeamSettings {
    unsigned threads = 2;
    std::uint64_t barriers = 2;
    WaitBudget budget = {WaitBudget::for_ever, 0};
    bool leaves = false;  ///< of two places, in place of the word
    bool helped = false;  ///< the first thread makes its task before the first barrier, and arrives when others run it
};

class TeamScenario : public Scenario {
public:
    explicit TeamScenario(const TeamSettings& settings) : settings_(settings), tolls_(settings.threads) {
        if (settings.leaves) team_.meet_at(std::make_unique<Leaves<RelacySync>>(settings.threads, 2, LeafOf::cpu));
    }

    void run(unsigned self) override {
        bool is_left = false;
        for (std::uint64_t barrier = 0; barrier < settings_.barriers; ++barrier) {
            tolls_.pay(self, barrier + 1);
            if (!is_left && makes_task(self, barrier)) team_.note_task(barrier);
            if (settings_.helped && self == 0 && barrier == 0) await_help();
            if (!is_left) is_left = !meet(barrier);
            if (is_left) meet_at_runtime(barrier);
            tolls_.check(barrier + 1);
        }
    }

private:
    bool makes_task(unsigned self, std::uint64_t barrier) const {
        return settings_.helped ? self == 0 && barrier == 0 : rl::rand(4) == 0;
    }

    /// As meet() of the door.
    bool meet(std::uint64_t barrier) {
        if (auto* const leaves = team_.leaves_of(settings_.threads); leaves != nullptr)
            leaves->wait(leaves->arrive(1, [] {}), settings_.budget, Never{});
        else if (!team_.arrive(barrier, settings_.threads))
            wait<RelacySync>(team_.end_of(barrier, settings_.threads), settings_.budget, Never{});
        return !team_.is_left_to_runtime(barrier);
    }

    /// A barrier at which threads run tasks while they wait. A thread that went there alone would wait for ever.
    void meet_at_runtime(std::uint64_t barrier) {
        const std::uint64_t arrived = at_runtime_[barrier].fetch_add(1, std::memory_order_seq_cst) + 1;
        if (arrived == settings_.threads) return;
        while (at_runtime_[barrier].load(std::memory_order_acquire) < settings_.threads) RelacySync::yield();
    }

    void await_help() {
        while (at_runtime_[0].load(std::memory_order_acquire) + 1 < settings_.threads) RelacySync::yield();
    }

    const TeamSettings& settings_;
    openmp::RegionTeam<RelacySync> team_;
    Word<RelacySync> at_runtime_[4];
    Tolls tolls_;
};

/// Scenarios of these settings.
inline MakeScenario make(const TeamSettings& settings) {
    return [settings]() -> std::unique_ptr<Scenario> { return std::make_unique<TeamScenario>(settings); };
}

}  // namespace tollbar::model
