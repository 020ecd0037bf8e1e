// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-omp-gomp and tollbar-bench-omp-omp: `#pragma omp barrier` of the runtime this file is compiled for,
// measured exactly as tollbar-bench-threads measures. The build gives that runtime's name as TOLLBAR_OMP_RUNTIME.
#include "threads/cpus.hpp"
#include "threads/rounds.hpp"
#include "threads/selection.hpp"

#include <gnu/libc-version.h>
#include <omp.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace tollbar::bench {

namespace {

/// An OpenMP team as a crew: a job is a parallel region.
class Team final : public Crew {
public:
    Team(Rank ranks, Places places) : ranks_(ranks), places_(std::move(places)) {
        omp_set_dynamic(0);
        omp_set_num_threads(static_cast<int>(ranks));
    }

    Rank ranks() const noexcept override { return ranks_; }

    void run(const Job& job) override {
        int given = 0;
#pragma omp parallel
        {
#pragma omp single
            given = omp_get_num_threads();
            if (given == omp_get_max_threads()) run_or_exit(places_, job, static_cast<Rank>(omp_get_thread_num()));
        }
        if (static_cast<Rank>(given) != ranks_)
            throw std::runtime_error("the OpenMP runtime gave " + std::to_string(given) + " threads instead of " +
                                     std::to_string(ranks_) + "; is OMP_THREAD_LIMIT set?");
    }

    /// The pool's threads may spin for a while after a region, and would do so beside the floors. Not every runtime
    /// puts them to sleep when asked to, so this waits until the process uses no more CPU time. A hard pause is
    /// no way out: libomp 14 hangs in the next region when there are more threads than CPUs.
    void rest() override {
        omp_pause_resource_all(omp_pause_soft);
        constexpr std::chrono::milliseconds glance{10};
        constexpr double asleep_ns = 1e6;
        for (int glances = 0; glances < 50; ++glances) {
            const Usage before = Usage::of_process();
            std::this_thread::sleep_for(glance);
            if ((Usage::of_process() - before).cpu_ns < asleep_ns) return;
        }
    }

private:
    Rank ranks_;
    Places places_;
};

struct OpenMpBarrier {
    explicit OpenMpBarrier(Rank) {}

    void episode() {
#pragma omp barrier
    }
};

/// The policy is the process's; it is set from outside, before the runtime starts.
std::string policy() {
    const char* asked = std::getenv("OMP_WAIT_POLICY");
    const std::string_view name = asked == nullptr ? "" : asked;
    if (name == "active" || name == "ACTIVE") return "spin";
    if (name == "passive" || name == "PASSIVE") return "park";
    return "auto";
}

Roster prepare(const Options& options) {
    Roster roster;
    roster.add<Everywhere<OpenMpBarrier>>({TOLLBAR_OMP_RUNTIME, "peer", policy()}, options.ranks);
    roster.versions.emplace_back("glibc", gnu_get_libc_version());
    roster.versions.emplace_back("openmp", std::to_string(_OPENMP));
    if (!options.only.empty())
        select(roster, options.only, [](Roster&, const std::string&, const std::string&) { return false; });
    return roster;
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run_program("tollbar-bench-omp", count, words, prepare, [](const Options& options, const Places& places) {
        return std::make_unique<Team>(options.ranks, places);
    });
}
