// SPDX-License-Identifier: Apache-2.0
// The prices that Hoefler et al., "A practical approach to the rating of barrier algorithms using the LogP model
// and Open MPI", section 4, write down as formulas.
#include <tollbar/price.hpp>

#include "checks.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace tollbar {

namespace {

/// Smallest k with n^k >= ranks; by whole numbers, because a logarithm may be off by one at the powers of n.
unsigned levels(Rank ranks, Rank n) {
    unsigned k = 0;
    for (std::uint64_t reach = 1; reach < ranks; reach *= n) ++k;
    return k;
}

}  // namespace

std::optional<ClosedForm> closed_form(std::string_view algorithm, Rank parameter, Rank ranks, const LogP& logp) {
    const auto [L, o, g] = logp;
    check_times(logp);
    if (ranks == 0) throw std::invalid_argument("a barrier has at least 1 rank, not 0");
    if (algorithm == "combining" && parameter < 2)
        throw std::invalid_argument("combining takes groups of at least 2, not " + std::to_string(parameter));

    const bool known = algorithm == "central" || algorithm == "combining" || algorithm == "tournament" ||
                       (algorithm == "dissemination" && parameter == 1);
    if (ranks == 1) return ClosedForm{};
    if (!known) return std::nullopt;

    const double f = std::max(o, g);
    const double hop = 2 * o + L;
    const double t = std::max(g, hop);
    const double k = levels(ranks, 2);
    const double broadcast = o + (k - 1) * std::max(f, hop) + L + o;

    if (algorithm == "central")
        return ClosedForm{.full_us = 2 * hop + 2 * (ranks - 2.0) * f, .simplified_us = 2 * (L + ranks * o)};
    if (algorithm == "tournament") return ClosedForm{.full_us = t * k + broadcast, .simplified_us = 2 * hop * k};
    if (algorithm == "dissemination") return ClosedForm{.full_us = t * k, .simplified_us = hop * k};
    const double n = parameter;
    const double up = levels(ranks, parameter);
    return ClosedForm{.full_us = (o + L + f * (n - 2) + o) * up + broadcast,
                      .simplified_us = (L + n * o) * up + k * hop};
}

}  // namespace tollbar
