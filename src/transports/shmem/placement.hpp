// SPDX-License-Identifier: Apache-2.0
// The steps of a plan in symmetric memory: which slot of which PE each one uses, and which counter.
#pragma once

#include <tollbar/plan.hpp>

#include <cstdint>
#include <vector>

namespace tollbar::detail::shmem {

/// One step of a PE in an episode.
struct Step {
    enum class Kind : std::uint8_t {
        signal,  ///< signal `peer` by that slot of its own
        await,   ///< await that own slot, by which `peer` (or the player of that role) signals
        meet,    ///< count up at `peer`; a PE that is not the last of `share` goes on `skip` steps further
        flush,   ///< complete what was sent, then go on `skip` steps further
        wake,  ///< wake the PEs that the `share` steps before have signalled, then go on `skip` steps further: no step
               ///< of a plan's, but of the transport, as the next
        leave  ///< await that the counter at `peer` is full
    };

    Kind kind;
    Rank peer = 0;
    std::uint32_t slot = 0;
    std::uint32_t share = 0;
    std::uint32_t skip = 0;
    std::uint32_t done = 0;  ///< how many steps of the rank's word are over before it
};

/// The steps of rank `self`. Throws std::invalid_argument as Lowering does.
std::vector<Step> steps_of(const Plan& plan, Rank self);

/// The most slots that a PE needs. Throws std::invalid_argument when one needs more than one counter.
std::uint32_t slots_of(const Plan& plan);

/// Whether all that a PE does for others comes before its first await: once it has posted nobody needs it.
bool is_one_shot(const std::vector<Step>& steps) noexcept;

}  // namespace tollbar::detail::shmem
