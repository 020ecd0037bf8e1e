// SPDX-License-Identifier: Apache-2.0
// Carries what the umpire of the contest (src/tuner) says to all ranks, and their times back to it.
#include "selection.hpp"

#include "tuner/contest.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

namespace tollbar::mpi {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t tried_briefly = 5;
constexpr double thorough_from_ms = 200;

double micros(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

/// What rank 0 tells the others before the contest.
struct Programme {
    std::uint32_t count;
    bool leaves_count;  ///< judged by when ranks leave, on one clock
    std::array<std::array<char, 48>, Contest::most> plans;
};

/// Whether the ranks read one clock: that of one kernel.
bool one_clock(const tollbar_p2p& p2p, const SetUpWait& waiting) {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    const auto boots = gather(p2p, std::hash<std::string>{}(boot), waiting);
    return std::ranges::all_of(boots, [&](std::size_t other) { return other == boots.front(); });
}

Programme draw_up(const Selection& selection, const LogP& messages) {
    MpiTransports transports = default_mpi_transports;
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
std::vector<double> run(const Heat& heat, const std::vector<std::unique_ptr<Trial>>& trials, bool leaves_count) {
    std::vector<double> samples;
    samples.reserve(heat.runs());
    for (std::uint32_t round = 0; round < heat.rounds; ++round) {
        for (const std::size_t candidate : heat.turns(round)) {
            Trial& trial = *trials[candidate];
            trial.episode();
            const auto begin = Clock::now();
            for (std::uint32_t episode = 0; episode < heat.episodes; ++episode) trial.episode();
            const auto end = Clock::now();
            samples.push_back(leaves_count ? micros(end.time_since_epoch()) : micros(end - begin) / heat.episodes);
        }
    }
    return samples;
}

/// Every rank's samples one after the other, at rank 0.
std::vector<double> gather_samples(const tollbar_p2p& p2p, const std::vector<double>& mine, SetUpWait waiting) {
    std::vector<double> all(p2p.rank == 0 ? p2p.ranks * mine.size() : 0);
    gather(p2p, mine.data(), all.data(), mine.size() * sizeof(double), waiting);
    return all;
}

}  // namespace

LogP measure_messages(const tollbar_p2p& p2p, Rank peer, const SetUpWait& waiting) {
    constexpr int trips = 8;
    LogP found = default_mpi_transports.messages;
    if (p2p.rank == 0 || p2p.rank == peer) {
        const Rank other = p2p.rank == 0 ? peer : 0;
        Line to(p2p, other, TOLLBAR_TO_PEER), from(p2p, other, TOLLBAR_FROM_PEER);
        double overhead = 1e6, trip = 1e6;
        for (int i = 0; i < trips; ++i) {
            from.start();
            const auto begin = Clock::now();
            if (p2p.rank != 0) from.finish(waiting);
            const auto sending = Clock::now();
            to.start();
            overhead = std::min(overhead, micros(Clock::now() - sending));
            to.finish(waiting);
            if (p2p.rank == 0) from.finish(waiting);
            trip = std::min(trip, micros(Clock::now() - begin));
        }
        // The first and the last message of a trip lie within it: two of L + 2 o.
        found = {.L = std::max(trip / 2 - 2 * overhead, overhead / 10), .o = overhead, .g = overhead};
    }
    broadcast(p2p, &found, sizeof found, waiting);
    return found;
}

std::string choose_plan(const tollbar_p2p& p2p, const Selection& selection, const MakeTrial& make,
                        const SetUpWait& waiting) {
    const auto start = Clock::now();
    const auto spent_us = [&] { return micros(Clock::now() - start); };
    const bool many_nodes = selection.far != 0;
    LogP messages = default_mpi_transports.messages;
    if (many_nodes && !selection.only_cards) messages = measure_messages(p2p, selection.far, waiting);
    const bool same_clock = !many_nodes || one_clock(p2p, waiting);

    Programme programme{};
    std::string objective = selection.situation.objective;
    if (p2p.rank == 0) {
        if (objective == "skew" && !same_clock) objective = "latency";
        programme = draw_up(selection, messages);
        programme.leaves_count = objective == "skew";
        if (selection.budget_ms <= 0) programme.count = 1;
    }
    broadcast(p2p, &programme, sizeof programme, waiting);
    if (programme.count == 1) return programme.plans[0].data();

    std::vector<std::unique_ptr<Trial>> trials;
    std::vector<std::string> plans;
    for (std::uint32_t i = 0; i < programme.count; ++i) {
        std::unique_ptr<Trial> trial = make(programme.plans[i].data());
        if (!trial) continue;
        trials.push_back(std::move(trial));
        plans.emplace_back(programme.plans[i].data());
    }
    if (plans.size() < 2) return plans.empty() ? "" : plans.front();

    Contest contest(plans.size(), selection.budget_ms * 1000, objective);
    for (;;) {
        Heat heat;
        if (p2p.rank == 0) heat = contest.next(spent_us(), p2p.ranks);
        broadcast(p2p, &heat, sizeof heat, waiting);
        if (heat.winner >= 0) {
            const auto winner = static_cast<std::size_t>(heat.winner);
            std::string plan = plans[winner];
            if (p2p.rank == 0) {
                char remarks[64];
                std::snprintf(remarks, sizeof remarks, "by=join median_us=%.3f", contest.median_us(winner));
                store_mpi_plan({selection.situation, plan}, remarks);
            }
            return plan;
        }
        const auto samples = gather_samples(p2p, run(heat, trials, programme.leaves_count), waiting);
        if (p2p.rank == 0) contest.record(heat, samples, p2p.ranks);
    }
}

}  // namespace tollbar::mpi
