// SPDX-License-Identifier: Apache-2.0
// Two threads that go through a Turnstile, and others that wait for its first phase without arriving in any: they may
// sleep while further phases go by.
#pragma once

#include "turnstile_scenario.hpp"

#include <cstdint>
#include <memory>

namespace tollbar::model {

class BystanderScenario : public Scenario {
public:
    explicit BystanderScenario(unsigned bystanders) : left_(bystanders + 1) {}

    void run(unsigned self) override {
        if (self >= arriving) {
            turnstile_.wait(arriving, parking, Never{});
            left_.arrive(1);
            return;
        }
        for (std::uint64_t phase = 1; phase <= 3; ++phase) {
            tolls_.pay(self, phase);
            // The third phase cannot help those who overslept the first.
            if (self == 1 && phase == 3) left_.wait(left_.arrive(1), parking, Never{});
            turnstile_.wait(turnstile_.arrive(1), parking, Never{});
            tolls_.check(phase);
        }
    }

private:
    static constexpr unsigned arriving = 2;

    Turnstile<RelacySync> turnstile_{arriving};
    Tolls tolls_{arriving};
    Turnstile<RelacySync> left_;  ///< of the bystanders, and the second of those who arrive
};

/// Scenarios with two threads that arrive and so many that do not.
inline MakeScenario make_bystanders(unsigned bystanders) {
    return [bystanders]() -> std::unique_ptr<Scenario> { return std::make_unique<BystanderScenario>(bystanders); };
}

}  // namespace tollbar::model
