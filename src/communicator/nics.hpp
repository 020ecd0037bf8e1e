// SPDX-License-Identifier: Apache-2.0
// The nodes' part of a barrier on their NICs, and how their leaders join a group there.
#pragma once

#include "composite.hpp"
#include "meeting.hpp"
#include "set_up.hpp"

#include "membership/group.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tollbar::detail::mpi {

/// A rank of a group of NICs. Plain memory, to be sent.
struct GroupRank {
    std::uint64_t group;  ///< no two groups of a job have the same; 0: none
    Rank node;
    Rank nodes;

    friend bool operator==(const GroupRank&, const GroupRank&) = default;
};

/// A leader's membership of a group of NICs.
struct NicMember {
    std::unique_ptr<nic::GroupTransport> transport;
    std::string shape;  ///< what the group runs
    GroupRank rank;
};

/// The barrier that a leader's NIC runs for a communicator. After its last episode the membership is kept for another
/// communicator of the same leaders: to make a group takes tens of milliseconds.
class NodeNic final : public OuterBarrier {
public:
    explicit NodeNic(NicMember member) noexcept : member_(std::move(member)) {}
    ~NodeNic() override;

    State arrive() noexcept override;
    State test() noexcept override;
    State wait_until(Deadline deadline) noexcept override;

    /// The nodes whose leaders have not arrived, as their NICs say. May take some milliseconds.
    std::vector<Rank> missing() const { return member_.transport->missing(); }

private:
    State found(bool over) noexcept;

    NicMember member_;
    State state_ = State::over;
};

/// The same on every rank, but for the NIC, which leaders alone have.
struct NicsJoined {
    bool had;
    std::unique_ptr<NodeNic> nic;
};

/// Collective: all leaders join a group of that shape, or none does and rank 0 says why not. `number` tells the groups
/// of one meeting apart. Throws std::system_error where the MPI fails.
NicsJoined join_nics(const SetUp& set_up, const Meeting& meeting, const std::string& shape, std::uint8_t number);

}  // namespace tollbar::detail::mpi
