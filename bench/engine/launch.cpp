// SPDX-License-Identifier: Apache-2.0
// The work of all measuring programs on their command line, and between their rounds.
#include "launch.hpp"

#include "neighbours.hpp"
#include "floors.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <optional>

namespace tollbar::bench {

namespace {

Launch launch_of(const Program& program, const Options& options, const Peers* peers) {
    Launch launch{.program = program.name, .options = options, .cpus = usable_cpus(), .pace = {}, .peers = peers};
    if (peers != nullptr) {
        launch.options.ranks = peers->ranks();
        if (peers->ranks() < 2)
            throw WrongUse("there is one rank; start more by the launcher: " + program.launcher + " -n 2 " +
                           program.name);
    }
    if (launch.options.scheduling && launch.options.turns_ns == 0) throw WrongUse("--scheduling is for --turns");
    if (launch.options.turns_ns != 0 && launch.options.work.empty())
        launch.options.work.push_back({"0", parse_workload("0")});
    launch.pace = pace_for(launch.options, launch.cpus.size());
    return launch;
}

/// The result of parse_options(), or the words that it throws.
struct ParsedOptions {
    ParsedOptions(int count, const char* const* words, std::vector<Flag> flags, bool alone) {
        const auto told_elsewhere = [](std::string_view, std::string_view) {
            throw WrongUse("--ranks is for the launcher to say: mpirun -n RANKS");
        };
        if (!alone) flags.push_back({"--ranks", "N", "", told_elsewhere});
        try {
            options = parse_options(count, words, flags);
        } catch (const WrongUse& wrong) {
            trouble = wrong.what();
        }
    }

    Options options;
    std::optional<std::string> trouble;
};

/// The first line of a file; empty when there is none.
std::string line_of(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "unknown";
}

std::string kernel() {
    utsname name{};
    uname(&name);
    return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

/// Variables that change how somebody here waits.
constexpr FieldName<"environment", std::string> variables[] = {
    "TOLLBAR_PLAN",      "TOLLBAR_WAIT",  "TOLLBAR_TUNING", "OMP_WAIT_POLICY", "OMP_PROC_BIND", "GOMP_SPINCOUNT",
    "GOMP_CPU_AFFINITY", "KMP_BLOCKTIME", "KMP_USE_YIELD",  "KMP_AFFINITY",    "KMP_LIBRARY",   "LD_PRELOAD"};

}  // namespace

bool Launch::keeps(Roster& roster, const Add& add) const {
    if (!options.only.empty()) select(roster, options.only, add);
    if (!options.list) return true;
    for (const auto& one : roster.candidates) {
        const Label& label = one->label();
        Record<"candidate">()
            .field("name", label.name)
            .field("kind", label.kind)
            .field("wait", label.wait)
            .field("spins", label.manners == Manners::spins)
            .print();
    }
    for (const Skipped& one : roster.skipped) print_skipped(one.name, one.why);
    return false;
}

void Launch::refuse_names() const {
    if (options.list || options.depth == Depth::quick || !options.only.empty())
        throw WrongUse("--only, --list and --quick are for the other programs: this one measures one thing");
}

void Launch::begin(const Versions& versions) const {
    const std::string first_cpu = "/sys/devices/system/cpu/cpu" + std::to_string(cpus.front());
    Record<"environment"> record;
    record.field("program", program)
        .field("cpus", sysconf(_SC_NPROCESSORS_ONLN))
        .field("usable", cpus.size())
        .field("quota", cpu_quota())
        .field("model", cpu_model())
        .field("kernel", kernel())
        .field("compiler", __VERSION__)
        .field("ranks", options.ranks)
        .field("placement", spelled(options.placement))
        .field("computing", spelled(options.computing))
        .field("company", spelled(options.neighbours))
        .field("rounds", options.rounds)
        .field("seed", options.seed)
        .field("crowded", crowded())
        .field("batch_ns", pace.batch_ns)
        .field("cut_ns", pace.cut_ns)
        .field("most_episodes", pace.most)
        .field("warm_up", pace.warm_up)
        .field("clock", clock_name())
        .field("governor", line_of(first_cpu + "/cpufreq/scaling_governor"))
        .field("smt", line_of("/sys/devices/system/cpu/smt/control"))
        .field("load", line_of("/proc/loadavg"))
        .field("autogroup", line_of("/proc/self/autogroup"))
        .field("pid", getpid());
    for (const auto& [name, version] : versions) record.field(name, version);
    for (const auto& variable : variables)
        if (const char* value = std::getenv(variable.view().data())) record.field(variable, std::string(value));
    record.print();
}

int run(const Program& program, int count, const char* const* words) {
    const char* name = program.name.c_str();
    const ParsedOptions asked(count, words, program.flags, !program.join);
    std::unique_ptr<Peers> peers;
    const auto complain = [&](const std::string& what) {
        if (!peers || peers->rank() == 0) std::fprintf(stderr, "%s: %s\n", name, what.c_str());
        return 2;  // everybody has read the same words
    };
    try {
        if (program.join) peers = program.join();
        // Nothing but rank 0's records is to be read.
        if (peers && peers->rank() != 0 && std::freopen("/dev/null", "w", stdout) == nullptr)
            throw std::runtime_error("/dev/null cannot be opened");
        if (asked.trouble) return complain(*asked.trouble);
        if (asked.options.help) {
            std::fputs(usage(name, program.flags).c_str(), stdout);
            return 0;
        }
        Launch launch = launch_of(program, asked.options, peers.get());
        if (peers && launch.options.neighbours != Neighbours::alone)
            throw WrongUse("--beside is for programs without a launcher");
        return beside(launch.options.neighbours, [&] { return program.measure(launch); });
    } catch (const WrongUse& wrong) {
        return complain(wrong.what());
    } catch (const std::exception& error) {
        const std::string who = peers ? "rank " + std::to_string(peers->rank()) + ": " : "";
        std::fprintf(stderr, "%s: %s%s\n", name, who.c_str(), error.what());
        if (peers) peers->abort();
        return 1;
    }
}

int Rounds::run(const std::function<bool(std::uint32_t)>& round) {
    const Options& options = launch_.options;
    double longest_ns = 0;
    const auto another_fits = [&] {
        return crew_.agree(options.budget_ns == 0 || spent_ns() + longest_ns <= options.budget_ns);
    };
    std::uint32_t done = 0;
    for (; done < options.rounds && (done == 0 || another_fits()); ++done) {
        const double before_ns = spent_ns();
        once_ns_ = 0;
        if (!round(done)) return 1;
        longest_ns = std::max(longest_ns, spent_ns() - before_ns - once_ns_);
    }
    print_done(done, spent_ns());
    return 0;
}

void Rounds::floors(std::uint32_t round) {
    crew_.rest();
    const Among among = launch_.peers == nullptr || launch_.options.threads > 1 ? Among::threads : Among::processes;
    if (crew_.is_first()) print_floors(measure_floors(launch_.cpus, among), round);
}

}  // namespace tollbar::bench
