// SPDX-License-Identifier: Apache-2.0
// Partitions that change: who owns which processor when applications come and go, and which threads that moves.
#pragma once

#include "jobs.hpp"

#include <cstdint>
#include <vector>

namespace tollbar::scheduler {

/// Equal shares, but no application has more processors than threads; where they cannot be equal those who came first
/// have one more. An application keeps what it has as far as it can, and as few threads move as can: those of a
/// processor that is taken go where fewest are, and a processor that is given takes threads from the fullest.
class Partitions {
public:
    struct Move {
        Thread thread;
        std::uint32_t from, to;
    };

    explicit Partitions(std::uint32_t processors) : owner_(processors) {}

    /// The applications are placed on their shares. The moves are those of the others' threads.
    std::vector<Move> arrived(const std::vector<Job*>& jobs);
    std::vector<Move> completed(const Job& job);

private:
    /// Divides the processors, places the threads of all who have no home yet, and moves those of the others.
    std::vector<Move> divide();
    std::vector<std::uint32_t> shares() const;
    std::vector<std::uint32_t> owned_by(const Job* job) const;
    static std::vector<Move> balance(Job& job, const std::vector<std::uint32_t>& owned);

    std::vector<const Job*> owner_;  // of each processor; null: nobody
    std::vector<Job*> present_;      // in order of arrival
};

}  // namespace tollbar::scheduler
