// SPDX-License-Identifier: Apache-2.0
// One barrier on one machine: who lives where, when each thread enters, and what an episode takes.
#include <tollbar/models/cores.hpp>

#include "barriers.hpp"
#include "caches.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>

namespace tollbar::cores {

namespace {

constexpr std::uint32_t warm_up = 8;
constexpr std::uint32_t most_episodes = 1'000'000;

/// The core of each thread.
std::vector<std::uint32_t> cores_for(const Machine& machine, const CoresRun& asked) {
    std::vector<std::uint32_t> cores(machine.cores.size());
    std::iota(cores.begin(), cores.end(), 0);
    if (asked.placement == Placement::spread) {
        std::map<std::uint32_t, std::uint32_t> taken;  // cores of each cluster
        std::vector<std::uint32_t> turn;
        for (const Core& core : machine.cores) turn.push_back(taken[core.cluster]++);
        std::stable_sort(cores.begin(), cores.end(), [&](auto one, auto other) { return turn[one] < turn[other]; });
    }
    cores.resize(asked.threads);
    if (asked.placement == Placement::shuffled) {  // std::shuffle differs between libraries
        std::mt19937 random(7);
        for (std::size_t last = cores.size() - 1; last > 0; --last)
            std::swap(cores[last], cores[random() % (last + 1)]);
    }
    return cores;
}

Made make_barrier(const std::string& spelling, const Cores& team, const Machine& machine) {
    for (const auto* peers : {&standard_peers(), &concurrency_kit()})
        for (const Peer& peer : *peers)
            if (spelling == peer.name) return peer.make(team);
    if (Made made = make_published(spelling, team)) return made;
    return make_own(spelling, team, machine);
}

void check(const Machine& machine, const CoresRun& asked) {
    check(machine);
    if (asked.threads < 2 || asked.threads > machine.cores.size())
        throw std::invalid_argument("machine '" + machine.name + "' has cores for 2 to " +
                                    std::to_string(machine.cores.size()) + " threads, not " +
                                    std::to_string(asked.threads));
    if (asked.episodes < 1 || asked.episodes > most_episodes)
        throw std::invalid_argument("there are 1 to " + std::to_string(most_episodes) + " episodes, not " +
                                    std::to_string(asked.episodes));
    if (!(asked.spread_ns >= 0 && asked.spread_ns <= 1e9))
        throw std::invalid_argument("entries are spread over 0 to 1e9 ns");
}

struct Episode {
    std::uint32_t entered = 0;
    double last_entry = 0;
    double last_exit = 0;
};

}  // namespace

std::vector<std::string> peers() {
    std::vector<std::string> names;
    for (const auto* peers : {&standard_peers(), &concurrency_kit()})
        for (const Peer& peer : *peers) names.emplace_back(peer.name);
    return names;
}

Outcome simulate(const Machine& machine, const CoresRun& asked, const Watch& watch) {
    check(machine, asked);
    const std::vector<std::uint32_t> cores = cores_for(machine, asked);
    Cores team;
    for (const std::uint32_t core : cores) team.push_back(machine.cores[core]);
    const Made barrier = make_barrier(asked.barrier, team, machine);

    Caches caches(machine, cores, asked.seed);
    std::vector<Episode> episodes(warm_up + asked.episodes);
    std::uint32_t passed = 0;
    std::uint64_t misses_before = 0;
    bool early = false;
    caches.run(
        [&](Thread self) {
            for (std::size_t number = 0; number < episodes.size() && !early; ++number) {
                if (asked.spread_ns > 0) caches.compute(caches.draw(asked.spread_ns));
                Episode& episode = episodes[number];
                ++episode.entered;
                episode.last_entry = std::max(episode.last_entry, caches.now());
                barrier->episode(self);
                early = early || episode.entered != asked.threads;
                episode.last_exit = std::max(episode.last_exit, caches.now());
                if (self != 0) continue;
                ++passed;
                if (number + 1 == warm_up) misses_before = caches.misses();
            }
        },
        watch ? [&] { watch({caches.now() / 1000, passed, episodes.size()}); } : std::function<void()>{});
    if (early) throw std::logic_error("'" + asked.barrier + "' let somebody out before everybody was in");

    Outcome outcome{.simulated_ns = caches.now(), .events = caches.events()};
    outcome.misses = static_cast<double>(caches.misses() - misses_before) / asked.episodes;
    outcome.hand_overs = static_cast<double>(caches.most_handed_over()) / static_cast<double>(episodes.size());
    double sum = episodes.back().last_exit - episodes[warm_up - 1].last_exit;
    if (asked.spread_ns > 0)
        sum = std::accumulate(
            episodes.begin() + warm_up, episodes.end(), 0.0,
            [](double before, const Episode& episode) { return before + episode.last_exit - episode.last_entry; });
    outcome.barrier_ns = sum / asked.episodes;
    return outcome;
}

}  // namespace tollbar::cores
