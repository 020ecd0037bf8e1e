// SPDX-License-Identifier: Apache-2.0
// Joins every signal with the await it meets, and finds the signals and awaits that meet nothing.
#include "matching.hpp"

#include "plan/roles.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace tollbar::detail {

namespace {

using Fault = Verdict::Fault;

void note(Verdict& verdict, Fault fault, Rank from, Rank to) {
    const auto order = [](Fault f, Rank t, Rank s) { return std::tuple(f, t, s); };
    if (verdict.holds() || order(fault, to, from) < order(verdict.fault, verdict.to, verdict.from)) {
        verdict.fault = fault;
        verdict.from = from;
        verdict.to = to;
    }
}

/// The last signals of a role's word leave together.
void note_together(std::vector<bool>& together, const Program& program) {
    const auto closing = std::find_if(program.rbegin(), program.rend(), is_await).base();
    for (auto step = program.begin(); step != program.end(); ++step) together.push_back(step > closing);
}

Matching lay_out(const Plan& plan) {
    Matching matching;
    matching.ranks = plan.ranks();
    matching.members = plan.members();
    matching.first.reserve(plan.members() + std::size_t{1});
    matching.first.push_back(0);
    // Room that is not used costs nothing, and moving millions of steps does. Rank 0 is the root where there is one.
    constexpr std::size_t usual = 64;
    matching.steps.reserve(plan.ranks() * std::min(usual, plan.program(plan.ranks() / 2).size() + 2));
    for (Rank index = 0; index < plan.members(); ++index) {
        const Rank self = plan.member_at(index);
        const Program program = plan.program(self);
        if (program.size() >= std::numeric_limits<Index>::max() - matching.steps.size())
            throw std::invalid_argument("'" + plan.name() + "' has 2^32 steps or more");
        for (const Step step : program) {
            const Rank peer = plan.index_of(step.peer);
            if (peer == index || peer >= plan.members()) note(matching.fault, Fault::bad_peer, self, step.peer);
            matching.steps.push_back({step.kind, peer});
        }
        matching.first.push_back(static_cast<Index>(matching.steps.size()));
        if (is_role(self)) note_together(matching.together, program);
    }
    return matching;
}

struct Expected {
    Rank from;
    Index message;
};

/// The awaits of each member in the order of the senders they name. Data that a search reads lies together: most of the
/// time of a large plan goes into finding awaits.
struct Expectations {
    std::vector<Index> first;  // as Matching::first
    std::vector<Expected> awaits;
};

Expectations expectations(const Plan& plan, Matching& matching) {
    Expectations expected;
    expected.first.reserve(matching.first.size());
    for (Rank self = 0; self < matching.members; ++self) {
        expected.first.push_back(static_cast<Index>(expected.awaits.size()));
        for (Index step = matching.first[self]; step < matching.first[self + 1]; ++step) {
            if (!is_await(matching.steps[step])) continue;
            expected.awaits.push_back({matching.steps[step].peer, matching.messages});
            matching.message[step] = matching.messages++;
        }
        const std::span own(expected.awaits.begin() + expected.first.back(), expected.awaits.end());
        if (!std::ranges::is_sorted(own, {}, &Expected::from)) std::ranges::sort(own, {}, &Expected::from);
        const auto twice = std::ranges::adjacent_find(own, {}, &Expected::from);
        if (twice != own.end())
            note(matching.fault, Fault::channel_twice, plan.member_at(twice->from), plan.member_at(self));
    }
    expected.first.push_back(static_cast<Index>(expected.awaits.size()));
    return expected;
}

void join(const Plan& plan, Matching& matching, const Expectations& expected) {
    const auto fault = [&](Fault kind, Rank from, Rank to) {
        note(matching.fault, kind, plan.member_at(from), plan.member_at(to));
    };
    std::vector<bool> met(matching.messages);
    std::vector<std::pair<Rank, Rank>> strays;  // (to, from) of signals that found no await left
    for (Rank self = 0; self < matching.members; ++self)
        for (Index step = matching.first[self]; step < matching.first[self + 1]; ++step) {
            if (!is_signal(matching.steps[step])) continue;
            const Rank to = matching.steps[step].peer;
            const auto begin = expected.awaits.begin() + expected.first[to];
            const auto end = expected.awaits.begin() + expected.first[to + 1];
            const auto await = std::ranges::lower_bound(begin, end, self, {}, &Expected::from);
            if (await == end || await->from != self) {
                strays.emplace_back(to, self);
                continue;
            }
            const Index message = await->message;
            matching.message[step] = message;
            if (met[message]) fault(Fault::channel_twice, self, to);
            met[message] = true;
        }

    std::ranges::sort(strays);
    if (const auto twice = std::ranges::adjacent_find(strays); twice != strays.end())
        fault(Fault::channel_twice, twice->second, twice->first);
    if (!strays.empty()) fault(Fault::unawaited, strays.front().second, strays.front().first);

    for (Rank self = 0; self < matching.members; ++self)
        for (Index i = expected.first[self]; i < expected.first[self + 1]; ++i)
            if (const Expected& one = expected.awaits[i]; !met[one.message]) fault(Fault::unsignalled, one.from, self);
}

/// Notes the first role that has no members, so that none can play it.
void note_unplayed(const Plan& plan, Matching& matching) {
    const auto program_of = [&](Rank member) {
        return std::span(matching.steps)
            .subspan(matching.first[member], matching.first[member + 1] - matching.first[member]);
    };
    for (Rank self = plan.ranks(); self < plan.members(); ++self)
        if (parts_of(self, {.of = program_of, .first_role = matching.ranks}).members.empty())
            note(matching.fault, Fault::unplayed, plan.member_at(self), plan.member_at(self));
}

}  // namespace

Matching match(const Plan& plan) {
    Matching matching = lay_out(plan);
    if (matching.fault.holds()) {
        matching.message.resize(matching.steps.size());
        const Expectations expected = expectations(plan, matching);
        join(plan, matching, expected);
        note_unplayed(plan, matching);
    }
    matching.fault.operations = matching.steps.size();
    return matching;
}

}  // namespace tollbar::detail
