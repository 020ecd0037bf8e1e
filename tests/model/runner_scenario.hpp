// SPDX-License-Identifier: Apache-2.0
// A group of ranks that run a layout for a few episodes in the model checker, paying tolls.
#pragma once

#include "relacy_sync.hpp"

#include "transports/words/layout.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace tollbar::model {

/// How a rank goes through its episode.
enum class Walk : std::uint8_t {
    finish,   ///< waits
    advance,  ///< polls, with something else to do between
    give_up,  ///< waits with deadlines that may pass, up to twice an episode, then without
};

/// How often a wait with a deadline ended which way, over all interleavings.
struct Waits {
    std::uint64_t in_time = 0;
    std::uint64_t gave_up = 0;
};

struct RunnerSettings {
    Layout layout;
    std::uint64_t episodes = 2;
    wait_policy policy = wait_policy::spin;
    Waking waking = {.scope = Scope::process, .parks = false, .asymmetric = false};
    Walk walk = Walk::finish;
    Waits* waits = nullptr;
};

class RunnerScenario : public Scenario {
public:
    explicit RunnerScenario(const RunnerSettings& settings) : settings_(settings), tolls_(ranks()) {
        const Layout& layout = settings.layout;
        sleepers_.resize(layout.sleepers);
        for (auto& sleepers : sleepers_) sleepers = std::make_unique<Sleepers<RelacySync>>();
        for (const PlacedStep& step : layout.steps) {
            auto& word = words_[step.word];
            if (!word) word = std::make_unique<Word<RelacySync>>();
            steps_.push_back({.word = word.get(),
                              .sleepers = sleepers_[step.sleepers].get(),
                              .share = step.share,
                              .skip = step.skip,
                              .kind = step.kind,
                              .between_processors = step.between_processors});
        }
    }

    void run(unsigned self) override {
        const std::uint32_t first = settings_.layout.first[self];
        Runner<Words<RelacySync>> runner(steps_.data() + first, settings_.layout.first[self + 1] - first, 0,
                                         {settings_.policy, settings_.waking, occupancy_});
        for (std::uint64_t episode = 1; episode <= settings_.episodes; ++episode) {
            tolls_.pay(self, episode);
            runner.start();
            walk(runner);
            tolls_.check(episode);
        }
    }

private:
    unsigned ranks() const { return static_cast<unsigned>(settings_.layout.first.size() - 1); }

    void walk(Runner<Words<RelacySync>>& runner) {
        switch (settings_.walk) {
            case Walk::finish: break;
            case Walk::advance:
                while (!runner.advance()) RelacySync::yield();
                return;
            case Walk::give_up:
                for (int tries = 0; tries < 2; ++tries) {
                    const bool over = runner.finish(Sometime{});
                    ++(over ? settings_.waits->in_time : settings_.waits->gave_up);
                    if (over) return;
                }
                break;
        }
        RL_ASSERT(runner.finish(Never{}));
    }

    const RunnerSettings& settings_;
    std::map<std::uint32_t, std::unique_ptr<Word<RelacySync>>> words_;
    std::vector<std::unique_ptr<Sleepers<RelacySync>>> sleepers_;
    std::vector<WordStep<RelacySync>> steps_;
    RelacySync::Atomic<Occupancy> occupancy_{Occupancy::oversubscribed};
    Tolls tolls_;
};

/// Scenarios of these settings.
inline MakeScenario make(RunnerSettings settings) {
    return [settings = std::move(settings)]() -> std::unique_ptr<Scenario> {
        return std::make_unique<RunnerScenario>(settings);
    };
}

/// Waking for ranks that may sleep.
inline constexpr Waking full_fences{.scope = Scope::process, .parks = true, .asymmetric = false};
inline constexpr Waking asymmetric_fences{.scope = Scope::process, .parks = true, .asymmetric = true};

}  // namespace tollbar::model
