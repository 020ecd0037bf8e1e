// SPDX-License-Identifier: Apache-2.0
// Plans compiled to what a network card executes: for each rank a list of steps, each "tell one peer, then await one".
#pragma once

#include "frame.h"

#include <tollbar/plan.hpp>

#include <vector>

namespace tollbar {

/// The steps of rank `self`, in the order of its program; each signal and each await of the program is in exactly one.
/// A step that has a peer says also which of that peer's steps is the other end.
///
/// Throws std::invalid_argument when a signal has no await at its peer, an await no signal, a channel is used twice, or
/// a program has 65536 steps or more. Costs the programs of self's peers.
std::vector<toll_step> compile_steps(const Plan& plan, Rank self);

}  // namespace tollbar
