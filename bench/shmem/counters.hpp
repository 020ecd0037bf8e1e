// SPDX-License-Identifier: Apache-2.0
// The ways of signalling that Raymond's experiments compare with puts ("Implementing Split-Mode Barriers in
// OpenSHMEM"): atomic updates of counters. The library has none of them.
#pragma once

#include "transports/shmem/signals.hpp"

#include <array>

namespace tollbar::bench {

struct CounterKind {
    const char* name;
    shmem::SignalKind kind;
};

/// amo32: increments of 32-bit counters; amo64: fetching increments of 64-bit counters; posted: increments of 64-bit
/// counters that are not waited for, with N at most N of them outstanding. The receiver takes all of them back.
extern const std::array<CounterKind, 6> counter_kinds;

}  // namespace tollbar::bench
