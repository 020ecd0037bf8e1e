// SPDX-License-Identifier: Apache-2.0
// The work of a measuring program, read from its command line.
#include "options.hpp"

#include <algorithm>

namespace tollbar::bench {

namespace {

Take workloads(std::vector<Work>& into) {
    return [&into](std::string_view, std::string_view list) {
        into.clear();
        for (std::size_t begin = 0; begin <= list.size();) {
            const std::size_t end = std::min(list.find(',', begin), list.size());
            const std::string_view spelling = list.substr(begin, end - begin);
            try {
                into.push_back({std::string(spelling), parse_workload(spelling)});
            } catch (const std::invalid_argument& error) {
                throw WrongUse(std::string("--workload: ") + error.what());
            }
            begin = end + 1;
        }
    };
}

template <class Value>
Take set(Value& into, Value value) {
    return [=, &into](std::string_view, std::string_view) { into = value; };
}

constexpr std::uint64_t hour_us = 3'600'000'000;

std::vector<Flag> flags_of_all(Options& o) {
    return {
        {"--ranks", "N", "threads, 2 to 1024 (default 2)", number(o.ranks, 2, most_ranks)},
        {"--placement", "pinned|free", "rank r on usable CPU r mod C, or wherever the kernel puts it (default free)",
         one_of(o.placement, {{"pinned", Placement::pinned}, {"free", Placement::free}})},
        {"--rounds", "R", "rounds, at most; each measures the floors and then everything once (default 10)",
         number(o.rounds, 1, 1'000'000)},
        {"--seed", "S", "of the order within the rounds (default 1)", number(o.seed, 0, ~std::uint64_t{0})},
        {"--only", "LIST", "names as --list gives them, separated by commas; NAME+WAIT for one waiting policy",
         text(o.only)},
        {"--batch-us", "US", "length of a timed batch (default 1000 with a CPU for every rank, else 12000)",
         amount(o.batch_ns, 1e3, 1, hour_us)},
        {"--budget-ms", "MS", "no round begins that would probably end later (default 0: no limit)",
         amount(o.budget_ns, 1e6, 0, hour_us)},
        {"--workload", "LIST",
         "ranks compute between barriers: US, US~SHARE for times that vary, or 360us, 2100us, 9450us; whole runs are "
         "timed, and nothing else",
         workloads(o.work)},
        {"--runs", "N",
         "with --workload: so many runs of each, however long they take (default: as many as have --batch-us of "
         "computing, 3 to 10000)",
         number(o.runs, 1, 1'000'000)},
        {"--episodes", "N",
         "so many stamped episodes of each barrier, however long they take, and the mean time of each rank in them "
         "(default: up to 200, without)",
         number(o.episodes, 1, 10'000'000)},
        {"--profile", "FILE",
         "what each rank did between the stamped episodes of the barrier that was measured last, as "
         "thread,event,value: "
         "`tollbar simulate scheduler --compute FILE` replays it",
         text(o.profile)},
        {"--computing", "busy|away",
         "with --workload: ranks keep a CPU busy, or let the time pass as hosts with CPUs of their own (default busy)",
         one_of(o.computing, {{"busy", Computing::busy}, {"away", Computing::away}})},
        {"--turns", "MS",
         "turns of computing a fixed amount (--workload, default 0) and one barrier are timed for so long, after a "
         "warm-up, and nothing else",
         amount(o.turns_ns, 1e6, 1, hour_us / 1000)},
        {"--scheduling", "",
         "with --turns: also how long a thread keeps its CPU that others want, and what a switch takes, on the first "
         "usable CPU",
         set(o.scheduling, true)},
        {"--beside", "alone|neighbour|neighbours|session|cgroup|quota",
         "who else wants the CPUs: nobody; one or two endless loops in the same session; one in another session, or "
         "in another control group; nobody, with a quota of 1.5 CPUs (default alone)",
         one_of(o.neighbours, {{"alone", Neighbours::alone},
                               {"neighbour", Neighbours::neighbour},
                               {"neighbours", Neighbours::neighbours},
                               {"session", Neighbours::session},
                               {"cgroup", Neighbours::cgroup},
                               {"quota", Neighbours::quota}})},
        {"--check", "EPISODES",
         "every rank pays a toll before and looks for all tolls after each episode of every barrier; nothing is "
         "measured",
         number(o.tolls.episodes, 1, ~std::uint64_t{0})},
        {"--late", "", "with --check: one rank, chosen in turn, enters when all others have", set(o.tolls.late, true)},
        {"--stuck-ms", "MS",
         "with --check: ranks are stuck when nobody has entered or left for so long (default 10000)",
         amount(o.tolls.limit_ns, 1e6, 1, hour_us / 1000)},
        {"--list", "", "names what can be measured, measures nothing", set(o.list, true)},
        {"--quick", "", "leaves out what never gives its CPU away when there are more ranks than CPUs",
         set(o.depth, Depth::quick)},
        {"--help", "", "this text", set(o.help, true)},
    };
}

/// A program's own flags come first: they may refuse one that all have.
std::vector<Flag> all_flags(Options& options, std::span<const Flag> own) {
    std::vector<Flag> flags(own.begin(), own.end());
    for (Flag& flag : flags_of_all(options)) flags.push_back(std::move(flag));
    return flags;
}

const Flag& find_flag(std::span<const Flag> flags, std::string_view name) {
    for (const Flag& flag : flags)
        if (flag.name == name) return flag;
    std::string names;
    for (const Flag& flag : flags) names.append(names.empty() ? "" : ", ").append(flag.name);
    throw WrongUse(std::string(1, '\'').append(name) + "' is not a flag; there are " + names);
}

std::string lines_of(std::span<const Flag> flags) {
    std::string text;
    for (const Flag& flag : flags) {
        std::string left = "  " + std::string(flag.name) + " " + std::string(flag.value);
        left.resize(std::max<std::size_t>(left.size() + 1, 28), ' ');
        text += left + std::string(flag.help) + "\n";
    }
    return text;
}

}  // namespace

std::string_view spelled(Placement placement) noexcept { return placement == Placement::pinned ? "pinned" : "free"; }

std::string_view spelled(Computing computing) noexcept { return computing == Computing::busy ? "busy" : "away"; }

std::string_view spelled(Neighbours neighbours) noexcept {
    switch (neighbours) {
        case Neighbours::neighbour: return "1 neighbour";
        case Neighbours::neighbours: return "2 neighbours";
        case Neighbours::session: return "1 neighbour in another session";
        case Neighbours::cgroup: return "1 neighbour in another cgroup";
        case Neighbours::quota: return "a quota of 1.5 CPUs";
        case Neighbours::alone: break;
    }
    return "alone";
}

void refuse(std::string_view flag, std::string_view text, const std::string& accepted) {
    throw WrongUse(std::string(flag) + " '" + std::string(text) + "': accepted are " + accepted);
}

Take amount(double& into, double unit, std::uint64_t lowest, std::uint64_t highest) {
    return [=, &into](std::string_view flag, std::string_view text) {
        std::uint64_t units = 0;
        number(units, lowest, highest)(flag, text);
        into = unit * static_cast<double>(units);
    };
}

Options parse_options(int count, const char* const* words, std::span<const Flag> own) {
    Options options;
    const std::vector<Flag> flags = all_flags(options, own);
    for (int i = 1; i < count; ++i) {
        const Flag& flag = find_flag(flags, words[i]);
        if (!flag.value.empty() && i + 1 == count)
            throw WrongUse(std::string(flag.name) + " lacks its value: " + std::string(flag.value));
        flag.take(flag.name, flag.value.empty() ? "" : words[++i]);
    }
    return options;
}

std::string usage(std::string_view program, std::span<const Flag> own) {
    Options options;
    return "usage: " + std::string(program) +
           " [flags]\nMeasures barriers in this process; one JSON record a line on stdout.\n" +
           lines_of(flags_of_all(options)) + (own.empty() ? "" : "and\n") + lines_of(own);
}

}  // namespace tollbar::bench
