// SPDX-License-Identifier: Apache-2.0
// The same questions answered the slow and plain way, to compare with: a proof that keeps every set in full,
// and the on-arrival evaluation word for word as its rule is written down.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/price.hpp>
#include <tollbar/verify.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace naive {

using tollbar::LogP;
using tollbar::Plan;
using tollbar::Program;
using tollbar::Rank;
using tollbar::Step;
using tollbar::Verdict;

inline std::vector<Program> written_out(const Plan& plan) {
    std::vector<Program> programs;
    for (Rank rank = 0; rank < plan.ranks(); ++rank) programs.push_back(plan.program(rank));
    return programs;
}

/// The words of ranks and roles, with peers numbered in the same way: ranks, then roles.
inline std::vector<Program> of_members(const Plan& plan) {
    std::vector<Program> programs;
    for (Rank index = 0; index < plan.members(); ++index) {
        programs.push_back(plan.program(plan.member_at(index)));
        for (Step& step : programs.back()) step.peer = plan.index_of(step.peer);
    }
    return programs;
}

/// What each member has heard of when nobody can go on, and how far each came. Needs a plan whose channels are
/// used at most once.
struct Outcome {
    std::vector<std::set<Rank>> known;
    std::vector<std::size_t> steps;
};

inline Outcome run(const std::vector<Program>& programs, Rank ranks) {
    Outcome outcome{std::vector<std::set<Rank>>(programs.size()), std::vector<std::size_t>(programs.size())};
    std::map<std::pair<Rank, Rank>, std::set<Rank>> told;
    for (Rank rank = 0; rank < ranks; ++rank) outcome.known[rank].insert(rank);
    for (bool moved = true; moved;) {
        moved = false;
        for (Rank self = 0; self < programs.size(); ++self)
            while (outcome.steps[self] < programs[self].size()) {
                const Step step = programs[self][outcome.steps[self]];
                if (is_signal(step)) {
                    told[{self, step.peer}] = outcome.known[self];
                } else {
                    const auto message = told.find({step.peer, self});
                    if (message == told.end()) break;
                    outcome.known[self].insert(message->second.begin(), message->second.end());
                }
                ++outcome.steps[self];
                moved = true;
            }
    }
    return outcome;
}

/// The verdict on a plan without local faults.
inline Verdict verdict_on(const std::vector<Program>& programs, Rank ranks);
inline Verdict verdict_on(const std::vector<Program>& programs) {
    return verdict_on(programs, static_cast<Rank>(programs.size()));
}

inline Verdict verdict_on(const std::vector<Program>& programs, Rank ranks) {
    const Outcome outcome = run(programs, ranks);
    Verdict verdict;
    const auto found = [&](Verdict::Fault fault, Rank from, Rank to) {
        if (!verdict.holds()) return;
        verdict.fault = fault;
        verdict.from = from;
        verdict.to = to;
    };
    for (Rank to = 0; to < programs.size(); ++to)
        if (outcome.steps[to] < programs[to].size())
            found(Verdict::Fault::deadlock, programs[to][outcome.steps[to]].peer, to);
    for (Rank to = 0; to < ranks; ++to)
        for (Rank from = 0; from < ranks; ++from)
            if (!outcome.known[to].contains(from)) found(Verdict::Fault::unheard, from, to);
    return verdict;
}

/// Completion of each member under the on-arrival rule; an event that is put back is put into the one queue again. What
/// a role, which is numbered `ranks` or more, signals in the end leaves together.
inline std::vector<double> on_arrival(const std::vector<Program>& programs, Rank ranks, const LogP& logp,
                                      std::vector<double> cpu) {
    enum Kind { message, send };
    using Event = std::tuple<double, Kind, int, Rank, Rank>;  // time, kind, created, at, peer
    std::set<Event> events;
    int created = 0;
    std::vector<double> sent(programs.size(), -1e9), received(programs.size(), -1e9);
    std::vector<std::size_t> next(programs.size());
    std::set<std::pair<Rank, Rank>> heard;  // (from, to)
    std::vector<bool> sending(programs.size());

    const auto go_on = [&](Rank self, double now) {
        const Program& program = programs[self];
        while (next[self] < program.size() && is_await(program[next[self]]) &&
               heard.contains({program[next[self]].peer, self}))
            ++next[self];
        if (sending[self] || next[self] == program.size() || is_await(program[next[self]])) return;
        sending[self] = true;
        events.emplace(std::max(now, cpu[self]), send, created++, self, program[next[self]].peer);
    };
    for (Rank self = 0; self < programs.size(); ++self) go_on(self, 0);
    while (!events.empty()) {
        auto [now, kind, birth, self, peer] = *events.begin();
        events.erase(events.begin());
        double& port = kind == send ? sent[self] : received[self];
        if (const double free = std::max(cpu[self], port + logp.g); free > now) {
            events.emplace(free, kind, birth, self, peer);
            continue;
        }
        port = now;
        cpu[self] = now + (kind == send ? logp.o : logp.o_r.value_or(logp.o));
        if (kind == send) {
            const auto rest = programs[self].begin() + static_cast<std::ptrdiff_t>(next[self]);
            const bool closing = self >= ranks && std::all_of(rest, programs[self].end(), tollbar::is_signal);
            sending[self] = false;
            do {
                events.emplace(now + logp.o + logp.L, message, created++, programs[self][next[self]].peer, self);
            } while (++next[self] < programs[self].size() && closing);
        } else {
            heard.emplace(peer, self);
        }
        go_on(self, now);
    }
    return cpu;
}

}  // namespace naive
