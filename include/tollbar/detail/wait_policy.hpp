// SPDX-License-Identifier: Apache-2.0
// The choices of a user for participants of every kind: the way to wait, and the processes that may join.
#pragma once

#include <tollbar/detail/language.hpp>

#include <cstdint>

namespace tollbar {

/// The way to wait that a user asks for. Spelled auto, spin, yield, park in TOLLBAR_WAIT and everywhere else.
enum class wait_policy : std::uint8_t {
    automatic,  ///< spins, yields or sleeps at once: learns what pays where it is
    spin,       ///< never yields, never sleeps: for machines with a CPU for each participant and no other load
    yield,      ///< yields without end, never sleeps
    park,       ///< sleeps at once
};

/// Whether the participants of a group may live in different processes.
enum class Scope : std::uint8_t { process, shared };

}  // namespace tollbar
