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
#include <stdexcept>

namespace tollbar {

namespace {

/// TOLLBAR_PLAN if a group of that many ranks can run it; said once on stderr if not.
std::string plan_from_environment(Rank ranks, std::uint32_t cpus) {
    const char* value = std::getenv("TOLLBAR_PLAN");
    if (value == nullptr || *value == '\0') return "";
    try {
        lay_out_spelled(value, ranks, cpus);
        return value;
    } catch (const std::invalid_argument& error) {
        static const bool said = std::fprintf(stderr, "tollbar: TOLLBAR_PLAN: %s; choosing one\n", error.what()) > 0;
        static_cast<void>(said);
        return "";
    }
}

Choice choose(Rank ranks, std::uint32_t cpus, const group_options& options) {
    const std::string wait{name_of(options.wait)};
    if (!options.plan.empty()) return {options.plan, wait};
    if (std::string plan = plan_from_environment(ranks, cpus); !plan.empty()) return {plan, wait};
    const Situation situation{.ranks = ranks, .cpus = cpus, .pinned = affinity().count() == 1};
    Choice choice = tuned_choice(situation).value_or(default_choice(situation));
    if (options.wait != wait_policy::automatic) choice.wait = wait;
    return choice;
}

/// What the user said in the program, else in TOLLBAR_WAIT, else what was chosen.
wait_policy policy_for(const group_options& options, const Choice& choice) {
    if (options.wait != wait_policy::automatic) return options.wait;
    static const wait_policy from_environment = wait_policy_from_environment();
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
