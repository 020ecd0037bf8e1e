// SPDX-License-Identifier: Apache-2.0
// The words of a group in memory, and what each rank does to them: a schedule with words instead of peers. A pure
// value; the same in private memory, in a shared segment and under the model checker.
#pragma once

#include "plan/schedule.hpp"

#include <tollbar/detail/words.hpp>
#include <tollbar/plan.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace tollbar::detail {

/// A WordStep before the words have addresses.
struct PlacedStep {
    std::uint32_t word;  ///< line x words_a_line + offset in the line
    std::uint32_t sleepers;
    std::uint32_t share;
    std::uint32_t skip;
    WordKind kind;
    bool between_processors;
};

struct Layout {
    static constexpr std::uint32_t words_a_line = line_bytes / sizeof(std::uint64_t);
    static constexpr std::uint32_t most_lines = UINT32_MAX / words_a_line;

    /// The word at an offset in a line. Throws std::invalid_argument when there are more lines than words can be
    /// numbered in.
    static std::uint32_t word_in(std::uint32_t line, std::uint32_t offset);

    std::uint32_t lines = 0;
    std::uint32_t sleepers = 0;
    std::vector<std::uint32_t> first;  ///< first[r] .. first[r+1] are the steps of rank r
    std::vector<PlacedStep> steps;
};

/// The meaning of a plan's roles.
enum class RolesAre : std::uint8_t {
    groups,      ///< ranks that live anywhere
    processors,  ///< the ranks of a processor: the player is the only one of them that waits for no other of them
};

/// Whether an operation of a schedule is done at a word.
using AtWords = std::function<bool(const Operation& operation)>;

/// The words of a schedule: of its operations that are done at words, which are all by default. Throws
/// std::invalid_argument when there are too many lines.
Layout lay_out(const Schedule& schedule, RolesAre roles = RolesAre::groups, const AtWords& at_words = nullptr);

/// The words of a plan. Throws std::invalid_argument as lower() does.
Layout lay_out(const Plan& plan, Player player = Player::last, RolesAre roles = RolesAre::groups);

}  // namespace tollbar::detail
