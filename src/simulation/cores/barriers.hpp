// SPDX-License-Identifier: Apache-2.0
// What the simulation has threads meet at: tollbar's own templates, and what the barriers of others do to memory.
#pragma once

#include "line.hpp"

#include <tollbar/cores.hpp>

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

/// Where each thread lives.
using Team = std::vector<Place>;

using Made = std::unique_ptr<Barrier>;

template <class Kind>
Made made(const Team& team) {
    return std::make_unique<Kind>(team);
}

/// tollbar's own, as Asked::barrier spells them. Throws std::invalid_argument.
Made make_own(const std::string& spelling, const Team& team, const Machine& machine);

struct Peer {
    const char* name;
    Made (*make)(const Team& team);
};

/// Those that users have today.
const std::vector<Peer>& standard_peers();
const std::vector<Peer>& concurrency_kit();

/// Those of a paper, and its variants (published.hpp); null for any other name.
Made make_published(std::string_view name, const Team& team);

}  // namespace tollbar::cores
