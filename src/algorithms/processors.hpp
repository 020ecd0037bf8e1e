// SPDX-License-Identifier: Apache-2.0
// Plans whose roles stand for processors: what only a machine can tell about them.
#pragma once

#include <tollbar/plan.hpp>

#include <string>
#include <string_view>

namespace tollbar {

/// Whether whoever plays a role of that plan is the only one on its processor who has not to wait for others there.
bool roles_are_processors(std::string_view spelling);

/// The spelling with the number of processors in it, where it may have one and has none: as many as `cpus`, at most one
/// a rank.
std::string on_processors(std::string_view spelling, Rank ranks, Rank cpus);

}  // namespace tollbar
