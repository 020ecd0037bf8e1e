// SPDX-License-Identifier: Apache-2.0
// The one parser of spellings. The text behind a slash is parsed as a plan of its own:
//
//     PLAN := NAME[:PARAMETERS] | INNER@K/PLAN | INNER/PLAN | combination[:P[/PLAN]] | card[:PLAN]
#include "makers.hpp"
#include "plan/grouping.hpp"
#include "plan/wording.hpp"

#include <algorithm>
#include <charconv>

namespace tollbar {

using namespace detail;

namespace {

Rank parse_number(std::string_view digits, std::string_view spelling, const std::string& accepted) {
    Rank number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size())
        throw refuse(spelling, worded({"'", digits, "' is not ", accepted}));
    return number;
}

/// The name of parameter `i` in "ARRIVAL,WAKEUP", with what it may be.
std::string accepted_of(const Maker& maker, std::size_t i) {
    std::string_view names = maker.algorithm.parameters;
    while (i-- > 0) names.remove_prefix(names.find(',') + 1);
    return worded({names.substr(0, names.find(',')), " (", maker.algorithm.restrictions, ")"});
}

Parameters parse_parameters(const Maker& maker, std::string_view text, std::string_view spelling) {
    const std::string accepted = worded({maker.algorithm.parameters, " (", maker.algorithm.restrictions, ")"});
    if (maker.parameters == 0) throw refuse(spelling, worded({maker.algorithm.name, " takes no parameter"}));
    Parameters parameters = maker.defaults;
    for (std::size_t i = 0; i < maker.parameters; ++i) {
        const std::size_t comma = i + 1 < maker.parameters ? text.find(',') : text.size();
        if (comma == std::string_view::npos) throw refuse(spelling, "expected " + accepted);
        parameters[i] = parse_number(text.substr(0, comma), spelling, accepted_of(maker, i));
        if (parameters[i] < maker.lowest || parameters[i] > maker.highest)
            throw refuse(spelling, worded({parameters[i], " is not ", accepted_of(maker, i)}));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return parameters;
}

/// `name[:parameters]` of a family that has a program.
struct OneLevel {
    const Maker& maker;
    Parameters parameters;

    Plan plan(std::string name, Rank ranks) const {
        return {std::move(name), ranks,
                [program = maker.program, ranks, of = parameters](Rank self) { return program(self, ranks, of); },
                roles_of(maker, ranks)};
    }

    Family family() const {
        return [self = *this](Rank ranks) { return self.plan(std::string(self.maker.algorithm.name), ranks); };
    }
};

OneLevel parse_one_level(std::string_view spelling) {
    const std::size_t colon = spelling.starts_with("card:") ? spelling.size() : spelling.find(':');
    const Maker& maker = find_maker(spelling.substr(0, colon), spelling);
    if (colon >= spelling.size()) return {maker, maker.defaults};
    return {maker, parse_parameters(maker, spelling.substr(colon + 1), spelling)};
}

Plan parse(std::string_view spelling, Rank ranks, const Grouping* groups);

/// The text behind a name and one character, or the default parameters of that name.
std::string_view argument_of(std::string_view name, std::string_view spelling) {
    if (spelling.size() == name.size()) return find_maker(name, spelling).algorithm.defaults;
    return spelling.substr(name.size() + 1);
}

/// Each processor's ranks meet at a counter, whose role runs the plan among the processors.
Plan parse_combination(std::string_view name, std::string_view spelling, Rank ranks) {
    if (spelling.size() > name.size() && spelling[name.size()] != ':')
        throw refuse(spelling, "expected combination[:P[/PLAN]]");
    const std::string_view argument = argument_of(name, spelling);
    const std::size_t slash = std::min(argument.find('/'), argument.size());
    const std::string accepted = worded({"a number of processors P, 1 to ", max_ranks});
    const Rank processors = parse_number(argument.substr(0, slash), spelling, accepted);
    if (processors == 0 || processors > max_ranks) throw refuse(spelling, worded({processors, " is not ", accepted}));

    const auto grouping = Grouping::by_remainder(ranks, processors);
    const std::string_view between = slash == argument.size() ? "dissemination" : argument.substr(slash + 1);
    const Plan outer = parse(between, grouping.groups(), nullptr);
    return combine_turning(std::string(spelling), grouping, parse_one_level("turnstile").family(), outer);
}

Plan parse_on_nics(std::string_view name, std::string_view spelling, Rank ranks) {
    if (spelling.size() > name.size() && spelling[name.size()] != ':') throw refuse(spelling, "expected card[:PLAN]");
    const Plan plan = parse(argument_of(name, spelling), ranks, nullptr);
    if (plan.roles() != 0)
        throw refuse(spelling, worded({"'", plan.name(),
                                       "' has roles, which NICs do not play; there are card:gather and switch"}));
    return {std::string(spelling), ranks, [plan](Rank self) { return plan.program(self); }};
}

Plan parse_two_levels(std::size_t delimiter, std::string_view spelling, Rank ranks, const Grouping* groups) {
    const std::string_view inner = spelling.substr(0, delimiter);
    const std::size_t slash = spelling.find('/', delimiter);
    if (slash == std::string_view::npos) throw refuse(spelling, "expected INNER@K/OUTER");
    std::optional<Grouping> neighbours;
    if (spelling[delimiter] == '@') {
        const Rank group = parse_number(spelling.substr(delimiter + 1, slash - delimiter - 1), spelling,
                                        "a group size K, at least 1");
        if (group == 0) throw refuse(spelling, "a group has at least 1 rank, not 0");
        groups = &neighbours.emplace(Grouping::neighbours(ranks, group));
    }
    if (groups == nullptr)
        throw refuse(spelling, worded({"there are no nodes here whose ranks could be the groups; write ", inner, "@K",
                                       spelling.substr(slash), " for groups of K ranks"}));
    const Plan outer = parse(spelling.substr(slash + 1), groups->groups(), nullptr);
    const OneLevel family = parse_one_level(inner);
    if (!family.maker.algorithm.inner)
        throw refuse(spelling, worded({"'", inner, "' cannot stand in front of '", spelling.substr(delimiter, 1),
                                       "': its first rank does not hear from every rank before it releases any"}));
    return combine_turning(std::string(spelling), *groups, family.family(), outer);
}

Plan parse(std::string_view spelling, Rank ranks, const Grouping* groups) {
    const std::string_view name = spelling.substr(0, spelling.find_first_of(":@/"));
    if (name == "combination") return parse_combination(name, spelling, ranks);
    if (name == "card" && spelling != "card:gather") return parse_on_nics(name, spelling, ranks);
    if (const std::size_t delimiter = spelling.find_first_of("@/"); delimiter != std::string_view::npos)
        return parse_two_levels(delimiter, spelling, ranks, groups);
    return parse_one_level(spelling).plan(std::string(spelling), ranks);
}

}  // namespace

Plan make_plan(std::string_view spelling, Rank ranks) {
    check_ranks(ranks);
    return parse(spelling, ranks, nullptr);
}

Plan make_plan(std::string_view spelling, const Groups& groups) {
    const Grouping grouping = Grouping::listed(groups);
    return parse(spelling, grouping.ranks(), &grouping);
}

}  // namespace tollbar
