// SPDX-License-Identifier: Apache-2.0
// The one table that defines algorithm names.
#include "makers.hpp"
#include "programs.hpp"
#include "plan/wording.hpp"

#include <algorithm>

namespace tollbar {

using namespace detail;

namespace {

constexpr std::string_view any_arity = "2 to 16777216";
constexpr std::string_view last = "the last rank to arrive";

Program at_a_counter(Rank self, Rank ranks, const Parameters&) { return counted(self, ranks); }

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
    Maker{{"turnstile", "", "", "", "Mellor-Crummey, Scott 1991: sense-reversing central", true, last, ""},
          0, {}, 0, 0, at_a_counter},
    Maker{{"counter", "", "", "", "central counter in symmetric memory", true, last, "OpenSHMEM"},
          0, {}, 0, 0, at_a_counter},
    Maker{{"combination", "P[/PLAN]", "2/dissemination", "P processors, 1 to 16777216; PLAN between them",
           "Markatos, Crovella, Das, Dubnicki, LeBlanc 1991", false, last, ""}},
    Maker{{"card:gather", "", "", "", "central counter on a NIC", false,
           "the NIC of rank 0", "NICs"}, 0, {}, 0, 0, at_a_counter},
    Maker{{"card", "PLAN", "pairwise", "a PLAN without roles, whose words the ranks' NICs run",
           "Buntinas, Panda, Sadayappan 2001", false, "", "NICs"}},
    Maker{{"switch", "", "", "", "central counter in a switch", false, "the switch", "a switch that counts"},
          0, {}, 0, 0, at_a_counter},
};
// clang-format on

constexpr auto algorithms = [] {
    std::array<Algorithm, makers.size()> table{};
    std::ranges::transform(makers, table.begin(), &Maker::algorithm);
    return table;
}();

}  // namespace

std::span<const Algorithm> catalogue() noexcept { return algorithms; }

std::string_view runs_on(std::string_view spelling) noexcept {
    for (const Algorithm& algorithm : algorithms) {
        if (algorithm.runs_everywhere()) continue;
        for (std::size_t at = spelling.find(algorithm.name); at != std::string_view::npos;
             at = spelling.find(algorithm.name, at + 1))
            if (at == 0 || spelling[at - 1] == '/') return algorithm.runs_on;
    }
    return {};
}

const Maker& detail::find_maker(std::string_view name, std::string_view spelling) {
    const auto found = std::ranges::find(makers, name, [](const Maker& maker) { return maker.algorithm.name; });
    if (found != makers.end()) return *found;
    std::string names;
    for (const Algorithm& algorithm : algorithms) names.append(names.empty() ? "" : ", ").append(algorithm.name);
    throw refuse(spelling, worded({"there is no algorithm '", name, "'; there are ", names, ", and INNER@K/OUTER"}));
}

Rank detail::roles_of(const Maker& maker, Rank ranks) { return maker.algorithm.has_roles() && ranks > 1 ? 1 : 0; }

std::invalid_argument detail::refuse(std::string_view spelling, const std::string& why) {
    return std::invalid_argument(worded({"plan '", spelling, "': ", why}));
}

}  // namespace tollbar
