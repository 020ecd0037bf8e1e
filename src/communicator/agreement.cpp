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
    ruling.cards.resize(ruling.terms.key != 0 ? ruling.terms.nodes : 0);
}

/// Collective: gives every node that lacks one an arena, or finds that it cannot be had there.
void make_arenas(const SetUp& set_up, Agreement& agreement, const std::vector<std::uint64_t>& arena_of) {
    const tollbar_p2p& p2p = set_up.p2p();
    const bool leads = agreement.leaders[agreement.node] == p2p.rank;
    const std::uint64_t id = ticket_of(agreement.terms, agreement.node, 0);
    const bool lacks = arena_of[agreement.node] == 0 && agreement.here.size() > 1;
    const auto attempt = [&](bool mine) -> std::uint8_t {
        if (!lacks || !mine) return 1;
        try {
            // Ranks that are threads of one process use one mapping.
            if (!leads) agreement.arena = arenas().find(id);
            if (!agreement.arena) {
                agreement.arena = leads ? Arena::make(id) : Arena::open(id);
                arenas().add(agreement.arena);
            }
            return 1;
        } catch (const std::system_error& error) {
            if (environment::verbosity() > 0)
                tollbar_say("%s; the ranks of this node use messages instead of shared memory", error.what());
            return 0;
        }
    };
    const auto confirm = [&](std::uint8_t fine) {
        const std::vector<std::uint8_t> all = set_up.gather(fine);
        std::vector<std::uint8_t> works(agreement.terms.nodes, 1);
        if (p2p.rank == 0)
            for (Rank rank = 0; rank < p2p.ranks; ++rank) works[agreement.node_of[rank]] &= all[rank];
        set_up.broadcast(works.data(), works.size());
        return works[agreement.node] != 0;
    };
    bool works = confirm(attempt(leads));
    works = confirm(attempt(!leads && works)) && works;
    if (lacks && leads) Arena::unlink(id);
    if (!works) agreement.arena = nullptr;
}

}  // namespace

Agreement agree(const tollbar_p2p& p2p, const tollbar_mpi_options& options) {
    const SetUp set_up(p2p, name_of(options), timeout_of(options));
    const Introduction own = own_introduction(options);
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
    if (const std::uint64_t id = ruling.arena_of[agreement.node]; id != 0) agreement.arena = arenas().find(id);
    if (agreement.terms.makes_arenas) make_arenas(set_up, agreement, ruling.arena_of);

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
