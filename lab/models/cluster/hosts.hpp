// SPDX-License-Identifier: Apache-2.0
// The hosts of a platform as ranks see them: in order, a rank on each, and how far apart they are.
#pragma once

#include <simgrid/s4u.hpp>

#include <vector>

namespace tollbar::models {

using Hosts = std::vector<simgrid::s4u::Host*>;

/// In the order of their names, numbers in them taken as numbers: node2 comes before node10.
Hosts in_order(Hosts hosts);

/// Mean latency of the routes between two different hosts: of all pairs where they are few, else of pairs drawn,
/// always the same ones. 0 for one host.
double mean_latency_s(const Hosts& hosts);

}  // namespace tollbar::models
