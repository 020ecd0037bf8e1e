// SPDX-License-Identifier: Apache-2.0
// Where the words of a group lie in memory and what each rank does to them: programs with places instead of
// peers. A pure value; the same in private memory, in a shared segment and under the model checker.
#pragma once

#include "plan/lower.hpp"

#include <tollbar/detail/words.hpp>
#include <tollbar/plan.hpp>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tollbar {

/// A WordStep before the words have addresses.
struct PlacedStep {
    std::uint32_t word;  ///< line x words_a_line + place in the line
    std::uint32_t sleepers;
    std::uint32_t share;
    std::uint32_t skip;
    WordKind kind;
    bool between_processors;
};

struct Layout {
    static constexpr std::uint32_t words_a_line = line_bytes / sizeof(std::uint64_t);
    static constexpr std::uint32_t most_lines = UINT32_MAX / words_a_line;

    /// A place in a line. Throws std::invalid_argument when there are more lines than words can be numbered in.
    static std::uint32_t word_in(std::uint32_t line, std::uint32_t place);

    std::uint32_t lines = 0;
    std::uint32_t sleepers = 0;
    std::vector<std::uint32_t> first;  ///< first[r] .. first[r+1] are the steps of rank r
    std::vector<PlacedStep> steps;
};

/// What the roles of a plan stand for.
enum class RolesAre : std::uint8_t {
    groups,      ///< of ranks that live anywhere
    processors,  ///< whoever plays one is the only rank there that has not to wait for others of the processor
};

/// Gives lowered steps their words: one a channel, one or two a role. The two directions between a pair of members
/// share a line, because whoever answers then owns the line already (docs/design/words.md). Ranks place the steps that
/// they share in the same order, or one places all.
class WordPlacement {
public:
    explicit WordPlacement(RolesAre roles = RolesAre::groups) noexcept : roles_(roles) {}

    PlacedStep place(const LoweredStep& step);

    std::uint32_t lines() const noexcept { return static_cast<std::uint32_t>(lines_.size()); }
    std::uint32_t sleepers() const noexcept { return static_cast<std::uint32_t>(sleepers_.size()); }

private:
    /// By key, in the order in which they were first asked for.
    using Numbers = std::unordered_map<std::uint64_t, std::uint32_t>;

    static std::uint32_t number_of(std::uint64_t key, Numbers& numbers) {
        return numbers.try_emplace(key, numbers.size()).first->second;
    }

    RolesAre roles_;
    Numbers lines_;
    Numbers sleepers_;
};

/// The words of a plan. Throws std::invalid_argument as Lowering does.
Layout lay_out(const Plan& plan, Player player = Player::last, RolesAre roles = RolesAre::groups);

}  // namespace tollbar
