// SPDX-License-Identifier: Apache-2.0
// Refusals that some doors tell apart from other wrong arguments.
#pragma once

#include <stdexcept>

namespace tollbar {

/// Somebody has the rank, or left it inside an episode.
struct RankTaken : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// What has the name is another group than asked for, or no group at all.
struct OtherSegment : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

}  // namespace tollbar
