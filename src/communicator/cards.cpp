// SPDX-License-Identifier: Apache-2.0
// A gather and a broadcast find a group that all leaders have left, else another pair of them tells
// whether all are in a new one.
#include "cards.hpp"

#include "network.hpp"

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

/// What a leader tells of an unused place.
struct Offer {
    std::uint64_t group;  ///< 0: nothing
    Rank node;
    Rank nodes;

    friend bool operator==(const Offer&, const Offer&) = default;
};
using Offers = std::array<Offer, Unused::kept>;

Offers offers_of(const std::vector<CardPlace>& places) {
    Offers offers{};
    for (std::size_t i = 0; i < places.size(); ++i) offers[i] = {places[i].group, places[i].node, places[i].nodes};
    return offers;
}

/// Rank 0: a group in which each leader has the place of its node; 0 when there is none.
std::uint64_t common_group(const std::vector<Offers>& offers, const std::vector<Rank>& leaders) {
    const auto nodes = static_cast<Rank>(leaders.size());
    for (const Offer& one : offers.front()) {
        const auto has = [&](Rank node) {
            const Offers& theirs = offers[leaders[node]];
            return std::ranges::find(theirs, Offer{one.group, node, nodes}) != theirs.end();
        };
        Rank node = 0;
        while (one.group != 0 && node < nodes && has(node)) ++node;
        if (node == nodes) return one.group;
    }
    return 0;
}

/// Collective: a leader's place in a group that all of them have left, or none for all; `had` says which.
CardsJoined join_again(const tollbar_p2p& p2p, const Agreement& agreement, const std::string& shape, bool leads,
                       const SetUpWait& waiting) {
    CardsJoined joined{};
    std::vector<CardPlace> places;
    if (leads) places = unused().take(shape);
    const std::vector<Offers> offers = gather(p2p, offers_of(places), waiting);
    std::uint64_t group = p2p.rank == 0 ? common_group(offers, agreement.leaders) : 0;
    broadcast(p2p, &group, sizeof group, waiting);
    joined.had = group != 0;
    const auto found = std::ranges::find(places, group, &CardPlace::group);
    if (found != places.end()) joined.nic = std::make_unique<NodeNic>(std::move(*found));
    unused().put(std::move(places));
    return joined;
}

/// What became of one rank's attempt.
struct Attempt {
    bool failed;
    char why[200];
};

Attempt failed(const std::string& why) {
    Attempt attempt{.failed = true, .why = {}};
    why.copy(attempt.why, sizeof attempt.why - 1);
    return attempt;
}

/// A leader's.
Attempt take_place(const Agreement& agreement, const std::string& shape, std::uint8_t number, CardPlace& place) {
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
    place.group = group.key + group.id;
    place.node = group.rank;
    place.nodes = group.ranks;
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

CardsJoined join_cards(const tollbar_p2p& p2p, const Agreement& agreement, const std::string& shape,
                       std::uint8_t number, const char* name, const SetUpWait& waiting) {
    const bool leads = agreement.leaders[agreement.node] == p2p.rank;
    CardsJoined joined = join_again(p2p, agreement, shape, leads, waiting);
    if (joined.had) return joined;
    CardPlace place{};
    const Attempt mine = leads ? take_place(agreement, shape, number, place) : Attempt{};
    const std::vector<Attempt> all = gather(p2p, mine, waiting);
    if (p2p.rank == 0) {
        const auto refused = std::ranges::find_if(all, &Attempt::failed);
        joined.had = refused == all.end();
        if (!joined.had)
            say_by_messages(name, "rank " + std::to_string(refused - all.begin()) + ": " + refused->why,
                            agreement.terms.network == TOLLBAR_NETWORK_NIC ? Asked::yes : Asked::no);
    }
    broadcast(p2p, &joined.had, sizeof joined.had, waiting);
    if (joined.had && leads) joined.nic = std::make_unique<NodeNic>(std::move(place));
    return joined;
}

}  // namespace tollbar::mpi
