// SPDX-License-Identifier: Apache-2.0
// The one table that defines algorithm names, and the parser of their spellings.
#include <tollbar/algorithms.hpp>

#include "plan/combine.hpp"
#include "plan/ranks.hpp"
#include "programs.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string>

namespace tollbar {

namespace {

using Parameters = std::array<Rank, 2>;

/// How a family is made: how many parameters it takes, between which bounds, and its program.
struct Maker {
    Algorithm algorithm;
    std::size_t parameters;
    Parameters defaults;
    Rank lowest;
    Rank highest;
    Program (*program)(Rank self, Rank ranks, const Parameters& parameters);
};

constexpr std::string_view any_arity = "2 to 16777216";

// One algorithm, two lines.
// clang-format off
constexpr std::array makers{
    Maker{{"central", "", "", "", "central counter", true}, 0, {}, 0, 0,
          [](Rank self, Rank ranks, const Parameters&) { return central(self, ranks); }},
    Maker{{"combining", "N", "4", any_arity, "Yew, Tzeng, Lawrie 1987", true}, 1, {4}, 2, max_ranks,
          [](Rank self, Rank ranks, const Parameters& p) { return combining(self, ranks, p[0]); }},
    Maker{{"fway_tournament", "F", "4", any_arity, "Grunwald, Vajracharya 1994", true}, 1, {4}, 2, max_ranks,
          [](Rank self, Rank ranks, const Parameters& p) { return fway_tournament(self, ranks, p[0]); }},
    Maker{{"mcs", "ARRIVAL,WAKEUP", "4,2", any_arity, "Mellor-Crummey, Scott 1991", true}, 2, {4, 2}, 2, max_ranks,
          [](Rank self, Rank ranks, const Parameters& p) { return mcs(self, ranks, p[0], p[1]); }},
    Maker{{"tournament", "", "", "", "Hensgen, Finkel, Manber 1988", true}, 0, {}, 0, 0,
          [](Rank self, Rank ranks, const Parameters&) { return tournament(self, ranks); }},
    Maker{{"bst", "", "", "", "Tzeng, Kongmunvattana 1997", true}, 0, {}, 0, 0,
          [](Rank self, Rank ranks, const Parameters&) { return bst(self, ranks); }},
    Maker{{"butterfly", "", "", "", "Brooks 1986", false}, 0, {}, 0, 0,
          [](Rank self, Rank ranks, const Parameters&) { return butterfly(self, ranks); }},
    Maker{{"pairwise", "", "", "", "recursive doubling; Buntinas, Panda, Sadayappan 2001", false}, 0, {}, 0, 0,
          [](Rank self, Rank ranks, const Parameters&) { return pairwise(self, ranks); }},
    Maker{{"dissemination", "W", "1", "1 to 7", "Hensgen, Finkel, Manber 1988; W ways: Hoefler et al. 2006", false},
          1, {1}, 1, 7,
          [](Rank self, Rank ranks, const Parameters& p) { return dissemination(self, ranks, p[0]); }},
};
// clang-format on

constexpr auto algorithms = [] {
    std::array<Algorithm, makers.size()> table{};
    std::ranges::transform(makers, table.begin(), &Maker::algorithm);
    return table;
}();

std::invalid_argument refuse(std::string_view spelling, const std::string& why) {
    return std::invalid_argument("plan '" + std::string(spelling) + "': " + why);
}

Rank parse_number(std::string_view digits, std::string_view spelling, const std::string& accepted) {
    Rank number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size())
        throw refuse(spelling, "'" + std::string(digits) + "' is not " + accepted);
    return number;
}

const Maker& find_maker(std::string_view name, std::string_view spelling) {
    const auto found = std::ranges::find(makers, name, [](const Maker& maker) { return maker.algorithm.name; });
    if (found != makers.end()) return *found;
    std::string names;
    for (const Algorithm& algorithm : algorithms) names += (names.empty() ? "" : ", ") + std::string(algorithm.name);
    throw refuse(spelling,
                 "there is no algorithm '" + std::string(name) + "'; there are " + names + ", and INNER@K/OUTER");
}

Parameters parse_parameters(const Maker& maker, std::string_view text, std::string_view spelling) {
    const std::string accepted = std::string(maker.algorithm.parameters) + " (" +
                                 std::string(maker.algorithm.restrictions) + ")";
    if (maker.parameters == 0) throw refuse(spelling, std::string(maker.algorithm.name) + " takes no parameter");
    Parameters parameters = maker.defaults;
    for (std::size_t i = 0; i < maker.parameters; ++i) {
        const std::size_t comma = i + 1 < maker.parameters ? text.find(',') : text.size();
        if (comma == std::string_view::npos) throw refuse(spelling, "expected " + accepted);
        parameters[i] = parse_number(text.substr(0, comma), spelling, accepted);
        if (parameters[i] < maker.lowest || parameters[i] > maker.highest)
            throw refuse(spelling, std::to_string(parameters[i]) + " is not " + accepted);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return parameters;
}

Plan make_one_level(std::string_view spelling, Rank ranks) {
    const std::size_t colon = std::min(spelling.find(':'), spelling.size());
    const Maker& maker = find_maker(spelling.substr(0, colon), spelling);
    const Parameters parameters = colon == spelling.size()
                                      ? maker.defaults
                                      : parse_parameters(maker, spelling.substr(colon + 1), spelling);
    return {std::string(spelling), ranks,
            [program = maker.program, ranks, parameters](Rank self) { return program(self, ranks, parameters); }};
}

}  // namespace

std::span<const Algorithm> catalogue() noexcept { return algorithms; }

Plan make_plan(std::string_view spelling, Rank ranks) {
    check_ranks(ranks);
    const std::size_t at = spelling.find('@');
    if (at == std::string_view::npos) return make_one_level(spelling, ranks);

    const std::size_t slash = spelling.find('/', at);
    if (slash == std::string_view::npos) throw refuse(spelling, "expected INNER@K/OUTER");
    const std::string_view inner = spelling.substr(0, at);
    const Rank group = parse_number(spelling.substr(at + 1, slash - at - 1), spelling, "a group size K, at least 1");
    if (group == 0) throw refuse(spelling, "a group has at least 1 rank, not 0");
    const Plan outer = make_plan(spelling.substr(slash + 1), (ranks - 1) / group + 1);
    if (!find_maker(inner.substr(0, inner.find(':')), spelling).algorithm.rooted)
        throw refuse(spelling, "'" + std::string(inner) +
                                   "' cannot stand in front of '@': its first rank does not "
                                   "gather everybody before it releases anybody");
    return combine_rooted(
        ranks, [inner](Rank members) { return make_one_level(inner, members); }, group, outer);
}

}  // namespace tollbar
