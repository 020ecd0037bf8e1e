// SPDX-License-Identifier: Apache-2.0
// Barriers at one counter: every rank signals the same role and awaits it.
#include "programs.hpp"

namespace tollbar::detail {

/// The sense-reversing central barrier of Mellor-Crummey and Scott 1991, without a sense; the one role counts.
/// A single rank is not counted.
Program counted(Rank self, Rank ranks) {
    if (ranks == 1) return {};
    if (!is_role(self)) return {signal(role(0)), await(role(0))};
    Program program;
    for (Rank rank = 0; rank < ranks; ++rank) program.push_back(await(rank));
    for (Rank rank = 0; rank < ranks; ++rank) program.push_back(signal(rank));
    return program;
}

}  // namespace tollbar::detail
