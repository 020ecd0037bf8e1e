// SPDX-License-Identifier: Apache-2.0
// The C++ door to ranked barriers: decides what a group runs, and makes or opens its memory.
#include <tollbar/crowding.hpp>
#include <tollbar/environment.hpp>
#include <tollbar/participant.hpp>
#include <tollbar/tuning.hpp>

#include "mechanism.hpp"
#include "transports/threads/segment.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>

namespace tollbar {

namespace {

/// Whether a group of that many ranks can run what somebody wished for outside the program; if not, who wished is
/// named on stderr, the first time.
bool can_run(const std::string& plan, Rank ranks, std::uint32_t cpus, const std::string& who, std::once_flag& said) {
    try {
        lay_out_spelled(plan, ranks, cpus);
        return true;
    } catch (const std::invalid_argument& error) {
        std::call_once(said,
                       [&] { std::fprintf(stderr, "tollbar: %s: %s; choosing a plan\n", who.c_str(), error.what()); });
        return false;
    }
}

/// TOLLBAR_PLAN if it can be run, else "".
std::string plan_from_environment(Rank ranks, std::uint32_t cpus) {
    static std::once_flag said;
    const char* value = std::getenv("TOLLBAR_PLAN");
    const std::string plan = value == nullptr ? "" : value;
    return plan.empty() || can_run(plan, ranks, cpus, "TOLLBAR_PLAN", said) ? plan : "";
}

/// What was tuned for the situation if it can be run, else the default.
Choice choice_for(const Situation& situation) {
    static std::once_flag said;
    const auto tuned = tuned_choice(situation);
    if (tuned && can_run(tuned->plan, situation.ranks, situation.cpus, tuning_file(), said)) return *tuned;
    return default_choice(situation);
}

Choice choose(Rank ranks, std::uint32_t cpus, const group_options& options) {
    const std::string wait{name_of(options.wait)};
    if (!options.plan.empty()) return {options.plan, wait};
    if (std::string plan = plan_from_environment(ranks, cpus); !plan.empty()) return {plan, wait};
    const Situation situation{.ranks = ranks, .cpus = cpus, .pinned = affinity().count() == 1};
    Choice choice = choice_for(situation);
    if (options.wait != wait_policy::automatic) choice.wait = wait;
    return choice;
}

/// What the user said in the program, else in TOLLBAR_WAIT, else what was chosen.
wait_policy policy_for(const group_options& options, const Choice& choice) {
    if (options.wait != wait_policy::automatic) return options.wait;
    const wait_policy from_environment = wait_policy_from_environment();
    if (from_environment != wait_policy::automatic) return from_environment;
    return wait_policy_named(choice.wait).value_or(wait_policy::automatic);
}

Blueprint blueprint_for(Rank ranks, const group_options& options, Scope scope) {
    const std::uint32_t cpus = usable_cpus();
    const Choice choice = choose(ranks, cpus, options);
    return {.layout = lay_out_spelled(choice.plan, ranks, cpus),
            .plan = choice.plan,
            .ranks = ranks,
            .wait = policy_for(options, choice),
            .scope = scope};
}

}  // namespace

group::group(Rank ranks, const group_options& options)
    : segment_(std::make_shared<Segment>(blueprint_for(ranks, options, options.scope))) {}

group group::open(std::string_view name, Rank ranks, const group_options& options) {
    return group(std::make_shared<Segment>(name, blueprint_for(ranks, options, Scope::shared), options.plan.empty()));
}

participant group::join(Rank rank) { return participant(segment_, rank); }

Rank group::ranks() const noexcept { return segment_->ranks(); }

std::string group::plan() const { return segment_->plan(); }

std::vector<absent> group::missing() const { return segment_->missing(segment_->latest()); }

}  // namespace tollbar
