// SPDX-License-Identifier: Apache-2.0
// Plans compiled for UDP and NICs: for each rank a list of steps, each "signal one peer, then await one".
#pragma once

#include "frame.h"

#include <tollbar/plan.hpp>

#include <vector>

namespace tollbar::detail {

/// The steps of rank `self`, in the order of its program; each signal and each await of the program is in exactly one.
/// A step that has a peer says also which of that peer's steps is the other end. Roles are played by their first
/// members: see played_by_first().
///
/// Throws std::invalid_argument when a signal has no await at its peer, an await no signal, a channel is used twice, a
/// program has 65536 steps or more, or the plan has roles. Costs the programs of self's peers.
std::vector<toll_step> compile_steps(const Plan& plan, Rank self);

/// How many steps a word without roles is compiled to.
std::size_t count_steps(const Program& program);

}  // namespace tollbar::detail
