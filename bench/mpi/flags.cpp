// SPDX-License-Identifier: Apache-2.0
// The flags that only the MPI programs have.
#include "flags.hpp"

#include "options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace tollbar::bench {

namespace {

template <class Number>
Number number(std::string_view flag, std::string_view text, Number lowest, Number highest) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size() && value >= lowest && value <= highest) return value;
    throw WrongUse(std::string(flag) + " '" + std::string(text) + "': accepted are whole numbers from " +
                   std::to_string(lowest) + " to " + std::to_string(highest));
}

struct Flag {
    std::string_view name;
    std::string_view value;
    std::string_view help;
    void (*take)(MpiFlags& flags, std::string_view flag, std::string_view text);
};

constexpr std::array own_flags{
    Flag{"--setting", "NAME", "what to call the way the MPI is set up, in the environment record (default stock)",
         [](MpiFlags& f, std::string_view, std::string_view t) { f.setting = t; }},
    Flag{"--apart", "launcher|cgroups", "ranks as the launcher keeps them, or each in a control group of its own",
         [](MpiFlags& f, std::string_view, std::string_view t) {
             if (t != "launcher" && t != "cgroups")
                 throw WrongUse("--apart '" + std::string(t) + "': accepted are launcher, cgroups");
             f.cgroups = t == "cgroups";
         }},
    Flag{"--session-nice", "N", "nice value of the sessions that a launcher gives to single ranks (default 0)",
         [](MpiFlags& f, std::string_view n, std::string_view t) { f.session_nice = number(n, t, -20, 19); }},
    Flag{"--late-ms", "MS", "how late the last rank is, once (default 1000; 0: never)",
         [](MpiFlags& f, std::string_view n, std::string_view t) {
             f.late_ms = number<std::uint64_t>(n, t, 0, 3'600'000);
         }},
    Flag{"--communicators", "N", "how many are duplicated, up to the end of their first barrier (default 12; 0: none)",
         [](MpiFlags& f, std::string_view n, std::string_view t) {
             f.communicators = number<std::uint64_t>(n, t, 0, 1000);
         }},
    Flag{"--measure", "barriers|round-trips",
         "barriers (default), or one message between two ranks, from which `tollbar logp` takes L, o and g",
         [](MpiFlags& f, std::string_view, std::string_view t) {
             if (t != "barriers" && t != "round-trips")
                 throw WrongUse("--measure '" + std::string(t) + "': accepted are barriers, round-trips");
             f.round_trips = t == "round-trips";
         }},
    Flag{"--choose", "MS",
         "have the library choose and store a plan for each objective in so long; measure nothing else",
         [](MpiFlags& f, std::string_view n, std::string_view t) {
             f.choose_ms = number<std::uint32_t>(n, t, 1, 600'000);
         }},
};

const Flag* find(std::string_view name) {
    for (const Flag& flag : own_flags)
        if (flag.name == name) return &flag;
    return nullptr;
}

}  // namespace

std::string take_value(std::vector<const char*>& words, std::string_view flag) {
    const auto found = std::find(words.begin(), words.end(), flag);
    if (found == words.end()) return "";
    if (found + 1 == words.end()) throw WrongUse(std::string(flag) + " lacks its value");
    std::string value = found[1];
    words.erase(found, found + 2);
    return value;
}

std::uint64_t read_number(std::string_view flag, std::string_view text, std::uint64_t lowest, std::uint64_t highest) {
    return number(flag, text, lowest, highest);
}

MpiFlags take_mpi_flags(std::vector<const char*>& words) {
    MpiFlags flags;
    std::vector<const char*> others;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        const Flag* flag = find(word);
        if (word == "--ranks") throw WrongUse("--ranks is for the launcher to say: mpirun -n RANKS");
        if (flag == nullptr) {
            others.push_back(words[i]);
            continue;
        }
        if (++i == words.size()) throw WrongUse(std::string(word) + " lacks its value: " + std::string(flag->value));
        flag->take(flags, word, words[i]);
    }
    words = std::move(others);
    return flags;
}

std::string usage_of_mpi_flags() {
    std::string text = "and, where the launcher says how many ranks there are:\n";
    for (const Flag& flag : own_flags)
        text += "  " + std::string(flag.name) + " " + std::string(flag.value) + "  " + std::string(flag.help) + "\n";
    return text;
}

}  // namespace tollbar::bench
