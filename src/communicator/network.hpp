// SPDX-License-Identifier: Apache-2.0
// By what the nodes of a communicator meet: what each rank was told and has, and what rank 0 makes of it.
#pragma once

#include "participant.h"

#include <tollbar/plan.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tollbar::mpi {

/// What a rank says of its network. Plain memory, to be sent.
struct NetworkStanding {
    tollbar_network told;   ///< never unsaid
    std::uint32_t address;  ///< of its host's card, network byte order; 0: there is none
    std::int32_t error;     ///< why not, an errno value
};

/// The host is asked for a card once a process, and not at all where none is wanted.
NetworkStanding own_network(const tollbar_mpi_options& options);

/// Rank 0: what all were told. Where they were told different things, that is said and messages it is.
tollbar_network common_network(const std::vector<NetworkStanding>& standings, const char* name);

/// Rank 0: why the nodes cannot meet on their cards, in one clause that names who has none; "" when they can. `hosts`
/// are the names of the leaders' hosts.
std::string why_no_cards(const std::vector<NetworkStanding>& standings, const std::vector<Rank>& leaders,
                         const std::vector<std::string>& hosts);

/// Says once a process why barriers go by messages that could go by cards; where cards were not asked for only with
/// TOLLBAR_VERBOSE=1.
enum class Asked : std::uint8_t { yes, no };
void say_by_messages(const char* name, const std::string& why, Asked asked);

}  // namespace tollbar::mpi
