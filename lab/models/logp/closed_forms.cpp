// SPDX-License-Identifier: Apache-2.0
// The prices that Hoefler et al., "A practical approach to the rating of barrier algorithms using the LogP model
// and Open MPI", section 4, write down as formulas.
#include <tollbar/models/logp.hpp>

#include "analysis/checks.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace tollbar {

using namespace detail;

namespace {

/// Smallest k with n^k >= ranks; by whole numbers, because a logarithm may be off by one at the powers of n.
unsigned levels(Rank ranks, Rank n) {
    unsigned k = 0;
    for (std::uint64_t reach = 1; reach < ranks; reach *= n) ++k;
    return k;
}

}  // namespace

std::optional<ClosedForm> closed_form(std::string_view algorithm, Rank parameter, Rank ranks, const LogP& logp) {
    check_times(logp);
    if (ranks == 0) throw std::invalid_argument("a barrier has at least 1 rank, not 0");
    if (algorithm == "combining" && parameter < 2)
        throw std::invalid_argument("combining takes groups of at least 2, not " + std::to_string(parameter));

    const bool known = algorithm == "central" || algorithm == "combining" || algorithm == "tournament" ||
                       (algorithm == "dissemination" && parameter == 1);
    if (ranks == 1) return ClosedForm{};
    if (!known) return std::nullopt;

    const double o_s = logp.o_s();
    const double o_r = logp.receiver_us();
    const double f_s = std::max(o_s, logp.g);  // equations 1 to 4
    const double f_r = std::max(o_r, logp.g);
    const double hop = logp.path_us();
    const double t = std::max(logp.g, hop);
    const double k = levels(ranks, 2);
    const double broadcast = o_s + (k - 1) * std::max(f_s, hop) + logp.L + o_r;
    const double o = (o_s + o_r) / 2;

    if (algorithm == "central")
        return ClosedForm{.full_us = 2 * hop + (ranks - 2.0) * f_r + (ranks - 2.0) * f_s,
                          .simplified_us = 2 * (logp.L + ranks * o)};
    if (algorithm == "tournament") return ClosedForm{.full_us = t * k + broadcast, .simplified_us = 2 * hop * k};
    if (algorithm == "dissemination") return ClosedForm{.full_us = t * k, .simplified_us = hop * k};
    const double n = parameter;
    const double up = levels(ranks, parameter);
    return ClosedForm{.full_us = (o_s + logp.L + f_r * (n - 2) + o_r) * up + broadcast,
                      .simplified_us = (logp.L + n * o) * up + k * hop};
}

}  // namespace tollbar
