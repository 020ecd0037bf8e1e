// SPDX-License-Identifier: Apache-2.0
// A gather and a broadcast find a group that all leaders have left, else another pair of them tells
// whether all are in a new one.
#include "cards.hpp"

#include "runtime/error.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <utility>

namespace tollbar::mpi {

namespace {

/// The places of this process in groups that nobody uses; the newest are last.
class Unused {
public:
    static constexpr std::size_t kept = 4;

    /// Those with that shape; nobody else gets them meanwhile.
    std::vector<CardPlace> take(const std::string& shape) {
        const std::lock_guard lock(mutex_);
        std::vector<CardPlace> taken;
        for (CardPlace& place : places_)
            if (place.shape == shape) taken.push_back(std::move(place));
        std::erase_if(places_, [](const CardPlace& place) { return place.member == nullptr; });
        return taken;
    }

    /// Places without a member are none.
    void put(std::vector<CardPlace> places) {
        const std::lock_guard lock(mutex_);
        for (CardPlace& place : places)
            if (place.member) places_.push_back(std::move(place));
        if (places_.size() > kept) places_.erase(places_.begin(), places_.end() - kept);
    }

private:
    std::mutex mutex_;
    std::vector<CardPlace> places_;
};

Unused& unused() {
    static Unused all;
    return all;
}

/// What a leader tells of its unused places.
using Offers = std::array<Seat, Unused::kept>;

Offers offers_of(const std::vector<CardPlace>& places) {
    Offers offers{};
    std::ranges::transform(places, offers.begin(), &CardPlace::seat);
    return offers;
}

/// Rank 0: a group in which each leader has the place of its node; 0 when there is none.
std::uint64_t common_group(const std::vector<Offers>& offers, const std::vector<Rank>& leaders) {
    const auto nodes = static_cast<Rank>(leaders.size());
    for (const Seat& one : offers.front()) {
        const auto has = [&](Rank node) {
            const Offers& theirs = offers[leaders[node]];
            return std::ranges::find(theirs, Seat{one.group, node, nodes}) != theirs.end();
        };
        Rank node = 0;
        while (one.group != 0 && node < nodes && has(node)) ++node;
        if (node == nodes) return one.group;
    }
    return 0;
}

/// Collective: a leader's place in a group that all of them have left, or none for all; `had` says which.
CardsJoined join_again(const SetUp& set_up, const Agreement& agreement, const std::string& shape, bool leads) {
    std::vector<CardPlace> places;
    if (leads) places = unused().take(shape);
    const std::vector<Offers> offers = set_up.gather(offers_of(places));
    std::uint64_t group = set_up.is_root() ? common_group(offers, agreement.leaders) : 0;
    set_up.broadcast(group);
    CardsJoined joined{.had = group != 0, .nic = nullptr};
    const auto found = std::ranges::find(places, group, [](const CardPlace& place) { return place.seat.group; });
    if (found != places.end()) joined.nic = std::make_unique<NodeNic>(std::move(*found));
    unused().put(std::move(places));
    return joined;
}

/// Why a rank's attempt failed; empty when it did not.
using Failure = std::array<char, 200>;

Failure failed(const std::string& why) {
    Failure failure{};
    why.copy(failure.data(), failure.size() - 1);
    return failure;
}

/// A leader's.
Failure take_place(const Agreement& agreement, const std::string& shape, std::uint8_t number, CardPlace& place) {
    if (agreement.here.size() > 1 && !agreement.arena)
        return failed("the ranks of " + host_name() + " have no memory in common");
    const nic::Group group{.key = agreement.terms.key,
                           .id = number + 1U,
                           .rank = agreement.node,
                           .ranks = agreement.terms.nodes,
                           .addresses = agreement.cards};
    const auto refusal = runtime::refusal_of(
        [&] { place.member = nic::join_group(group, {.plan = shape, .daemon = {}, .wait = {}, .only_nic = true}); });
    if (refusal.error != 0) return failed(refusal.line);
    place.shape = shape;
    place.seat = {.group = group.key.low + group.id, .node = group.rank, .nodes = group.ranks};
    return {};
}

}  // namespace

NodeNic::~NodeNic() {
    if (state_ != State::over) return;
    std::vector<CardPlace> places;
    places.push_back(std::move(place_));
    unused().put(std::move(places));
}

OuterBarrier::State NodeNic::found(bool over) noexcept {
    return state_ = over ? State::over : place_.member->gone() ? State::gone : State::under_way;
}

OuterBarrier::State NodeNic::arrive() noexcept {
    return state_ = place_.member->arrive() ? State::under_way : State::gone;
}

OuterBarrier::State NodeNic::test() noexcept { return found(place_.member->test()); }

OuterBarrier::State NodeNic::wait_until(Deadline deadline) noexcept { return found(place_.member->finish(deadline)); }

CardsJoined join_cards(const SetUp& set_up, const Agreement& agreement, const std::string& shape, std::uint8_t number) {
    const bool leads = agreement.leaders[agreement.node] == set_up.p2p().rank;
    CardsJoined joined = join_again(set_up, agreement, shape, leads);
    if (joined.had) return joined;
    CardPlace place{};
    const std::vector<Failure> all = set_up.gather(leads ? take_place(agreement, shape, number, place) : Failure{});
    if (set_up.is_root()) {
        const auto refused = std::ranges::find_if(all, [](const Failure& why) { return why[0] != '\0'; });
        joined.had = refused == all.end();
        if (!joined.had)
            say_by_messages(set_up.name(), "rank " + std::to_string(refused - all.begin()) + ": " + refused->data(),
                            agreement.terms.network == TOLLBAR_NETWORK_NIC ? Asked::yes : Asked::no);
    }
    set_up.broadcast(joined.had);
    if (joined.had && leads) joined.nic = std::make_unique<NodeNic>(std::move(place));
    return joined;
}

}  // namespace tollbar::mpi
