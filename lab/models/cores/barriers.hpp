// SPDX-License-Identifier: Apache-2.0
// The barriers at which simulated threads meet: tollbar's own templates, and what the barriers of others do to memory.
#pragma once

#include "line.hpp"

#include "waiting/clusters.hpp"

#include <tollbar/models/cores.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::cores {

/// One barrier on simulated caches.
class Barrier {
public:
    Barrier() = default;
    Barrier(const Barrier&) = delete;
    Barrier& operator=(const Barrier&) = delete;
    virtual ~Barrier() = default;

    /// The thread goes through one episode.
    virtual void episode(Thread self) = 0;
};

/// The core of each thread.
using Cores = std::vector<Core>;

/// The clusters of a team's cores, as if a mask had just these.
detail::Clusters clusters_of(const Cores& team, const Machine& machine);

using Made = std::unique_ptr<Barrier>;

template <class Kind>
Made made(const Cores& team) {
    return std::make_unique<Kind>(team);
}

/// tollbar's own, as CoresRun::barrier spells them. Throws std::invalid_argument.
Made make_own(const std::string& spelling, const Cores& team, const Machine& machine);

struct Peer {
    const char* name;
    Made (*make)(const Cores& team);
};

/// Barriers that users have today.
const std::vector<Peer>& standard_peers();
const std::vector<Peer>& concurrency_kit();

/// Barriers of a paper, and its variants (published.hpp); null for any other name.
Made make_published(std::string_view name, const Cores& team);

}  // namespace tollbar::cores
