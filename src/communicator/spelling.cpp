// SPDX-License-Identifier: Apache-2.0
// The library's parser knows the plans; this file adds what nodes and their NICs make of a spelling.
#include "spelling.hpp"

#include "algorithms/defaults.hpp"
#include "algorithms/processors.hpp"
#include "membership/local_nic.hpp"
#include "base/environment.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace tollbar::detail::mpi {

namespace {

std::string joined(std::string_view inner, std::string_view between, std::string_view outer) {
    return std::string(inner).append(between).append(outer);
}

struct Levels {
    std::string_view inner;  ///< "INNER" or "INNER@K"
    std::string_view outer;
};

/// The levels of a spelling that has two.
std::optional<Levels> levels_of(std::string_view spelling) {
    const std::size_t slash = spelling.find('/');
    if (slash == std::string_view::npos || roles_are_processors(spelling)) return std::nullopt;
    return Levels{spelling.substr(0, slash), spelling.substr(slash + 1)};
}

/// Whether INNER stands alone, or each K ranks are a node.
bool groups_are_nodes(std::string_view inner, const std::vector<Rank>& node_of) {
    const std::size_t at = inner.find('@');
    if (at == std::string_view::npos) return true;
    Rank group = 0;
    std::from_chars(inner.data() + at + 1, inner.data() + inner.size(), group);
    for (std::size_t rank = 0; rank < node_of.size(); ++rank)
        if (group == 0 || node_of[rank] != rank / group) return false;
    return true;
}

}  // namespace

std::string asked_plan(const tollbar_mpi_options& options) {
    if (options.plan != nullptr && *options.plan != '\0') return options.plan;
    return environment::plan();
}

bool plan_is_from_environment(const tollbar_mpi_options& options) {
    return options.plan == nullptr || *options.plan == '\0';
}

Plan plan_of(std::string_view spelling, const Groups& nodes) {
    const bool between_nodes = nodes.size() > 1 && spelling == defaults::on_a_node;
    return make_plan(between_nodes ? std::string(defaults::over_nodes) : by_messages(spelling), nodes);
}

bool is_of_nodes(std::string_view spelling) {
    const auto levels = levels_of(spelling);
    return levels && levels->inner.find('@') == std::string_view::npos;
}

std::string fault_of_spelling(std::string_view spelling, const Groups& nodes) {
    try {
        const Plan plan = plan_of(spelling, nodes);
        if (const std::string_view only = runs_on(plan.name()); !only.empty())
            return joined("plan '", spelling, "' runs on ").append(only).append("; on cards here: turnstile/card:PLAN");
        return "";
    } catch (const std::invalid_argument& error) {
        return std::string(error.what()) + " (also accepted here: turnstile/PLAN, turnstile/card:PLAN)";
    }
}

std::optional<std::string> nic_shape(std::string_view spelling) {
    const auto levels = levels_of(spelling);
    if (!levels) return std::nullopt;
    if (levels->outer == "switch") return "switch";
    if (levels->outer == "card" || levels->outer == "card:") return std::string(defaults::on_nics);
    if (!levels->outer.starts_with("card:")) return std::nullopt;
    return std::string(levels->outer.substr(levels->outer.find(':') + 1));
}

std::string by_messages(std::string_view spelling) {
    const auto shape = nic_shape(spelling);
    if (!shape) return std::string(spelling);
    return joined(levels_of(spelling)->inner, "/", nic::is_counted(*shape) ? defaults::on_nics : *shape);
}

std::string moved_to_nics(std::string_view spelling, const std::vector<Rank>& node_of) {
    if (spelling == defaults::on_a_node) return defaults::around_nics(defaults::by_messages);
    if (const auto levels = levels_of(spelling); levels && groups_are_nodes(levels->inner, node_of))
        return joined(levels->inner, "/card:", levels->outer);
    const bool one_a_node = std::ranges::max(node_of) + 1 == node_of.size();
    return one_a_node ? defaults::around_nics(spelling) : "";
}

std::string fault_on_nics(std::string_view spelling, const std::vector<Rank>& node_of) {
    if (!groups_are_nodes(levels_of(spelling)->inner, node_of))
        return joined("the groups of '", spelling, "' do not coincide with the nodes");
    return nic::fault_on_nic(*nic_shape(spelling), std::ranges::max(node_of) + 1);
}

}  // namespace tollbar::detail::mpi
