// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-crowd: more threads than CPUs compute between barriers. Every barrier under every waiting policy, bare
// spinning too, whose episodes take quanta: so many of each are timed as the clock allows.
#include "candidates.hpp"
#include "floors.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tollbar::bench {

namespace {

constexpr double batch_ns = 20e6;                 // of computing that is timed at once, unless --batch-us says else
constexpr std::uint64_t fewest = 3, most = 2000;  // episodes
constexpr std::uint64_t of_a_spinner = 6;         // each of them may take a quantum for every other thread of a CPU
constexpr double spinners_cut_ns = 3e9;

Roster roster_of(const Launch& launch) {
    const Rank ranks = launch.options.ranks;
    Roster roster;
    for (const char* plan : {"central", "mcs", "dissemination"})
        for (const char* wait : {"auto", "spin", "yield", "park"}) add_plan(roster, ranks, plan, wait);
    add_own_kinds(roster, ranks);
    add_standard_peers(roster, ranks);
    launch.keeps(roster, plans_for(ranks));
    return roster;
}

class Crowd {
public:
    Crowd(const Launch& launch, const Roster& roster)
        : options_(launch.options), cpus_(launch.cpus), pace_(launch.pace), crew_(options_.ranks, launch.places()),
          rounds_(launch, crew_) {
        for (const Work& work : options_.work)
            for (const auto& one : roster.candidates) visits_.emplace_back(one.get(), &work);
    }

    int run() {
        return rounds_.run([&](std::uint32_t round) {
            rounds_.floors(round);
            print_scheduling(measure_scheduling(cpus_.front()), round);
            rounds_.shuffle(visits_);
            for (const auto& [candidate, work] : visits_)
                if (!visit(*candidate, *work, round)) return false;
            return true;
        });
    }

private:
    bool crowded() const { return options_.ranks > cpus_.size(); }

    bool visit(Candidate& one, const Work& work, std::uint32_t round) {
        const Label& label = one.label();
        const bool spinning = crowded() && label.manners == Manners::spins;
        if (spinning && options_.depth == Depth::quick) {
            print_skipped(label.name, "it never gives its CPU away and there are more ranks than CPUs (--quick)",
                          label.wait);
            return true;
        }
        if (options_.budget_ns != 0 && rounds_.spent_ns() > options_.budget_ns) {
            print_skipped(label.name, "the time budget of the launch was used up", label.wait);
            return true;
        }
        const double turns = std::ceil(static_cast<double>(options_.ranks) / static_cast<double>(cpus_.size()));
        const double episode_ns = 1e3 * (turns * work.workload.sum_us() + 1);
        const double wanted_ns = options_.batch_ns != 0 ? options_.batch_ns : batch_ns;
        Workload workload = work.workload;
        workload.seed = options_.seed + round;
        workload.runs = spinning ? of_a_spinner
                                 : std::clamp(static_cast<std::uint64_t>(wanted_ns / episode_ns), fewest, most);
        Pace pace = pace_;
        pace.cut_ns = spinning ? spinners_cut_ns : 5 * std::max(wanted_ns, static_cast<double>(fewest) * episode_ns);
        const std::unique_ptr<Visit> visit = crew_.visit(pace, workload.runs);
        visit->workload = &workload;
        one.receive(crew_, *visit);
        if (!options_.profile.empty()) visit->stamps.write_profile(visit->stamping.stamped, options_.profile);
        return print(label, round, work, *visit);
    }

    static bool print(const Label& label, std::uint32_t round, const Work& work, const Visit& visit) {
        const Samples samples = visit.stamps.evaluate(visit.stamping.stamped);
        if (!sound(samples, label, round)) return false;
        const Timing& timing = visit.timing;
        Record<"crowd">(label, round)
            .field("workload", work.spelling)
            .field("compute_ns", 1e3 * work.workload.sum_us())
            .field("variation", work.workload.variation)
            .field("episodes", timing.timed)
            .field("elapsed_ns", timing.elapsed_ns)
            .field("cpu_ns", timing.usage.cpu_ns)
            .field("voluntary", timing.usage.voluntary)
            .field("involuntary", timing.usage.involuntary)
            .field("cut", timing.cut)
            .field("period_ns", samples.period)
            .print();
        return true;
    }

    const Options& options_;
    const std::vector<int>& cpus_;
    const Pace& pace_;
    ThreadCrew crew_;
    Rounds rounds_;
    std::vector<std::pair<Candidate*, const Work*>> visits_;
};

void check(const Options& options) {
    if (options.list) throw WrongUse("--list is for tollbar-bench-threads");
    if (options.computing != Computing::busy) throw WrongUse("--computing is busy here: processors are what is short");
    if (options.work.empty()) throw WrongUse("--workload says what is computed between barriers, such as 1000~0.5");
    for (const Work& work : options.work)
        if (work.workload.compute_us.size() != 1 || work.workload.compute_us[0] <= 0)
            throw WrongUse("--workload '" + work.spelling +
                           "': every barrier has the same time above 0 before it here");
}

int measure(Launch& launch) {
    check(launch.options);
    const Roster roster = roster_of(launch);
    launch.begin();
    return Crowd(launch, roster).run();
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run({.name = "tollbar-bench-crowd", .measure = measure}, count, words);
}
