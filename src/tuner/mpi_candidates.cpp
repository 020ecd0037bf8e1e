// SPDX-License-Identifier: Apache-2.0
// Prices what can run in a communicator: by LogP where every rank has a CPU, by the work to be done where not.
#include "mpi_candidates.hpp"

#include "waiting/topology.hpp"

#include <tollbar/algorithms.hpp>

#include <algorithm>
#include <set>
#include <string_view>

namespace tollbar::detail {

namespace {

/// A wait that gives the CPU to another rank: two system calls and what the caches forget.
constexpr double switch_us = 1.0;

/// Up to this number of ranks plans are compared word by word.
constexpr Rank compared = 64;

double by_objective(const Price& price, std::string_view objective) {
    if (objective == "skew") return price.last_us - price.first_us;
    if (objective == "wait") return price.mean_us;
    return price.last_us;
}

/// The number of waits of all ranks together.
std::uint64_t waits(const Plan& plan) {
    std::uint64_t count = 0;
    for (Rank rank = 0; rank < plan.ranks(); ++rank) {
        bool awaited = false;
        for (const Step step : plan.program(rank)) {
            if (is_await(step) && !awaited) ++count;
            awaited = is_await(step);
        }
    }
    return count;
}

/// The catalogue's spellings that are worth a try, with their families.
std::vector<std::pair<std::string, std::string>> spellings() {
    std::vector<std::pair<std::string, std::string>> all;
    for (const Algorithm& algorithm : catalogue()) {
        if (algorithm.has_roles() || !algorithm.runs_everywhere()) continue;
        const std::string name(algorithm.name);
        all.emplace_back(name, name);
        if (algorithm.parameters == "W")
            for (const char* ways : {":2", ":3"}) all.emplace_back(name + ways, name);
        if (algorithm.parameters == "N" || algorithm.parameters == "F")
            for (const char* arity : {":2", ":8"}) all.emplace_back(name + arity, name);
    }
    return all;
}

/// Ranks of a node that meet at one word. A step of a plan moves a line twice, away from who polls it and back: that is
/// L. Here the last add is the first of the two.
struct Turnstile {
    double last_us;
    double first_us;
    double work_us;
};

Turnstile turnstile(Rank members, const MpiTransports& transports) {
    if (members < 2) return {};
    const LogP& words = transports.words;
    const double gathered = members * (members <= transports.one_word ? words.g : transports.word_apart_us) + words.o;
    return {.last_us = gathered + words.L / 2 + words.o,
            .first_us = gathered,
            .work_us = (members - 1) * switch_us + members * words.o};
}

/// Every plan between `ranks` ranks over one transport, unless its words are there under another name.
void add_plans(std::vector<MpiCandidate>& candidates, const MpiSituation& situation, const LogP& logp, Rank ranks,
               const std::string& prefix, const Turnstile& around) {
    const bool skew = situation.objective == "skew";
    std::set<std::string> seen;
    for (const auto& [spelling, family] : spellings()) {
        const Plan plan = make_plan(spelling, ranks);
        if (ranks <= compared && !seen.insert(to_text(plan)).second) continue;
        const Price run = price(plan, logp);
        const double work = (static_cast<double>(run.messages) * (logp.o_s() + logp.receiver_us()) +
                             static_cast<double>(waits(plan)) * switch_us) /
                                situation.nodes +
                            around.work_us;
        const double time = by_objective(run, situation.objective) +
                            (skew ? around.last_us - around.first_us : around.last_us);
        candidates.push_back({prefix + spelling, prefix + family, situation.crowded ? work : time, work});
    }
}

}  // namespace

MpiTransports here(MpiTransports transports) {
    // One word of many threads, simulated: 75 to 95 ns each where it goes from cache to cache, 43 within a large one.
    transports.one_word = topology().one_word;
    transports.word_apart_us = topology().caches ? 0.09 : 0.043;
    transports.cluster = topology().cores;
    return transports;
}

std::vector<MpiCandidate> mpi_candidates(const MpiSituation& situation, const MpiTransports& transports) {
    std::vector<MpiCandidate> candidates;
    const Turnstile at_a_word = turnstile(situation.per_node, transports);
    const bool one_node = situation.nodes == 1;
    if (one_node) {
        const double skew = at_a_word.last_us - at_a_word.first_us;
        const double time = situation.objective == "skew" ? skew : at_a_word.last_us;
        candidates.push_back(
            {"turnstile", "turnstile", situation.crowded ? at_a_word.work_us : time, at_a_word.work_us});
    }
    if (situation.ranks == 1) return candidates;

    // Ranks gather at a word before, and are released by another one after their first was elsewhere.
    const auto before_and_after = [&](Rank members) {
        Turnstile around = turnstile(members, transports);
        around.last_us += transports.words.L + 2 * transports.words.o;
        return around;
    };
    if (!one_node && situation.per_node > 1)
        add_plans(candidates, situation, transports.messages, situation.nodes, "turnstile/",
                  before_and_after(situation.per_node));
    if (one_node && !situation.crowded && situation.ranks > transports.cluster)
        add_plans(candidates, situation, transports.words, (situation.ranks - 1) / transports.cluster + 1,
                  "turnstile@" + std::to_string(transports.cluster) + '/', before_and_after(transports.cluster));
    // All ranks alike; where some steps of such a plan stay on a node, it costs less than this.
    add_plans(candidates, situation, one_node ? transports.words : transports.messages, situation.ranks, "", {});
    return candidates;
}

std::vector<std::string> in_order_of_trial(std::vector<MpiCandidate> candidates) {
    std::ranges::stable_sort(candidates, {}, &MpiCandidate::cost_us);
    std::vector<std::string> order;
    std::set<std::string> families;
    const auto take = [&](const MpiCandidate& candidate) {
        if (std::ranges::find(order, candidate.plan) != order.end()) return;
        order.push_back(candidate.plan);
        families.insert(candidate.family);
    };
    if (candidates.empty()) return order;
    take(candidates.front());
    take(*std::ranges::min_element(candidates, {}, &MpiCandidate::work_us));
    for (const MpiCandidate& candidate : candidates)
        if (!families.contains(candidate.family)) take(candidate);
    for (const MpiCandidate& candidate : candidates) take(candidate);
    return order;
}

}  // namespace tollbar::detail
