// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-hybrid-NAME: barriers between all threads of all ranks of an MPI job, side by side. Rank 0 prints.
#include "candidates.hpp"
#include "openmp_team.hpp"

#include "environment.hpp"
#include "flags.hpp"
#include "options.hpp"
#include "process_crew.hpp"
#include "rounds.hpp"
#include "selection.hpp"

#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace tollbar::bench {

namespace {

constexpr const char* program = TOLLBAR_BENCH_PROGRAM;
constexpr Rank most_threads = 256;

constexpr const char* usage_of_threads =
    "and, where the launcher says how many ranks there are:\n"
    "  --threads T  threads of each rank (default 2)\n"
    "  --level funneled|serialized|multiple  who may call the MPI (default serialized)\n";

struct Asked {
    Options options;
    int level = MPI_THREAD_SERIALIZED;
    bool sound = true;    ///< whether there was nothing wrong
    std::string trouble;  ///< what was
};

int read_level(const std::string& text) {
    if (text == "funneled") return MPI_THREAD_FUNNELED;
    if (text == "serialized") return MPI_THREAD_SERIALIZED;
    if (text == "multiple") return MPI_THREAD_MULTIPLE;
    throw WrongUse("--level '" + text + "': accepted are funneled, serialized, multiple");
}

/// Before MPI begins, because the level must be known.
Asked read(int count, char** words) {
    Asked asked;
    try {
        std::vector<const char*> left(words, words + count);
        const std::string threads = take_value(left, "--threads");
        const std::string level = take_value(left, "--level");
        asked.options = parse_options(static_cast<int>(left.size()), left.data());
        asked.options.threads = threads.empty() ? 2
                                                : static_cast<Rank>(read_number("--threads", threads, 1, most_threads));
        if (!level.empty()) asked.level = read_level(level);
    } catch (const WrongUse& wrong) {
        asked.sound = false;
        asked.trouble = wrong.what();
    }
    return asked;
}

std::string spelled_level(int level) {
    return level == MPI_THREAD_FUNNELED ? "funneled" : level == MPI_THREAD_MULTIPLE ? "multiple" : "serialized";
}

int measure(const MpiJob& job, Asked asked) {
    Options& options = asked.options;
    options.ranks = job.ranks();
    const Rank threads = options.threads;
    Roster roster = hybrid_roster(job, threads);
    if (!options.only.empty())
        select(roster, options.only, [&](Roster& to, const std::string& name, const std::string& wait) {
            return add_combined(to, job, threads, name, wait);
        });
    if (options.list) {
        print_list(roster);
        return 0;
    }
    roster.versions = {{"mpi", MpiJob::mpi()},
                       {"door", MpiJob::door()},
                       {"setting", "stock"},
                       {"apart", "launcher"},
                       {"hosts", std::to_string(job.hosts())},
                       {"threads", std::to_string(threads)},
                       {"level", spelled_level(asked.level)}};
    const std::vector<int> cpus = usable_cpus();
    Pace pace = pace_for(options, cpus.size());
    pace.isolated = 50;
    print_environment(program, options, cpus, pace, roster.versions);
    OpenMpTeam team(threads);
    ProcessCrew crew(job, Places(options.placement, cpus), pace, job.ranks() * threads > cpus.size(), team);
    return run_rounds(crew, roster, options, cpus, pace) ? 0 : 1;
}

int run(int count, char** words) {
    const Asked asked = read(count, words);
    const MpiJob job(&count, &words, asked.level);
    const auto complain = [&](const std::string& why) {
        if (job.rank() == 0) std::fprintf(stderr, "%s: %s\n", program, why.c_str());
        return 2;
    };
    // Nothing but rank 0's records is to be read.
    if (job.rank() != 0 && std::freopen("/dev/null", "w", stdout) == nullptr) return 1;
    if (!asked.sound) return complain(asked.trouble);
    if (asked.options.help) {
        std::fputs((usage(program) + usage_of_threads).c_str(), stdout);
        return 0;
    }
    try {
        return measure(job, asked);
    } catch (const WrongUse& wrong) {
        return complain(wrong.what());  // everybody has read the same words
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: rank %u: %s\n", program, job.rank(), error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) { return tollbar::bench::run(count, words); }
