// SPDX-License-Identifier: Apache-2.0
// The facts that a rank sends of itself when its communicator is set up, and the options that it has been given.
#pragma once

#include "arenas.hpp"
#include "participant.h"

#include <tollbar/detail/cpus.hpp>
#include <tollbar/plan.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace tollbar::detail::mpi {

/// The host and number of a rank's process; kept only while a report may name it.
struct Address {
    char host[32];
    std::int32_t process;
};

/// The network that a rank was asked to use, and its NIC.
struct NetworkFacts {
    tollbar_network asked;  ///< never unsaid
    std::uint32_t address;  ///< of its host's NIC, network byte order; 0: there is none
    std::int32_t error;     ///< why there is none, an errno value
};

/// Plain memory, to be sent.
struct Facts {
    std::uint64_t node;                               ///< equal where ranks can share memory
    std::array<std::uint64_t, Arenas::shown> arenas;  ///< those it has, as Arenas::ids() gives them
    Standing standing;
    NetworkFacts network;
    char plan[128];  ///< the plan that it was asked to run; empty: none
    Address address;
};

/// The facts of the calling rank; `held` are the arenas that it has.
Facts own_facts(const tollbar_mpi_options& options, const Arenas::Held& held);

/// The options with nothing left to the environment or to a default, but for the plan. Their pointers stay the same.
tollbar_mpi_options completed(const tollbar_mpi_options& options);

}  // namespace tollbar::detail::mpi
