// SPDX-License-Identifier: Apache-2.0
// --only: which candidates of a roster were asked for.
#include "candidate.hpp"

#include "options.hpp"

#include <algorithm>
#include <optional>

namespace tollbar::bench {

namespace {

struct Choice {
    std::string name;
    std::optional<std::string> wait;

    bool fits(const Label& label) const { return label.name == name && (!wait || label.wait == *wait); }
    bool fits(const Skipped& skipped) const { return skipped.name == name; }
};

Choice to_choice(std::string_view text) {
    const std::size_t plus = text.rfind('+');
    if (plus == std::string_view::npos) return {std::string(text), std::nullopt};
    return {std::string(text.substr(0, plus)), std::string(text.substr(plus + 1))};
}

bool has(const Roster& roster, const Choice& choice) {
    return std::ranges::any_of(roster.candidates, [&](const auto& one) { return choice.fits(one->label()); }) ||
           std::ranges::any_of(roster.skipped, [&](const Skipped& one) { return choice.fits(one); });
}

/// The longest beginning of `list`, cut at a comma or at its end, that is known or can be added.
std::optional<std::string_view> longest_known(Roster& roster, std::string_view list, const Add& add) {
    for (std::size_t end = list.size();; end = list.rfind(',', end - 1)) {
        if (end == std::string_view::npos) return std::nullopt;
        const Choice choice = to_choice(list.substr(0, end));
        if (has(roster, choice) || add(roster, choice.name, choice.wait.value_or("auto"))) return list.substr(0, end);
        if (end == 0) return std::nullopt;
    }
}

}  // namespace

void select(Roster& roster, std::string_view list, const Add& add) {
    std::vector<Choice> choices;
    while (!list.empty()) {
        const std::optional<std::string_view> known = longest_known(roster, list, add);
        if (!known)
            throw WrongUse("--only: there is no '" + std::string(list.substr(0, list.find(','))) +
                           "' to measure; --list names what there is, and any plan may be spelled out");
        choices.push_back(to_choice(*known));
        list.remove_prefix(std::min(known->size() + 1, list.size()));
    }
    const auto unwanted = [&](const auto& one) {
        return std::ranges::none_of(choices, [&](const Choice& choice) { return choice.fits(one); });
    };
    std::erase_if(roster.candidates, [&](const auto& one) { return unwanted(one->label()); });
    std::erase_if(roster.skipped, unwanted);
}

}  // namespace tollbar::bench
