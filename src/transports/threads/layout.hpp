// SPDX-License-Identifier: Apache-2.0
// Where the words of a group lie in memory and what each rank does to them: programs with places instead of
// peers. A pure value; the same in private memory, in a shared segment and under the model checker.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/wired.hpp>

#include <cstdint>
#include <vector>

namespace tollbar {

/// A WiredStep before the words have addresses.
struct PlacedStep {
    std::uint32_t word;  ///< line x words_a_line + place in the line
    std::uint32_t bell;
    std::uint32_t share;
    std::uint32_t skip;
    Deed deed;
    bool between_processors;
};

struct Layout {
    static constexpr std::uint32_t words_a_line = line_bytes / sizeof(std::uint64_t);

    std::uint32_t lines = 0;
    std::uint32_t bells = 0;
    std::vector<std::uint32_t> first;  ///< first[r] .. first[r+1] are the steps of rank r
    std::vector<PlacedStep> steps;
};

/// The words of a plan: one a channel. The two directions between a pair of ranks share a line, because whoever
/// answers then owns the line already (docs/design/words.md).
/// Throws std::invalid_argument when a channel has no signal or no await, or more than one.
Layout lay_out(const Plan& plan);

/// All ranks at one word.
Layout lay_out_turnstile(Rank ranks);

/// The ranks of a node around what their first rank does elsewhere: all others add to one word, which the first
/// awaits; then it signals another word, which the others await.
Layout lay_out_gather_release(Rank ranks);

/// Markatos et al. 1991, combination barrier: rank r lives on processor r mod processors; the last to arrive on a
/// processor goes on to `among_processors`, whose ranks are the processors, and then releases the others.
/// Throws std::invalid_argument when there are more processors than ranks, or among_processors has another size.
Layout lay_out_combination(Rank ranks, Rank processors, const Plan& among_processors);

}  // namespace tollbar
