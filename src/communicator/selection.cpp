// SPDX-License-Identifier: Apache-2.0
// Carries what the umpire of the contest (src/tuner) says to all ranks, and their times back to it.
#include "selection.hpp"

#include "runtime/environment.hpp"
#include "runtime/say.h"
#include "transports/mpi/messages.hpp"
#include "tuner/contest.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

namespace tollbar::mpi {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t tried_briefly = 5;

double micros(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

/// What rank 0 tells the others before the contest.
struct Programme {
    std::uint32_t count;
    bool leaves_count;  ///< judged by when ranks leave, on one clock
    std::array<std::array<char, 48>, Contest::most> plans;
};

/// Whether the ranks read one clock: that of one kernel.
bool one_clock(const SetUp& set_up) {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    const auto boots = set_up.gather(std::hash<std::string>{}(boot));
    return std::ranges::all_of(boots, [&](std::size_t other) { return other == boots.front(); });
}

Programme draw_up(const Selection& selection, const LogP& messages) {
    MpiTransports transports = here(default_mpi_transports);
    transports.messages = messages;
    std::vector<std::string> order;
    if (!selection.only_cards) order = in_order_of_trial(mpi_candidates(selection.situation, transports));
    // The model knows no cards. They come second: where there is nothing between them, it is messages.
    order.insert(order.begin() + (order.empty() ? 0 : 1), selection.on_cards.begin(), selection.on_cards.end());
    Programme programme{};
    const std::size_t most = selection.budget_ms < thorough_from_ms ? tried_briefly + selection.on_cards.size()
                                                                    : Contest::most;
    for (const std::string& plan : order) {
        auto& place = programme.plans[programme.count];
        if (programme.count == most || plan.size() >= place.size()) continue;
        std::ranges::copy(plan, place.begin());
        ++programme.count;
    }
    return programme;
}

/// This rank's samples of a heat.
std::vector<double> run(const Heat& heat, const std::vector<Trial>& trials, bool leaves_count) {
    std::vector<double> samples;
    samples.reserve(heat.runs());
    for (std::uint32_t round = 0; round < heat.rounds; ++round) {
        for (const std::size_t candidate : heat.turns(round)) {
            const Trial& trial = trials[candidate];
            trial();
            const auto begin = Clock::now();
            for (std::uint32_t episode = 0; episode < heat.episodes; ++episode) trial();
            const auto end = Clock::now();
            samples.push_back(leaves_count ? micros(end.time_since_epoch()) : micros(end - begin) / heat.episodes);
        }
    }
    return samples;
}

/// What the contest found out, for the tuning file and, where more is to be said, on stderr: of every candidate the
/// median and how it compares, round by round, with the one that was chosen.
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
    constexpr static std::atomic<Crowding> unknown{Crowding::unknown};
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
    if (many_nodes && !selection.only_cards) messages = measure_messages(set_up, selection.far);
    const bool same_clock = !many_nodes || one_clock(set_up);

    Programme programme{};
    std::string objective = selection.situation.objective;
    if (set_up.is_root()) {
        if (objective == "skew" && !same_clock) objective = "latency";
        programme = draw_up(selection, messages);
        programme.leaves_count = objective == "skew";
        if (selection.budget_ms <= 0) programme.count = 1;
    }
    set_up.broadcast(programme);
    if (programme.count == 1) return programme.plans[0].data();

    std::vector<Trial> trials;
    std::vector<std::string> plans;
    for (std::uint32_t i = 0; i < programme.count; ++i) {
        Trial trial = make(programme.plans[i].data());
        if (!trial) continue;
        trials.push_back(std::move(trial));
        plans.emplace_back(programme.plans[i].data());
    }
    if (plans.size() < 2) return plans.empty() ? "" : plans.front();

    Contest contest(plans.size(), selection.budget_ms * 1000, objective);
    for (;;) {
        Heat heat;
        if (set_up.is_root()) heat = contest.next(spent_us(), set_up.p2p().ranks);
        set_up.broadcast(heat);
        if (heat.winner >= 0) {
            const auto winner = static_cast<std::size_t>(heat.winner);
            std::string plan = plans[winner];
            if (set_up.is_root())
                store_mpi_plan({selection.situation, plan}, remarks_on(contest, plans, winner, set_up));
            return plan;
        }
        const auto samples = set_up.gather(run(heat, trials, programme.leaves_count));
        if (set_up.is_root()) contest.record(heat, samples, set_up.p2p().ranks);
    }
}

}  // namespace tollbar::mpi
