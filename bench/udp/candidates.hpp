// SPDX-License-Identifier: Apache-2.0
// What a program measures between hosts: every plan by datagrams, waiting asleep and awake.
#pragma once

#include "candidate.hpp"
#include "network.hpp"

#include <memory>

namespace tollbar::bench {

/// Every plan of the catalogue, blocking; the exchanges also looking for a moment first, and busy polling.
void add_udp(Roster& roster, Rank ranks, const std::shared_ptr<const Network>& network);

/// One plan; false when it cannot be spelled so, or not for that many ranks.
bool add_udp_plan(Roster& roster, Rank ranks, const std::shared_ptr<const Network>& network,
                  const std::string& spelling, const std::string& wait);

}  // namespace tollbar::bench
