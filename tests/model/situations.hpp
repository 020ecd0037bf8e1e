// SPDX-License-Identifier: Apache-2.0
// The situations in which originals must pass and mutants must be caught.
#pragma once

#include "bystander_scenario.hpp"
#include "gate_scenario.hpp"
#include "handshake_scenario.hpp"
#include "meeting_scenario.hpp"
#include "runner_scenario.hpp"
#include "team_scenario.hpp"
#include "turnstile_scenario.hpp"

#include <tollbar/algorithms.hpp>

#include <map>
#include <stdexcept>
#include <string>

namespace tollbar::model {

/// How hard to look, at an original and at its mutants alike.
inline constexpr Effort thorough{Search::random, 50'000};

struct Situation {
    unsigned threads;
    MakeScenario make;
};

inline const std::map<std::string, Situation>& situations() {
    static Waits waits;
    static const std::map<std::string, Situation> all = [] {
        const Layout pair = lay_out(make_plan("dissemination", 2));
        const Layout three = lay_out(make_plan("dissemination", 3));
        const Layout combination = lay_out(make_plan("combination:2", 4));
        const TurnstileSettings spin{.threads = 3, .phases = 3, .budget = spinning};
        const TurnstileSettings park{.threads = 3, .phases = 3, .budget = parking};
        const TurnstileSettings poll{.threads = 3, .phases = 3, .poll = true};
        const TurnstileSettings yield_giving_up{
            .threads = 3, .phases = 3, .budget = yielding, .giving_up = max_threads};
        const TurnstileSettings leave{.threads = 3, .phases = 3, .budget = parking, .leaving = 2};
        const TurnstileSettings four{.threads = 4, .phases = 3, .budget = parking};
        const TurnstileSettings one_giving_up{.threads = 4, .phases = 3, .budget = parking, .giving_up = 1};
        using Settings = RunnerSettings;
        return std::map<std::string, Situation>{
            {"spinning", {3, make(Settings{.layout = three})}},
            {"polling", {3, make(Settings{.layout = three, .walk = Walk::advance})}},
            {"parking", {2, make(Settings{.layout = pair, .policy = wait_policy::park, .waking = full_fences})}},
            {"parking_asymmetric",
             {2, make(Settings{.layout = pair, .policy = wait_policy::park, .waking = asymmetric_fences})}},
            {"handshake", {2, make(HandshakeSettings{.waking = full_fences})}},
            {"handshake_asymmetric", {2, make(HandshakeSettings{.waking = asymmetric_fences})}},
            {"yielding_giving_up",
             {2, make(Settings{.layout = pair, .policy = wait_policy::yield, .walk = Walk::give_up, .waits = &waits})}},
            {"parking_giving_up",
             {2, make(Settings{.layout = pair,
                               .policy = wait_policy::park,
                               .waking = full_fences,
                               .walk = Walk::give_up,
                               .waits = &waits})}},
            {"one_word_spinning", {3, make(Settings{.layout = lay_out(make_plan("turnstile", 3))})}},
            {"one_word_parking",
             {3,
              make(Settings{
                  .layout = lay_out(make_plan("turnstile", 3)), .policy = wait_policy::park, .waking = full_fences})}},
            {"combination_spinning", {4, make(Settings{.layout = combination})}},
            {"combination_parking",
             {4, make(Settings{.layout = combination, .policy = wait_policy::park, .waking = asymmetric_fences})}},
            {"turnstile_spinning", {3, make(spin)}},
            {"turnstile_step_spinning", {3, make<Closing::step>(spin)}},
            {"turnstile_polling", {3, make(poll)}},
            {"turnstile_parking", {3, make(park)}},
            {"turnstile_step_parking", {3, make<Closing::step>(park)}},
            {"turnstile_yielding_giving_up", {3, make(yield_giving_up)}},
            {"turnstile_four_parking", {4, make(four)}},
            {"turnstile_one_giving_up", {4, make(one_giving_up)}},
            {"leaves_spinning", {4, make_leaves({.threads = 4, .phases = 2, .budget = spinning})}},
            {"leaves_polling", {3, make_leaves(poll)}},
            {"leaves_parking", {3, make_leaves(park)}},
            {"leaves_leaving", {4, make_leaves({.threads = 4, .phases = 3, .budget = parking, .leaving = 2})}},
            {"leaves_arriving_for_two",
             {3, make_leaves({.threads = 3, .phases = 2, .budget = spinning, .arrivals_of_first = 2})}},
            {"gate_spinning", {3, make_gates<Scope::process>({.threads = 3, .budget = spinning})}},
            {"gate_parking",
             {3, make_gates<Scope::process>({.threads = 3, .budget = parking, .first_destroys = true})}},
            {"leaves_gate_spinning", {4, make_gates_at_leaves({.threads = 4, .budget = spinning})}},
            {"leaves_gate_parking",
             {3, make_gates_at_leaves({.threads = 3, .budget = parking, .first_destroys = true})}},
            {"shared_gate_spinning", {3, make_gates<Scope::shared>({.threads = 3, .budget = spinning})}},
            {"shared_gate_parking",
             {3, make_gates<Scope::shared>({.threads = 3, .budget = parking, .first_destroys = true})}},
            {"meeting_spinning", {3, make_meetings({.threads = 3, .budget = spinning})}},
            {"meeting_parking", {3, make_meetings({.threads = 3, .budget = parking})}},
            {"meeting_acting", {3, make_meetings({.threads = 3, .budget = parking, .acts = true})}},
            {"meeting_giving_up",
             {3, make_meetings({.threads = 3, .budget = yielding, .breaking = Breaking::gives_up})}},
            {"meeting_aborted", {3, make_meetings({.threads = 3, .budget = parking, .breaking = Breaking::aborts})}},
            {"turnstile_bystanders", {4, make_bystanders(2)}},
            {"team_spinning", {3, make(TeamSettings{.threads = 3, .barriers = 3, .budget = spinning})}},
            {"team_parking", {3, make(TeamSettings{.threads = 3, .barriers = 3, .budget = parking})}},
            {"team_helped", {2, make(TeamSettings{.threads = 2, .barriers = 2, .budget = parking, .helped = true})}},
            {"leaves_team_spinning",
             {3, make(TeamSettings{.threads = 3, .barriers = 3, .budget = spinning, .leaves = true})}},
            {"leaves_team_helped",
             {4, make(TeamSettings{.threads = 4, .barriers = 2, .budget = parking, .leaves = true, .helped = true})}},
            {"turnstile_leaving", {3, make(leave)}},
            {"turnstile_step_leaving", {3, make<Closing::step>(leave)}},
        };
    }();
    return all;
}

/// Throws std::out_of_range when there is none of that name.
inline const Situation& situation_named(const std::string& name) {
    const auto found = situations().find(name);
    if (found == situations().end()) throw std::out_of_range("no situation is called " + name);
    return found->second;
}

}  // namespace tollbar::model
