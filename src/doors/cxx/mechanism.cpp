// SPDX-License-Identifier: Apache-2.0
// Parses the spellings a group takes.
#include "mechanism.hpp"

#include <tollbar/algorithms.hpp>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>

namespace tollbar {

namespace {

/// `parameters` is what follows the colon; `spelling` the whole, for messages.
Layout lay_out_combination_spelled(std::string_view spelling, std::string_view parameters, Rank ranks) {
    const std::size_t slash = std::min(parameters.find('/'), parameters.size());
    const std::string_view count = parameters.substr(0, slash);
    Rank processors = 0;
    const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), processors);
    if (error != std::errc{} || end != count.data() + count.size() || processors == 0)
        throw std::invalid_argument("plan '" + std::string(spelling) + "': expected combination[:PROCESSORS[/PLAN]]");
    const std::string_view among = slash == parameters.size() ? "dissemination" : parameters.substr(slash + 1);
    return lay_out_combination(ranks, processors, make_plan(among, processors));
}

}  // namespace

Layout lay_out_spelled(std::string_view spelling, Rank ranks, std::uint32_t cpus) {
    constexpr std::string_view combination = "combination";
    if (ranks == 0 || ranks > max_ranks)
        throw std::invalid_argument("a group has 1 to " + std::to_string(max_ranks) + " ranks, not " +
                                    std::to_string(ranks));
    if (spelling == "turnstile") return lay_out_turnstile(ranks);
    if (spelling == combination)
        return lay_out_combination_spelled(spelling, std::to_string(std::min(ranks, cpus)), ranks);
    if (spelling.starts_with(combination) && spelling[combination.size()] == ':')
        return lay_out_combination_spelled(spelling, spelling.substr(combination.size() + 1), ranks);
    try {
        return lay_out(make_plan(spelling, ranks));
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(std::string(error.what()) +
                                    "; a group also takes turnstile and combination[:PROCESSORS[/PLAN]]");
    }
}

}  // namespace tollbar
