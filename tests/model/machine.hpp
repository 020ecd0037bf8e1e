// SPDX-License-Identifier: Apache-2.0
// The state of the modelled machine beside the checker's own: who sleeps where, and what is broken on purpose.
#pragma once

#include "checker.hpp"

#include <array>

namespace tollbar::model {

struct Machine {
    Weakening weakening;
    std::array<const void*, max_threads> asleep_at{};  ///< by thread: the word it sleeps on
    std::array<std::uint32_t, max_threads> mask{};     ///< by thread: which wake-ups reach it there
    std::uint64_t ticks = 0;                           ///< of the clock
    std::array<bool, max_threads>
        wrote_in_total_order{};  ///< by thread: a sequentially consistent write since its last fence
};

/// Of the interleaving that is being run.
inline Machine machine;

}  // namespace tollbar::model
