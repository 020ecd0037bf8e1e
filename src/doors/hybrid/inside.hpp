// SPDX-License-Identifier: Apache-2.0
// What the threads of one rank do around the barrier of the ranks: all of them arrive, one goes outside, all are
// released.
#pragma once

#include "transports/threads/layout.hpp"

#include <cstdint>
#include <string_view>

namespace tollbar::hybrid {

/// Who meets the other ranks.
enum class Messenger : std::uint8_t {
    first_thread,    ///< thread 0, once it knows that all have arrived
    last_to_arrive,  ///< whoever is last at the turnstile
};

/// A layout whose programs have a place where the messenger is outside.
struct Inside {
    Layout layout;
    Messenger messenger;
    std::uint32_t gather_steps = 0;  ///< of thread 0, before it goes outside; only when it is the messenger
};

/// Any spelling of a group's plan. "turnstile" has the last thread to arrive go outside where `may_go` allows that.
/// A rooted plan is cut where thread 0 has heard of everybody; any other plan runs to its end, and then thread 0
/// releases the others with one word.
/// Throws std::invalid_argument that says what was wrong and what is accepted.
Inside lay_out_inside(std::string_view spelling, Rank threads, Messenger may_go, std::uint32_t cpus);

}  // namespace tollbar::hybrid
