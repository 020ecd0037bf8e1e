// SPDX-License-Identifier: Apache-2.0
// A barrier of the nodes that runs elsewhere, on their network cards: whoever leads a node starts an episode there and
// is told when it is over.
#pragma once

#include <tollbar/sync.hpp>

#include <cstdint>

namespace tollbar {

/// One node's place in it. One thread at a time.
class NodeCard {
public:
    enum class State : std::uint8_t {
        over,
        under_way,
        gone,  ///< nothing runs it any more: no further episode ends
    };

    NodeCard() = default;
    virtual ~NodeCard() = default;
    NodeCard(const NodeCard&) = delete;
    NodeCard& operator=(const NodeCard&) = delete;

    /// Enters the next episode, after the end of the one before; false when it is gone. Never blocks.
    /// Memory order: release of everything this rank did or saw before.
    virtual bool arrive() noexcept = 0;

    /// What became of the episode entered last. Never blocks. Memory order: acquire of what every node did before it
    /// arrived, when over.
    virtual State test() noexcept = 0;

    /// As test(), and waits for it: until then at most. The card wakes whoever sleeps in it.
    virtual State wait_until(Deadline deadline) noexcept = 0;
};

}  // namespace tollbar
