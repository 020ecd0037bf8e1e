// SPDX-License-Identifier: Apache-2.0
// The nodes' part of a barrier on their network cards, and how their leaders get there together.
#pragma once

#include "agreement.hpp"
#include "composite.hpp"
#include "set_up.hpp"

#include "nicd/client/group.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tollbar::mpi {

/// Which place in which group of cards. Plain memory, to be sent.
struct Seat {
    std::uint64_t group;  ///< no two groups of a job have the same; 0: none
    Rank node;
    Rank nodes;

    friend bool operator==(const Seat&, const Seat&) = default;
};

/// A leader's.
struct CardPlace {
    std::unique_ptr<nic::GroupTransport> member;
    std::string shape;  ///< what the group runs
    Seat seat;
};

/// What a communicator runs on a leader's card. After its last episode the place is kept for another communicator of
/// the same leaders: to make a group takes tens of milliseconds.
class NodeNic final : public OuterBarrier {
public:
    explicit NodeNic(CardPlace place) noexcept : place_(std::move(place)) {}
    ~NodeNic() override;

    State arrive() noexcept override;
    State test() noexcept override;
    State wait_until(Deadline deadline) noexcept override;

    /// The nodes whose leaders have not arrived, as their cards say. May take some milliseconds.
    std::vector<Rank> missing() const { return place_.member->missing(); }

private:
    State found(bool over) noexcept;

    CardPlace place_;
    State state_ = State::over;
};

/// The same on every rank, but for the card, which leaders alone have.
struct CardsJoined {
    bool had;
    std::unique_ptr<NodeNic> nic;
};

/// Collective: all leaders take places in a group, or none has one and rank 0 says why not. `number` tells the groups
/// of one agreement apart. Throws std::system_error where the MPI fails.
CardsJoined join_cards(const SetUp& set_up, const Agreement& agreement, const std::string& shape, std::uint8_t number);

}  // namespace tollbar::mpi
