// SPDX-License-Identifier: Apache-2.0
// The C++ door to ranked barriers: decides what a group runs, and makes or opens its memory.
#include <tollbar/algorithms.hpp>
#include <tollbar/detail/cpus.hpp>
#include <tollbar/participant.hpp>

#include "algorithms/processors.hpp"
#include "base/environment.hpp"
#include "base/say.h"
#include "transports/words/segment.hpp"
#include "tuner/tuning.hpp"

#include <stdexcept>

namespace tollbar {

using namespace detail;

namespace {

/// Throws std::invalid_argument that says what was wrong and what is accepted.
Layout layout_of(std::string_view spelling, Rank ranks, std::uint32_t cpus, RolesAre roles) {
    if (const std::string_view elsewhere = runs_on(spelling); !elsewhere.empty())
        throw std::invalid_argument("plan '" + std::string(spelling) + "' runs on " + std::string(elsewhere) +
                                    ", not between threads or processes of a host");
    return lay_out(make_plan(on_processors(spelling, ranks, cpus), ranks), Player::last, roles);
}

/// Why a group of that many ranks cannot run it; "" when it can.
std::string fault_of(const std::string& plan, Rank ranks, std::uint32_t cpus) {
    try {
        layout_of(plan, ranks, cpus, RolesAre::groups);
        return "";
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

/// TOLLBAR_PLAN if it can be run, else "".
std::string plan_from_environment(Rank ranks, std::uint32_t cpus) {
    std::string plan = environment::plan();
    const std::string fault = plan.empty() ? "" : fault_of(plan, ranks, cpus);
    if (!fault.empty()) environment::refuse_plan(fault);
    return fault.empty() ? plan : "";
}

/// The choice that was tuned for the situation if it can be run, else the default.
Choice choice_for(const Situation& situation) {
    const auto tuned = tuned_choice(situation);
    const std::string fault = tuned ? fault_of(tuned->plan, situation.ranks, situation.cpus) : "";
    if (tuned && fault.empty()) return *tuned;
    if (tuned)
        tollbar_say_once("tuned plan of a group", "%s: %s; choosing a plan", environment::tuning_file().c_str(),
                         fault.c_str());
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

/// The policy that the program names, else TOLLBAR_WAIT's, else the one that was chosen.
wait_policy policy_for(const group_options& options, const Choice& choice) {
    if (options.wait != wait_policy::automatic) return options.wait;
    const wait_policy from_environment = environment::wait();
    if (from_environment != wait_policy::automatic) return from_environment;
    return wait_policy_named(choice.wait).value_or(wait_policy::automatic);
}

/// A cluster's ranks have a CPU each, so the player of its role keeps no other rank from one.
RolesAre roles_in(const Choice& choice) {
    return choice.groups == 0 && roles_are_processors(choice.plan) ? RolesAre::processors : RolesAre::groups;
}

Blueprint blueprint_for(Rank ranks, const group_options& options, Scope scope) {
    const std::uint32_t cpus = usable_cpus();
    const Choice choice = choose(ranks, cpus, options);
    return {.layout = layout_of(choice.plan, ranks, cpus, roles_in(choice)),
            .plan = choice.plan,
            .ranks = ranks,
            .wait = policy_for(options, choice),
            .scope = scope,
            .slot_groups = {.groups = choice.groups, .neighbours = choice.neighbours}};
}

/// Says what the group runs, where that is wanted.
void announce(const Segment& segment) {
    if (environment::verbosity() > 0)
        tollbar_say("%s (%u ranks): %s", segment.what().c_str(), static_cast<unsigned>(segment.ranks()),
                    segment.plan().c_str());
}

}  // namespace

group::group(Rank ranks, const group_options& options)
    : segment_(std::make_shared<Segment>(blueprint_for(ranks, options, options.scope))) {
    announce(*segment_);
}

group group::open(std::string_view name, Rank ranks, const group_options& options) {
    auto segment = std::make_shared<Segment>(name, blueprint_for(ranks, options, Scope::shared), options.plan.empty());
    announce(*segment);
    return group(std::move(segment));
}

participant group::join(Rank rank) { return participant(segment_, rank); }

Rank group::ranks() const noexcept { return segment_->ranks(); }

std::string group::plan() const { return segment_->plan(); }

std::vector<absent> group::missing() const { return segment_->missing(segment_->latest()); }

}  // namespace tollbar
