// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-shmem: post + wait of every split barrier of OpenSHMEM, beside shmem_barrier_all and MPI_Ibarrier with
// MPI_Wait. PE 0 prints.
#include "once.hpp"
#include "program.hpp"
#include "split.hpp"
#include "variants.hpp"

#include "selection.hpp"

#include <algorithm>

namespace tollbar::bench {

namespace {

/// A split barrier without anything between its two halves.
template <class Barrier>
class Undivided {
public:
    template <class... Arguments>
    explicit Undivided(const Arguments&... arguments) : barrier_(arguments...) {}

    struct Seat {
        Barrier& barrier;
        void episode() const noexcept {
            barrier.post();
            barrier.wait();
        }
    };
    Seat seat(Rank) noexcept { return {barrier_}; }

private:
    Barrier barrier_;
};

const Label ibarrier{"MPI_Ibarrier", "mpi"};

bool stays(const Roster& roster, const Label& label) {
    return std::any_of(roster.candidates.begin(), roster.candidates.end(), [&](const auto& one) {
        return one->label().name == label.name && one->label().wait == label.wait;
    });
}

/// For the barriers of the roster that are split.
template <class Measure>
void for_each_split(const Roster& roster, const std::vector<Variant>& able, Measure&& measure) {
    if (stays(roster, ibarrier)) {
        IbarrierSplit barrier;
        measure(ibarrier, barrier);
    }
    for (const Variant& variant : able) {
        if (!stays(roster, label_of(variant))) continue;
        VariantSplit barrier(variant);
        measure(label_of(variant), barrier);
    }
}

int measure(const ShmemProgram& program, std::uint64_t away_ms, std::uint64_t skew_us) {
    const Options& options = program.options;
    Roster roster;
    roster.add<Undivided<BlockingSplit>>({"shmem_barrier_all", "peer"});
    roster.add<Undivided<IbarrierSplit>>(ibarrier);
    const std::vector<Variant> able = variants(roster.skipped);
    for (const Variant& variant : able) roster.add<Undivided<VariantSplit>>(label_of(variant), variant);
    if (!options.only.empty())
        select(roster, options.only, [](Roster&, const std::string&, const std::string&) { return false; });
    if (options.list) {
        print_list(roster);
        return 0;
    }
    roster.versions = ShmemProgram::versions();
    Pace pace = pace_for(options, program.cpus.size());
    pace.isolated = 50;
    print_environment(program.name, options, program.cpus, pace, roster.versions);
    Team alone;
    ProcessCrew crew(program.job, Places(options.placement, program.cpus), pace, program.crowded(), alone);
    for_each_split(roster, able, [&](const Label& label, auto& barrier) {
        if (away_ms != 0) measure_away(crew, pace, label, barrier, away_ms);
        if (skew_us != 0) measure_overlap(crew, pace, label, barrier, static_cast<double>(skew_us), program.crowded());
    });
    return run_rounds(crew, roster, options, program.cpus, pace) ? 0 : 1;
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run_shmem_program(
        "tollbar-bench-shmem", count, words, {{"--away-ms", 50, 0, 10'000}, {"--skew-us", 100, 0, 1'000'000}},
        [](const ShmemProgram& program) { return measure(program, program.numbers.at(0), program.numbers.at(1)); });
}
