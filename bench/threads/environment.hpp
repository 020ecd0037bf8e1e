// SPDX-License-Identifier: Apache-2.0
// The first record of every launch: the machine, the versions, and how things were measured.
#pragma once

#include "options.hpp"
#include "visit.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollbar::bench {

using Versions = std::vector<std::pair<std::string, std::string>>;

/// Prints the environment record of a launch of `program` that may use `cpus`.
void print_environment(std::string_view program, const Options& options, const std::vector<int>& cpus, const Pace& pace,
                       const Versions& versions);

}  // namespace tollbar::bench
