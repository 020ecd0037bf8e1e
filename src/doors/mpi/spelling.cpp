// SPDX-License-Identifier: Apache-2.0
// Tells "turnstile" and "turnstile/OUTER" from the catalogue's spellings, and finds their faults before anybody runs.
#include "spelling.hpp"

#include <tollbar/algorithms.hpp>

#include <cstdlib>
#include <stdexcept>

namespace tollbar::mpi {

namespace {

constexpr std::string_view turnstile = "turnstile";

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

std::string fault_of_spelling(std::string_view spelling, Rank ranks, Rank nodes) {
    try {
        const auto outer = outer_of(spelling);
        outer ? make_plan(*outer, nodes) : make_plan(spelling, ranks);
        return "";
    } catch (const std::invalid_argument& error) {
        return std::string(error.what()) + " (also accepted here: turnstile, turnstile/PLAN)";
    }
}

}  // namespace tollbar::mpi
