// SPDX-License-Identifier: Apache-2.0
// Carries the rounds of the tuning (src/tuner) to all ranks, and their times back to it.
#include "selection.hpp"

#include "base/environment.hpp"
#include "base/fnv.hpp"
#include "base/host.hpp"
#include "base/say.h"
#include "transports/mpi/messages.hpp"
#include "tuner/contest.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

namespace tollbar::detail::mpi {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t tried_briefly = 5;

double micros(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

/// The plans that rank 0 has all ranks try.
struct Candidates {
    std::uint32_t count;
    bool leaves_count;  ///< judged by when ranks leave, on one clock
    std::array<std::array<char, 48>, Contest::most> plans;
};

/// Whether the ranks read one clock: that of one kernel.
bool one_clock(const SetUp& set_up) {
    const auto boots = set_up.gather(fnv1a(kernel_boot()));
    return std::ranges::all_of(boots, [&](std::uint64_t other) { return other == boots.front(); });
}

Candidates draw_up(const Selection& selection, const LogP& messages) {
    MpiTransports transports = here(default_mpi_transports);
    transports.messages = messages;
    std::vector<std::string> order;
    if (!selection.only_nics) order = in_order_of_trial(mpi_candidates(selection.situation, transports));
    // The model knows no NICs. They come second: messages win a tie.
    order.insert(order.begin() + (order.empty() ? 0 : 1), selection.on_nics.begin(), selection.on_nics.end());
    Candidates candidates{};
    const std::size_t most = selection.budget_ms < thorough_from_ms ? tried_briefly + selection.on_nics.size()
                                                                    : Contest::most;
    for (const std::string& plan : order) {
        auto& slot = candidates.plans[candidates.count];
        if (candidates.count == most || plan.size() >= slot.size()) continue;
        std::ranges::copy(plan, slot.begin());
        ++candidates.count;
    }
    return candidates;
}

/// This rank's samples of a round of the tuning.
std::vector<double> run(const Batch& round, const std::vector<Trial>& trials, bool leaves_count) {
    std::vector<double> samples;
    samples.reserve(round.runs());
    for (std::uint32_t turn = 0; turn < round.rounds; ++turn) {
        for (const std::size_t candidate : round.turns(turn)) {
            const Trial& trial = trials[candidate];
            trial();
            const auto begin = Clock::now();
            for (std::uint32_t episode = 0; episode < round.episodes; ++episode) trial();
            const auto end = Clock::now();
            samples.push_back(leaves_count ? micros(end.time_since_epoch()) : micros(end - begin) / round.episodes);
        }
    }
    return samples;
}

/// The outcome of the tuning, for the tuning file and, with TOLLBAR_VERBOSE=2, on stderr: the median of every
/// candidate, and how it compares, round by round, with the chosen one.
std::string remarks_on(const Contest& contest, const std::vector<std::string>& plans, std::size_t winner,
                       const SetUp& set_up) {
    char text[160];
    std::snprintf(text, sizeof text, "by=join median_us=%.3f contest=", contest.median_us(winner));
    std::string remarks = text;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const double median = contest.median_us(i);
        const Contest::Ratio behind = contest.ratio(i, winner);
        const char* verdict = i == winner ? "chosen" : behind.low > 1 ? "slower" : "not told apart";
        if (environment::verbosity() >= 2)
            tollbar_say("contest of %s (%u ranks): %s: median %.3f us, %.2f times the chosen one's (%.2f to %.2f): %s",
                        set_up.name(), set_up.p2p().ranks, plans[i].c_str(), median, behind.median, behind.low,
                        behind.high, verdict);
        std::snprintf(text, sizeof text, "%s%s|%.3f|%.2f|%.2f", i == 0 ? "" : ";", plans[i].c_str(), median, behind.low,
                      behind.high);
        remarks += text;
    }
    return remarks;
}

}  // namespace

LogP measure_messages(const SetUp& set_up, Rank peer) {
    constexpr Episode trips = 8;
    constexpr static std::atomic<Occupancy> unknown{Occupancy::unknown};
    const Rank self = set_up.p2p().rank, other = self == 0 ? peer : 0;
    LogP found = default_mpi_transports.messages;
    Messages messages(set_up.p2p(), wait_policy::automatic, unknown);
    MessageStep to{}, from{};
    set_up.together([&] {
        if (self != 0 && self != peer) return;
        to = messages.open(signal(other));
        from = messages.open(await(other));
    });
    if (self == 0 || self == peer) {
        double overhead = 1e6, trip = 1e6;
        for (Episode i = 1; i <= trips; ++i) {
            const auto finish = [&](const MessageStep& step) {
                set_up.wait_until([&] {
                    if (messages.gone()) fail_alone("the MPI lost a message");
                    return messages.met(step, i);
                });
            };
            messages.entered(i);
            const auto begin = Clock::now();
            if (self != 0) finish(from);
            const auto sending = Clock::now();
            messages.take(to, i);
            overhead = std::min(overhead, micros(Clock::now() - sending));
            finish(to);
            if (self == 0) finish(from);
            trip = std::min(trip, micros(Clock::now() - begin));
        }
        // The first and the last message of a trip lie within it: two of L + 2 o.
        found = {.L = std::max(trip / 2 - 2 * overhead, overhead / 10), .o = overhead, .g = overhead};
    }
    set_up.broadcast(found);
    return found;
}

std::string choose_plan(const SetUp& set_up, const Selection& selection, const MakeTrial& make) {
    const auto start = Clock::now();
    const auto spent_us = [&] { return micros(Clock::now() - start); };
    const bool many_nodes = selection.far != 0;
    LogP messages = default_mpi_transports.messages;
    if (many_nodes && !selection.only_nics) messages = measure_messages(set_up, selection.far);
    const bool same_clock = !many_nodes || one_clock(set_up);

    Candidates candidates{};
    std::string objective = selection.situation.objective;
    if (set_up.is_root()) {
        if (objective == "skew" && !same_clock) objective = "latency";
        candidates = draw_up(selection, messages);
        candidates.leaves_count = objective == "skew";
        if (selection.budget_ms <= 0) candidates.count = 1;
    }
    set_up.broadcast(candidates);
    if (candidates.count == 1) return candidates.plans[0].data();

    std::vector<Trial> trials;
    std::vector<std::string> plans;
    for (std::uint32_t i = 0; i < candidates.count; ++i) {
        Trial trial = make(candidates.plans[i].data());
        if (!trial) continue;
        trials.push_back(std::move(trial));
        plans.emplace_back(candidates.plans[i].data());
    }
    if (plans.size() < 2) return plans.empty() ? "" : plans.front();

    Contest contest(plans.size(), selection.budget_ms * 1000, objective);
    for (;;) {
        Batch round;
        if (set_up.is_root()) round = contest.next(spent_us(), set_up.p2p().ranks);
        set_up.broadcast(round);
        if (round.winner >= 0) {
            const auto winner = static_cast<std::size_t>(round.winner);
            std::string plan = plans[winner];
            if (set_up.is_root())
                store_mpi_plan({selection.situation, plan}, remarks_on(contest, plans, winner, set_up));
            return plan;
        }
        const auto samples = set_up.gather(run(round, trials, candidates.leaves_count));
        if (set_up.is_root()) contest.record(round, samples, set_up.p2p().ranks);
    }
}

}  // namespace tollbar::detail::mpi
