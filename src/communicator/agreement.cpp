// SPDX-License-Identifier: Apache-2.0
// One gather and one broadcast a communicator; two rounds more for the first on a node, which gets its memory then.
#include "agreement.hpp"

#include "arenas.hpp"
#include "set_up.hpp"

#include "runtime/environment.hpp"
#include "runtime/say.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>

namespace tollbar::mpi {

namespace {

/// Collective: rank 0's, for all. In one message: each costs a switch of every rank where ranks outnumber CPUs.
void broadcast_ruling(const SetUp& set_up, Ruling& ruling) {
    const Rank ranks = set_up.p2p().ranks;
    // The number of nodes is a part of it, so there is room for as many as ranks.
    ruling.node_of.resize(ranks);
    ruling.arena_of.resize(ranks);
    ruling.cards.resize(ranks);
    struct Part {
        void* data;
        std::size_t size;
    };
    const auto whole = [](auto& vector) { return Part{vector.data(), vector.size() * sizeof vector[0]}; };
    const std::array parts{Part{&ruling.terms, sizeof ruling.terms}, whole(ruling.node_of), whole(ruling.arena_of),
                           whole(ruling.cards)};
    std::vector<std::byte> message;
    for (const Part& part : parts) {
        const auto* const bytes = static_cast<const std::byte*>(part.data);
        message.insert(message.end(), bytes, bytes + part.size);
    }
    set_up.broadcast(message.data(), message.size());
    const std::byte* from = message.data();
    for (const Part& part : parts) {
        std::memcpy(part.data, from, part.size);
        from += part.size;
    }
    ruling.arena_of.resize(ruling.terms.nodes);
    ruling.cards.resize(ruling.terms.has_cards() ? ruling.terms.nodes : 0);
}

/// Collective: how every node that lacks one gets an arena, or finds that it cannot be had there.
class MakingArenas {
public:
    MakingArenas(const SetUp& set_up, Agreement& agreement, const std::vector<std::uint64_t>& arena_of)
        : set_up_(set_up), agreement_(agreement), id_(ticket_of(agreement.terms, agreement.node, 0)),
          leads_(agreement.leaders[agreement.node] == set_up.p2p().rank),
          lacks_(arena_of[agreement.node] == 0 && agreement.here.size() > 1) {}

    void make() {
        attempt(leads_, [this] { keep(Arena::make(id_)); });
        const std::vector<Found> made = nodes_;
        attempt(!leads_ && made[agreement_.node].fine, [&] { open([&] { return Arena::open(id_, place()); }); });
        // By a name where processes do not see each other, as in containers that share /dev/shm.
        bool again = false;
        for (std::size_t node = 0; node < made.size(); ++node) again |= made[node].fine && !nodes_[node].fine;
        bool works = made[agreement_.node].fine && nodes_[agreement_.node].fine;
        const bool tries_again = made[agreement_.node].fine && !works;
        if (again) {
            attempt(leads_ && tries_again, [this] { agreement_.arena->link(); });
            const bool linked = nodes_[agreement_.node].fine;
            attempt(!leads_ && tries_again && linked, [&] { open([&] { return Arena::open(id_); }); });
            if (leads_ && tries_again) Arena::unlink(id_);
            works |= tries_again && linked && nodes_[agreement_.node].fine;
        }
        if (works || !lacks_) return;
        agreement_.arena = nullptr;
        if (!why_.empty() && environment::verbosity() > 0)
            tollbar_say("%s; the ranks of this node use messages instead of shared memory", why_.c_str());
    }

private:
    /// What came of an attempt, and where the leader has the memory. Plain memory, to be sent.
    struct Found {
        bool fine = true;
        Arena::Place place;
    };

    Arena::Place place() const { return places_[agreement_.node]; }

    void keep(std::shared_ptr<Arena> arena) {
        agreement_.arena = std::move(arena);
        arenas().add(agreement_.arena);
    }

    /// Ranks that are threads of one process use one mapping.
    template <class Open>
    void open(Open open) {
        agreement_.arena = arenas().find(id_);
        if (!agreement_.arena) keep(open());
    }

    /// Collective: those who may, try; nodes_ says where it worked for all of them.
    template <class Try>
    void attempt(bool may, Try attempt) {
        Found mine;
        if (lacks_ && may) try {
                attempt();
            } catch (const std::system_error& error) {
                mine.fine = false;
                why_ = error.what();
            }
        if (leads_ && agreement_.arena) mine.place = agreement_.arena->place();
        const std::vector<Found> all = set_up_.gather(mine);
        nodes_.assign(agreement_.terms.nodes, {});
        for (Rank rank = 0; rank < all.size(); ++rank) {
            Found& node = nodes_[agreement_.node_of[rank]];
            node.fine &= all[rank].fine;
            if (agreement_.leaders[agreement_.node_of[rank]] == rank) node.place = all[rank].place;
        }
        set_up_.broadcast(nodes_.data(), nodes_.size() * sizeof(Found));
        if (places_.empty())
            for (const Found& node : nodes_) places_.push_back(node.place);
    }

    const SetUp& set_up_;
    Agreement& agreement_;
    std::uint64_t id_;
    bool leads_;
    bool lacks_;
    std::vector<Found> nodes_;
    std::vector<Arena::Place> places_;
    std::string why_;
};

}  // namespace

Agreement agree(const tollbar_p2p& p2p, const tollbar_mpi_options& options) {
    const SetUp set_up(p2p, name_of(options), timeout_of(options));
    const Arenas::Held held = arenas().all();  // none that is told of goes meanwhile
    const Introduction own = own_introduction(options, held);
    const std::vector<Introduction> all = set_up.gather(own);
    Ruling ruling;
    if (p2p.rank == 0) ruling = rule(all, options);
    broadcast_ruling(set_up, ruling);

    Agreement agreement;
    agreement.terms = ruling.terms;
    agreement.node_of = std::move(ruling.node_of);
    agreement.cards = std::move(ruling.cards);
    agreement.standing = own.standing;
    agreement.node = agreement.node_of[p2p.rank];
    const Groups nodes = ranks_of_nodes(agreement.node_of, agreement.terms.nodes);
    agreement.leaders = leaders_of(nodes);
    agreement.here = nodes[agreement.node];
    agreement.place = static_cast<Rank>(std::ranges::lower_bound(agreement.here, p2p.rank) - agreement.here.begin());
    if (const std::uint64_t id = ruling.arena_of[agreement.node]; id != 0) agreement.arena = Arenas::find(held, id);
    if (agreement.terms.makes_arenas) MakingArenas(set_up, agreement, ruling.arena_of).make();

    if (agreement.terms.timeout_s > 0) {
        agreement.addresses.resize(p2p.ranks);
        if (p2p.rank == 0) std::ranges::transform(all, agreement.addresses.begin(), &Introduction::address);
        set_up.broadcast(agreement.addresses.data(), agreement.addresses.size() * sizeof(Address));
    }
    return agreement;
}

Agreement without_meeting(const tollbar_p2p& p2p, const tollbar_mpi_options& options, std::string_view plan) {
    Agreement agreement;
    plan.copy(agreement.terms.plan, sizeof agreement.terms.plan - 1);
    agreement.terms.timeout_s = timeout_of(options);
    agreement.terms.nodes = p2p.ranks;
    agreement.terms.per_node = 1;
    agreement.node_of.resize(p2p.ranks);
    std::iota(agreement.node_of.begin(), agreement.node_of.end(), Rank{0});
    agreement.leaders = agreement.node_of;
    agreement.here = {p2p.rank};
    agreement.node = p2p.rank;
    return agreement;
}

}  // namespace tollbar::mpi
