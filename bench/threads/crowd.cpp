// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-crowd: more threads than CPUs compute between barriers. Every barrier under every waiting policy, bare
// spinning too, whose episodes take quanta: so many of each are timed as the clock allows.
#include "floors.hpp"
#include "rounds.hpp"
#include "scheduling.hpp"
#include "selection.hpp"
#include "visit_records.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tollbar::bench {

namespace {

constexpr double batch_ns = 20e6;                 // of computing that is timed at once, unless --batch-us says else
constexpr std::uint64_t fewest = 3, most = 2000;  // episodes
constexpr std::uint64_t of_a_spinner = 6;         // each of them may take a quantum for every other thread of a CPU
constexpr double spinners_cut_ns = 3e9;

Roster crowd_roster(const Options& options) {
    Roster roster;
    for (const char* plan : {"central", "mcs", "dissemination"})
        for (const char* wait : {"auto", "spin", "yield", "park"}) add_plan(roster, options.ranks, plan, wait);
    add_own_kinds(roster, options.ranks);
    add_standard_peers(roster, options.ranks);
    if (!options.only.empty())
        select(roster, options.only, [&](Roster& to, const std::string& name, const std::string& wait) {
            return add_if_a_plan(to, options.ranks, name, wait);
        });
    return roster;
}

class Crowd {
public:
    Crowd(const Options& options, const std::vector<int>& cpus, const Pace& pace)
        : options_(options), cpus_(cpus), pace_(pace), roster_(crowd_roster(options)),
          crew_(options.ranks, Places(options.placement, cpus)), random_(options.seed) {
        for (const Work& work : options_.work)
            for (const auto& one : roster_.candidates) visits_.emplace_back(one.get(), &work);
    }

    void round(std::uint32_t number) {
        print_floors(measure_floors(cpus_), number);
        print_scheduling(measure_scheduling(cpus_.front()), number);
        // Not std::shuffle: the order a seed gives must not depend on the library.
        for (std::size_t i = visits_.size(); i > 1; --i) std::swap(visits_[i - 1], visits_[random_() % i]);
        for (const auto& [candidate, work] : visits_) visit(*candidate, *work, number);
    }

private:
    double spent_ns() const { return nanoseconds(ticks() - began_); }
    bool crowded() const { return options_.ranks > cpus_.size(); }

    void visit(Candidate& one, const Work& work, std::uint32_t round) {
        const Label& label = one.label();
        const bool spinning = crowded() && label.manners == Manners::spins;
        if (spinning && options_.depth == Depth::quick) {
            print_skipped(label.name, "it never gives its CPU away and there are more ranks than CPUs (--quick)",
                          label.wait);
            return;
        }
        if (options_.budget_ns != 0 && spent_ns() > options_.budget_ns) {
            print_skipped(label.name, "the time budget of the launch was used up", label.wait);
            return;
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
        print(label, round, work, *visit);
    }

    static void print(const Label& label, std::uint32_t round, const Work& work, const Visit& visit) {
        const Samples samples = visit.stamps.evaluate(visit.stamping.stamped);
        if (!sound(samples, label, round)) throw std::runtime_error(label.name + " let somebody out early");
        const Timing& timing = visit.timing;
        start_record("crowd", label, round)
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
    }

    Options options_;
    std::vector<int> cpus_;
    Pace pace_;
    Roster roster_;
    ThreadCrew crew_;
    std::mt19937_64 random_;
    std::vector<std::pair<Candidate*, const Work*>> visits_;
    const Ticks began_ = ticks();
};

Round prepare(const Options& options, const std::vector<int>& cpus, const Pace& pace) {
    const auto crowd = std::make_shared<Crowd>(options, cpus, pace);
    return [crowd](std::uint32_t number) { crowd->round(number); };
}

void check(const Options& options) {
    if (options.list || options.profile) throw WrongUse("--list and --profile are for tollbar-bench-threads");
    if (options.computing != Computing::busy) throw WrongUse("--computing is busy here: processors are what is short");
    if (options.work.empty()) throw WrongUse("--workload says what is computed between barriers, such as 1000~0.5");
    for (const Work& work : options.work)
        if (work.workload.compute_us.size() != 1 || work.workload.compute_us[0] <= 0)
            throw WrongUse("--workload '" + work.spelling +
                           "': every barrier has the same time above 0 before it here");
    crowd_roster(options);
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run_single("tollbar-bench-crowd", count, words, prepare, check);
}
