// SPDX-License-Identifier: Apache-2.0
// Tells what only communicators have from the catalogue's spellings, and finds faults before anybody runs.
#include "spelling.hpp"

#include "doors/nic/fitness.hpp"

#include <tollbar/algorithms.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>

namespace tollbar::mpi {

namespace {

constexpr std::string_view turnstile = "turnstile";
constexpr std::string_view card = "/card";
constexpr std::string_view usual_shape = "pairwise";

std::string nth_of_catalogue(std::uint32_t number, std::uint32_t radix) {
    if (number > catalogue().size()) return "selection " + std::to_string(number);  // refused with the names
    const Algorithm& algorithm = catalogue()[number - 1];
    std::string spelling{algorithm.name};
    if (radix == 0) return spelling;
    const std::size_t comma = algorithm.defaults.find(',');  // the radix is the first parameter, others stay
    spelling += ":" + std::to_string(radix);
    if (comma != std::string_view::npos) spelling += algorithm.defaults.substr(comma);
    return spelling;
}

/// Whether it is "INNER@K/..." and each K ranks are a node.
bool groups_are_nodes(std::string_view spelling, const std::vector<Rank>& node_of) {
    const std::size_t at = spelling.find('@');
    Rank group = 0;
    if (at == std::string_view::npos) return false;
    std::from_chars(spelling.data() + at + 1, spelling.data() + spelling.size(), group);
    for (std::size_t rank = 0; rank < node_of.size(); ++rank)
        if (group == 0 || node_of[rank] != rank / group) return false;
    return true;
}

}  // namespace

std::string asked_plan(const tollbar_mpi_options& options) {
    if (options.plan != nullptr && *options.plan != '\0') return options.plan;
    if (options.selection != 0) return nth_of_catalogue(options.selection, options.radix);
    const char* value = std::getenv("TOLLBAR_PLAN");
    return value == nullptr ? "" : value;
}

std::optional<std::string> outer_of(std::string_view spelling) {
    if (spelling == turnstile) return "dissemination";
    if (!spelling.starts_with(turnstile) || spelling[turnstile.size()] != '/') return std::nullopt;
    return std::string(spelling.substr(turnstile.size() + 1));
}

std::optional<OnCards> on_cards(std::string_view spelling) {
    const std::size_t at = spelling.find(card);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view shape = spelling.substr(at + card.size());
    if (!shape.empty() && shape.front() != ':') return std::nullopt;
    shape = shape.size() < 2 ? usual_shape : shape.substr(1);
    const std::string_view plan = nic::is_counted(shape) ? usual_shape : shape;
    return OnCards{.by_messages = std::string(spelling.substr(0, at + 1)).append(plan), .shape = std::string(shape)};
}

std::string by_messages(std::string_view spelling) {
    const auto cards = on_cards(spelling);
    return cards ? cards->by_messages : std::string(spelling);
}

std::string moved_to_cards(std::string_view spelling, const std::vector<Rank>& node_of) {
    std::string before = std::string(turnstile).append(card).append(":");
    if (const auto outer = outer_of(spelling)) return before + *outer;
    if (groups_are_nodes(spelling, node_of)) {
        const std::size_t slash = spelling.find('/');
        return std::string(spelling.substr(0, slash)).append(card).append(":").append(spelling.substr(slash + 1));
    }
    const bool one_a_node = std::ranges::max(node_of) + 1 == node_of.size();
    return one_a_node ? before.append(spelling) : "";
}

std::string fault_of_cards(std::string_view spelling, const std::vector<Rank>& node_of) {
    const OnCards cards = on_cards(spelling).value();
    if (!outer_of(cards.by_messages) && !groups_are_nodes(spelling, node_of))
        return "the groups of '" + std::string(spelling) + "' are not the nodes";
    return nic::fault_on_card(cards.shape, std::ranges::max(node_of) + 1);
}

std::string fault_of_spelling(std::string_view spelling, Rank ranks, Rank nodes) {
    try {
        const std::string plan = by_messages(spelling);
        const auto outer = outer_of(plan);
        outer ? make_plan(*outer, nodes) : make_plan(plan, ranks);
        return "";
    } catch (const std::invalid_argument& error) {
        return std::string(error.what()) + " (also accepted here: turnstile, turnstile/PLAN, turnstile/card:PLAN)";
    }
}

}  // namespace tollbar::mpi
