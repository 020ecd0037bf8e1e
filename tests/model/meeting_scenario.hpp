// SPDX-License-Identifier: Apache-2.0
// Threads that go through Python's barrier for a few phases, paying tolls, while one may break it: nobody passes a
// phase that was given up, and without that everybody passes.
#pragma once

#include "waiting/meeting.hpp"
#include "turnstile_scenario.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace tollbar::model {

enum class Breaking : std::uint8_t { nobody, gives_up, aborts, resets };

struct MeetingSettings {
    unsigned threads = 2;
    std::uint64_t phases = 2;
    WaitBudget budget = spinning;
    bool acts = false;                     ///< the last of a phase runs an action before the others go on
    Breaking breaking = Breaking::nobody;  ///< what the first thread does: gives up waiting, or breaks without arriving
};

class MeetingScenario : public Scenario {
public:
    explicit MeetingScenario(const MeetingSettings& settings)
        : settings_(settings), tolls_(settings.threads),
          meeting_(Meeting::make(memory_.data(), parties(), Scope::process)) {}
    ~MeetingScenario() override { meeting_->~Meeting(); }

    void run(unsigned self) override {
        if (self == 0 && settings_.breaking == Breaking::aborts) return meeting_->abort();
        if (self == 0 && settings_.breaking == Breaking::resets) return meeting_->reset();
        for (std::uint64_t phase = 1; phase <= settings_.phases; ++phase) {
            tolls_.pay(self, phase);
            std::optional<std::uint32_t> met = meet(self);
            while (!met && settings_.breaking == Breaking::resets) met = meet(self);
            if (!met) return;
            if (!outsider()) tolls_.check(phase);
            if (settings_.acts) {
                const std::uint64_t acted = acted_(RL_INFO);
                RL_ASSERT(acted == *met + 1);
            }
        }
    }

private:
    using Meeting = BasicMeeting<RelacySync>;
    static constexpr std::size_t most_phases = 8;

    /// Whether the first thread is none of the parties.
    bool outsider() const { return settings_.breaking == Breaking::aborts || settings_.breaking == Breaking::resets; }
    unsigned parties() const { return settings_.threads - (outsider() ? 1 : 0); }

    /// The number of the phase that was passed; nothing when it was broken.
    std::optional<std::uint32_t> meet(unsigned self) {
        for (;;) {
            const auto arrival = meeting_->arrive(settings_.acts, 0);
            bool passed = true;
            if (arrival.place == Meeting::Place::broken) return std::nullopt;
            if (arrival.place == Meeting::Place::outside) {
                wait(arrival.target, Never{});
                continue;
            }
            if (arrival.place == Meeting::Place::waiting) {
                if (self == 0 && settings_.breaking == Breaking::gives_up && !wait(arrival.target, Sometime{}) &&
                    meeting_->give_up(arrival.phase))
                    tell(arrival.phase, false);
                wait(arrival.target, Never{});
                passed = meeting_->passed(arrival.phase);
            } else if (settings_.acts) {
                acted_(RL_INFO) = arrival.phase + 1;
                passed = meeting_->end(arrival.phase, true);
            }
            RL_ASSERT(passed || settings_.breaking != Breaking::nobody);
            if (!passed) return std::nullopt;
            tell(arrival.phase, true);
            return arrival.phase;
        }
    }

    /// A phase is passed or given up, never both.
    void tell(std::uint32_t phase, bool passed) {
        std::optional<bool>& told = passed_[phase % most_phases];
        RL_ASSERT(!told || *told == passed);
        told = passed;
    }

    template <class Deadline>
    bool wait(std::uint64_t target, Deadline deadline) {
        return detail::wait<RelacySync>(AwaitedEnd<Meeting>{*meeting_, target}, settings_.budget, deadline);
    }

    const MeetingSettings& settings_;
    alignas(Meeting) std::array<std::byte, sizeof(Meeting) + max_threads * sizeof(std::atomic<pid_t>)> memory_;
    Tolls tolls_;
    rl::var<std::uint64_t> acted_;
    std::array<std::optional<bool>, most_phases> passed_{};
    Meeting* meeting_;
};

inline MakeScenario make_meetings(const MeetingSettings& settings) {
    return [settings]() -> std::unique_ptr<Scenario> { return std::make_unique<MeetingScenario>(settings); };
}

}  // namespace tollbar::model
