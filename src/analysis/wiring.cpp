// SPDX-License-Identifier: Apache-2.0
// Joins every signal with the await it meets, and finds the signals and awaits that meet nothing.
#include "wiring.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace tollbar {

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

Wiring lay_out(const Plan& plan) {
    Wiring wiring;
    wiring.ranks = plan.ranks();
    wiring.first.reserve(plan.ranks() + std::size_t{1});
    wiring.first.push_back(0);
    // Room that is not used costs nothing, and moving millions of steps does. Rank 0 is the root where there is one.
    constexpr std::size_t usual = 64;
    wiring.steps.reserve(plan.ranks() * std::min(usual, plan.program(plan.ranks() / 2).size() + 2));
    for (Rank self = 0; self < plan.ranks(); ++self) {
        const Program program = plan.program(self);
        if (program.size() >= std::numeric_limits<Index>::max() - wiring.steps.size())
            throw std::invalid_argument("'" + plan.name() + "' has 2^32 steps or more");
        wiring.steps.insert(wiring.steps.end(), program.begin(), program.end());
        wiring.first.push_back(static_cast<Index>(wiring.steps.size()));
        for (const Step step : program)
            if (step.peer == self || step.peer >= plan.ranks()) note(wiring.fault, Fault::bad_peer, self, step.peer);
    }
    return wiring;
}

struct Expected {
    Rank from;
    Index message;
};

/// The awaits of each rank in the order of the senders they name. What a search looks at lies together: most of the
/// time of a large plan goes into finding awaits.
struct Expectations {
    std::vector<Index> first;  // as Wiring::first
    std::vector<Expected> awaits;
};

Expectations expectations(Wiring& wiring) {
    Expectations expected;
    expected.first.reserve(wiring.first.size());
    for (Rank self = 0; self < wiring.ranks; ++self) {
        expected.first.push_back(static_cast<Index>(expected.awaits.size()));
        for (Index step = wiring.first[self]; step < wiring.first[self + 1]; ++step) {
            if (!is_await(wiring.steps[step])) continue;
            expected.awaits.push_back({wiring.steps[step].peer, wiring.messages});
            wiring.message[step] = wiring.messages++;
        }
        const std::span own(expected.awaits.begin() + expected.first.back(), expected.awaits.end());
        if (!std::ranges::is_sorted(own, {}, &Expected::from)) std::ranges::sort(own, {}, &Expected::from);
        const auto twice = std::ranges::adjacent_find(own, {}, &Expected::from);
        if (twice != own.end()) note(wiring.fault, Fault::channel_twice, twice->from, self);
    }
    expected.first.push_back(static_cast<Index>(expected.awaits.size()));
    return expected;
}

void join(Wiring& wiring, const Expectations& expected) {
    std::vector<bool> met(wiring.messages);
    std::vector<std::pair<Rank, Rank>> strays;  // (to, from) of signals that found no await left
    for (Rank self = 0; self < wiring.ranks; ++self)
        for (Index step = wiring.first[self]; step < wiring.first[self + 1]; ++step) {
            if (!is_signal(wiring.steps[step])) continue;
            const Rank to = wiring.steps[step].peer;
            const auto begin = expected.awaits.begin() + expected.first[to];
            const auto end = expected.awaits.begin() + expected.first[to + 1];
            const auto await = std::ranges::lower_bound(begin, end, self, {}, &Expected::from);
            if (await == end || await->from != self) {
                strays.emplace_back(to, self);
                continue;
            }
            const Index message = await->message;
            wiring.message[step] = message;
            if (met[message]) note(wiring.fault, Fault::channel_twice, self, to);
            met[message] = true;
        }

    std::ranges::sort(strays);
    if (const auto twice = std::ranges::adjacent_find(strays); twice != strays.end())
        note(wiring.fault, Fault::channel_twice, twice->second, twice->first);
    if (!strays.empty()) note(wiring.fault, Fault::unawaited, strays.front().second, strays.front().first);

    for (Rank self = 0; self < wiring.ranks; ++self)
        for (Index i = expected.first[self]; i < expected.first[self + 1]; ++i)
            if (const Expected& one = expected.awaits[i]; !met[one.message])
                note(wiring.fault, Fault::unsignalled, one.from, self);
}

}  // namespace

Wiring wire(const Plan& plan) {
    Wiring wiring = lay_out(plan);
    if (wiring.fault.holds()) {
        wiring.message.resize(wiring.steps.size());
        const Expectations expected = expectations(wiring);
        join(wiring, expected);
    }
    wiring.fault.operations = wiring.steps.size();
    return wiring;
}

}  // namespace tollbar
