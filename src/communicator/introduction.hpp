// SPDX-License-Identifier: Apache-2.0
// What a rank says of itself when a communicator is set up.
#pragma once

#include "arenas.hpp"
#include "participant.h"

#include <tollbar/detail/crowding.hpp>
#include <tollbar/plan.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace tollbar::mpi {

/// Where a rank's process is; kept only while somebody may ask who is missing.
struct Address {
    char host[32];
    std::int32_t process;
};

/// What a rank was told of its network, and has.
struct NetworkStanding {
    tollbar_network told;   ///< never unsaid
    std::uint32_t address;  ///< of its host's card, network byte order; 0: there is none
    std::int32_t error;     ///< why not, an errno value
};

/// Plain memory, to be sent.
struct Introduction {
    std::uint64_t node;                              ///< equal where ranks can share memory
    std::array<std::uint64_t, Arenas::told> arenas;  ///< those it has, as Arenas::ids() gives them
    Standing standing;
    NetworkStanding network;
    char plan[128];  ///< what it was told to run; empty: nothing
    Address address;
};

/// `held` are the arenas that this rank tells of.
Introduction own_introduction(const tollbar_mpi_options& options, const Arenas::Held& held);

/// What gethostname(2) says.
const std::string& host_name();

}  // namespace tollbar::mpi
