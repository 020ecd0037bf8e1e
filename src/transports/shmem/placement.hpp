// SPDX-License-Identifier: Apache-2.0
// Where the steps of a plan take place in symmetric memory: which slot of which PE, and which counter.
#pragma once

#include <tollbar/plan.hpp>

#include <cstdint>
#include <vector>

namespace tollbar::shmem {

/// What a PE does next in an episode.
struct Step {
    enum class Kind : std::uint8_t {
        tell,      ///< tell `peer` by that slot of its own
        told,      ///< await that own slot, which `peer` (or the player of that role) tells
        meet,      ///< count up at `peer`; who is not the last of `share` goes on `skip` steps further
        flush,     ///< complete what was sent, then go on `skip` steps further
        clean_up,  ///< make what was told ready for later episodes: no step of a plan's, but of some transports
        wake       ///< wake those whom the `share` steps before have told, then go on `skip` steps further: likewise
    };

    Kind kind;
    Rank peer = 0;
    std::uint32_t slot = 0;
    std::uint32_t share = 0;
    std::uint32_t skip = 0;
    std::uint32_t done = 0;  ///< how many steps of the rank's word are over before it
};

/// The steps of rank `self`. Throws std::invalid_argument as Lowering does.
std::vector<Step> place(const Plan& plan, Rank self);

/// The most slots that a PE needs. Throws std::invalid_argument when one needs more than one counter.
std::uint32_t slots_of(const Plan& plan);

/// Whether all that a PE does for others comes before its first await: once it has posted nobody needs it.
bool is_one_shot(const std::vector<Step>& steps) noexcept;

}  // namespace tollbar::shmem
