// SPDX-License-Identifier: Apache-2.0
// What the measuring programs are asked to do, read from the command line.
#include "options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

namespace tollbar::bench {

namespace {

std::uint64_t number(std::string_view flag, std::string_view text, std::uint64_t lowest, std::uint64_t highest) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size() && value >= lowest && value <= highest) return value;
    throw WrongUse(std::string(flag) + " '" + std::string(text) + "': accepted are whole numbers from " +
                   std::to_string(lowest) + " to " + std::to_string(highest));
}

Placement placement(std::string_view text) {
    if (text == "pinned") return Placement::pinned;
    if (text == "free") return Placement::free;
    throw WrongUse("--placement '" + std::string(text) + "': accepted are pinned, free");
}

Computing computing(std::string_view text) {
    if (text == "busy") return Computing::busy;
    if (text == "away") return Computing::away;
    throw WrongUse("--computing '" + std::string(text) + "': accepted are busy, away");
}

std::vector<Work> work(std::string_view text) {
    std::vector<Work> all;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view spelling = text.substr(begin, end - begin);
        try {
            all.push_back({std::string(spelling), parse_workload(spelling)});
        } catch (const std::invalid_argument& error) {
            throw WrongUse(std::string("--workload: ") + error.what());
        }
        begin = end + 1;
    }
    return all;
}

constexpr std::uint64_t hour_us = 3'600'000'000;

struct Flag {
    std::string_view name;
    std::string_view value;  ///< what follows, in words; empty when nothing does
    std::string_view help;
    void (*take)(Options& options, std::string_view flag, std::string_view text);
};

constexpr std::array flags{
    Flag{"--ranks", "N", "threads, 2 to 1024 (default 2)",
         [](Options& o, std::string_view f, std::string_view t) {
             o.ranks = static_cast<Rank>(number(f, t, 2, most_ranks));
         }},
    Flag{"--placement", "pinned|free", "rank r on usable CPU r mod C, or wherever the kernel puts it (default free)",
         [](Options& o, std::string_view, std::string_view t) { o.placement = placement(t); }},
    Flag{"--rounds", "R", "rounds, at most; each measures the floors and then everything once (default 10)",
         [](Options& o, std::string_view f, std::string_view t) {
             o.rounds = static_cast<std::uint32_t>(number(f, t, 1, 1'000'000));
         }},
    Flag{"--seed", "S", "of the order within the rounds (default 1)",
         [](Options& o, std::string_view f, std::string_view t) { o.seed = number(f, t, 0, ~std::uint64_t{0}); }},
    Flag{"--only", "LIST", "names as --list gives them, separated by commas; NAME+WAIT for one waiting policy",
         [](Options& o, std::string_view, std::string_view t) { o.only = t; }},
    Flag{"--batch-us", "US", "length of a timed batch (default 1000 with a CPU for every rank, else 12000)",
         [](Options& o, std::string_view f, std::string_view t) {
             o.batch_ns = 1e3 * static_cast<double>(number(f, t, 1, hour_us));
         }},
    Flag{"--budget-ms", "MS", "no round begins that would probably end later (default 0: no limit)",
         [](Options& o, std::string_view f, std::string_view t) {
             o.budget_ns = 1e6 * static_cast<double>(number(f, t, 0, hour_us));
         }},
    Flag{"--workload", "LIST",
         "ranks compute between barriers: US, US~SHARE for times that vary, or 360us, 2100us, 9450us; whole runs are "
         "timed, and nothing else",
         [](Options& o, std::string_view, std::string_view t) { o.work = work(t); }},
    Flag{"--computing", "busy|away",
         "with --workload: ranks keep a CPU busy, or let the time pass as hosts with CPUs of their own (default busy)",
         [](Options& o, std::string_view, std::string_view t) { o.computing = computing(t); }},
    Flag{"--profile", "", "also what each rank does between stamped episodes, for `tollbar simulate scheduler`",
         [](Options& o, std::string_view, std::string_view) { o.profile = true; }},
    Flag{"--list", "", "names what can be measured, measures nothing",
         [](Options& o, std::string_view, std::string_view) { o.list = true; }},
    Flag{"--quick", "", "leaves out what never gives its CPU away when there are more ranks than CPUs",
         [](Options& o, std::string_view, std::string_view) { o.depth = Depth::quick; }},
    Flag{"--help", "", "this text", [](Options& o, std::string_view, std::string_view) { o.help = true; }},
};

const Flag& find_flag(std::string_view name) {
    for (const Flag& flag : flags)
        if (flag.name == name) return flag;
    std::string names;
    for (const Flag& flag : flags) names += (names.empty() ? "" : ", ") + std::string(flag.name);
    throw WrongUse("'" + std::string(name) + "' is not a flag; there are " + names);
}

}  // namespace

std::string_view spelled(Placement placement) noexcept { return placement == Placement::pinned ? "pinned" : "free"; }

std::string_view spelled(Computing computing) noexcept { return computing == Computing::busy ? "busy" : "away"; }

Options parse_options(int count, const char* const* words) {
    Options options;
    for (int i = 1; i < count; ++i) {
        const Flag& flag = find_flag(words[i]);
        if (!flag.value.empty() && i + 1 == count)
            throw WrongUse(std::string(flag.name) + " lacks its value: " + std::string(flag.value));
        flag.take(options, flag.name, flag.value.empty() ? "" : words[++i]);
    }
    return options;
}

std::string usage(std::string_view program) {
    std::string text = "usage: " + std::string(program) +
                       " [flags]\nMeasures barriers in this process; one JSON record a line on stdout.\n";
    for (const Flag& flag : flags) {
        std::string left = "  " + std::string(flag.name) + " " + std::string(flag.value);
        left.resize(std::max<std::size_t>(left.size() + 1, 28), ' ');
        text += left + std::string(flag.help) + "\n";
    }
    return text;
}

}  // namespace tollbar::bench
