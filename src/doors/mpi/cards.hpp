// SPDX-License-Identifier: Apache-2.0
// The nodes' part of a barrier on their network cards, and how their leaders get there together.
#pragma once

#include "agreement.hpp"
#include "set_up.hpp"

#include "transports/mpi/node_card.hpp"

#include <tollbar/nic.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tollbar::mpi {

/// A leader's place in a group of cards.
struct CardPlace {
    struct Leave {
        void operator()(tollbar_nic* one) const noexcept { tollbar_nic_leave(one); }
    };

    std::unique_ptr<tollbar_nic, Leave> member;
    std::string shape;    ///< what the group runs
    std::uint64_t group;  ///< no two groups of a job have the same
    Rank node;
    Rank nodes;
};

/// What a communicator runs on a leader's card. After its last episode the place is kept for another communicator of
/// the same leaders: to make a group takes tens of milliseconds.
class NicCard final : public NodeCard {
public:
    explicit NicCard(CardPlace place) noexcept : place_(std::move(place)) {}
    ~NicCard() override;

    bool arrive() noexcept override;
    State test() noexcept override;
    State wait_until(Deadline deadline) noexcept override;

    /// The nodes whose leaders have not arrived, as their cards say. May take some milliseconds.
    std::vector<Rank> missing() const;

private:
    State found(int error) noexcept;

    CardPlace place_;
    State state_ = State::over;
};

/// The same on every rank, but for the card, which leaders alone have.
struct CardsJoined {
    bool had;
    std::unique_ptr<NicCard> card;
};

/// Collective: all leaders take places in a group, or none has one and rank 0 says why not. `number` tells the groups
/// of one agreement apart. Throws std::system_error where the MPI fails.
CardsJoined join_cards(const tollbar_carrier& carrier, const Agreement& agreement, const std::string& shape,
                       std::uint8_t number, const char* name, const SetUpWait& waiting);

}  // namespace tollbar::mpi
