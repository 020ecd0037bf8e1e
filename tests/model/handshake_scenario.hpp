// SPDX-License-Identifier: Apache-2.0
// The smallest barrier that sleeps: every thread writes its own word and waits for everybody else's, without
// looking twice before it sleeps.
#pragma once

#include "relacy_sync.hpp"

#include <tollbar/detail/waiting.hpp>

#include <array>
#include <cstdint>
#include <memory>

namespace tollbar::model {

struct HandshakeSettings {
    unsigned threads = 2;
    std::uint64_t episodes = 2;
    Waking waking = {};
};

class HandshakeScenario : public Scenario {
public:
    explicit HandshakeScenario(const HandshakeSettings& settings) : settings_(settings), tolls_(settings.threads) {
        for (unsigned i = 0; i < settings.threads; ++i) desks_[i] = std::make_unique<Desk>();
    }

    void run(unsigned self) override {
        for (std::uint64_t episode = 1; episode <= settings_.episodes; ++episode) {
            tolls_.pay(self, episode);
            desks_[self]->word.store(episode, std::memory_order_release);  // pairs with await()
            wake_sleepers<RelacySync>(desks_[self]->word, desks_[self]->sleepers, episode, settings_.waking);
            for (unsigned peer = 0; peer < settings_.threads; ++peer) {
                Desk& desk = *desks_[peer];
                if (peer == self) continue;
                wait<RelacySync>(AwaitedWord<RelacySync>{desk.word, episode, desk.sleepers, episode, settings_.waking},
                                 WaitBudget{0, 0}, Never{});
            }
            tolls_.check(episode);
        }
    }

private:
    /// What one thread writes, and the sleepers of all who sleep there.
    struct Desk {
        Word<RelacySync> word;
        Sleepers<RelacySync> sleepers;
    };

    const HandshakeSettings& settings_;
    std::array<std::unique_ptr<Desk>, max_threads> desks_;
    Tolls tolls_;
};

/// Scenarios of these settings.
inline MakeScenario make(const HandshakeSettings& settings) {
    return [settings]() -> std::unique_ptr<Scenario> { return std::make_unique<HandshakeScenario>(settings); };
}

}  // namespace tollbar::model
