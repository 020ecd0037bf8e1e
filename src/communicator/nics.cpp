// SPDX-License-Identifier: Apache-2.0
// A gather and a broadcast find a group that all leaders have left; else another pair of them establishes whether all
// are in a new one.
#include "nics.hpp"

#include "base/error.hpp"
#include "base/host.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <utility>

namespace tollbar::detail::mpi {

namespace {

/// The memberships of this process that no communicator uses; the newest are last.
class Unused {
public:
    static constexpr std::size_t kept = 4;

    /// Takes out those with that shape.
    std::vector<NicMember> take(const std::string& shape) {
        const std::lock_guard lock(mutex_);
        std::vector<NicMember> taken;
        for (NicMember& member : members_)
            if (member.shape == shape) taken.push_back(std::move(member));
        std::erase_if(members_, [](const NicMember& member) { return member.transport == nullptr; });
        return taken;
    }

    /// Leaves out members without a transport.
    void put(std::vector<NicMember> members) {
        const std::lock_guard lock(mutex_);
        for (NicMember& member : members)
            if (member.transport) members_.push_back(std::move(member));
        if (members_.size() > kept) members_.erase(members_.begin(), members_.end() - kept);
    }

private:
    std::mutex mutex_;
    std::vector<NicMember> members_;
};

Unused& unused() {
    static auto* const all = new Unused;  // never destroyed: as arenas()
    return *all;
}

/// A leader's unused memberships, to be sent.
using Offers = std::array<GroupRank, Unused::kept>;

Offers offers_of(const std::vector<NicMember>& members) {
    Offers offers{};
    std::ranges::transform(members, offers.begin(), &NicMember::rank);
    return offers;
}

/// Rank 0: a group in which each leader has the rank of its node; 0 when there is none.
std::uint64_t common_group(const std::vector<Offers>& offers, const std::vector<Rank>& leaders) {
    const auto nodes = static_cast<Rank>(leaders.size());
    for (const GroupRank& one : offers.front()) {
        const auto has = [&](Rank node) {
            const Offers& theirs = offers[leaders[node]];
            return std::ranges::find(theirs, GroupRank{one.group, node, nodes}) != theirs.end();
        };
        Rank node = 0;
        while (one.group != 0 && node < nodes && has(node)) ++node;
        if (node == nodes) return one.group;
    }
    return 0;
}

/// Collective: a leader's membership of a group that all of them have left, or none for all; `had` says which.
NicsJoined join_again(const SetUp& set_up, const Meeting& meeting, const std::string& shape) {
    std::vector<NicMember> members;
    if (meeting.leads()) members = unused().take(shape);
    const std::vector<Offers> offers = set_up.gather(offers_of(members));
    std::uint64_t group = set_up.is_root() ? common_group(offers, meeting.leaders) : 0;
    set_up.broadcast(group);
    NicsJoined joined{.had = group != 0, .nic = nullptr};
    const auto found = std::ranges::find(members, group, [](const NicMember& member) { return member.rank.group; });
    if (found != members.end()) joined.nic = std::make_unique<NodeNic>(std::move(*found));
    unused().put(std::move(members));
    return joined;
}

/// A leader's new membership.
NicMember join_new(const Meeting& meeting, const std::string& shape, std::uint8_t number) {
    if (meeting.here.size() > 1 && !meeting.arena)
        throw c_door::Refusal{ENOMEM, "the ranks of " + host_name() + " have no memory in common"};
    const nic::HostGroup group{.key = meeting.decision.key,
                               .id = number + 1U,
                               .rank = meeting.node,
                               .ranks = meeting.decision.nodes,
                               .addresses = meeting.decision.nics};
    return {.transport = nic::join_group(group, {.plan = shape, .daemon = {}, .wait = {}, .only_nic = true}),
            .shape = shape,
            .rank = {.group = group.key.low + group.id, .node = group.rank, .nodes = group.ranks}};
}

}  // namespace

NodeNic::~NodeNic() {
    if (state_ != State::over) return;
    std::vector<NicMember> members;
    members.push_back(std::move(member_));
    unused().put(std::move(members));
}

OuterBarrier::State NodeNic::found(bool over) noexcept {
    return state_ = over ? State::over : member_.transport->gone() ? State::gone : State::under_way;
}

OuterBarrier::State NodeNic::arrive() noexcept {
    return state_ = member_.transport->arrive() ? State::under_way : State::gone;
}

OuterBarrier::State NodeNic::test() noexcept { return found(member_.transport->test()); }

OuterBarrier::State NodeNic::wait_until(Deadline deadline) noexcept {
    return found(member_.transport->finish(deadline));
}

NicsJoined join_nics(const SetUp& set_up, const Meeting& meeting, const std::string& shape, std::uint8_t number) {
    NicsJoined joined = join_again(set_up, meeting, shape);
    if (joined.had) return joined;
    NicMember member{};
    const SetUp::Failure failure = set_up.first_failure(c_door::refusal_of([&] {
        if (meeting.leads()) member = join_new(meeting, shape, number);
    }));
    joined.had = failure.error == 0;
    if (!joined.had && set_up.is_root())
        say(by_messages_because("rank " + std::to_string(failure.rank) + ": " + failure.line.data(), set_up.name(),
                                meeting.decision.network == TOLLBAR_NETWORK_NIC));
    if (joined.had && meeting.leads()) joined.nic = std::make_unique<NodeNic>(std::move(member));
    return joined;
}

}  // namespace tollbar::detail::mpi
