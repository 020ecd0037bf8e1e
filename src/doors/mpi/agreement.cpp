// SPDX-License-Identifier: Apache-2.0
// One gather and one broadcast a communicator; two rounds more for the first on a node, which gets its memory then.
#include "agreement.hpp"

#include "arenas.hpp"
#include "set_up.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

namespace tollbar::mpi {

namespace {

/// Collective: rank 0's, for all. In one message: each costs a switch of every rank where ranks outnumber CPUs.
void broadcast_ruling(const tollbar_carrier& carrier, Ruling& ruling, const SetUpWait& waiting) {
    // The number of nodes is a part of it, so there is room for as many as ranks.
    ruling.node_of.resize(carrier.ranks);
    ruling.arena_of.resize(carrier.ranks);
    ruling.cards.resize(carrier.ranks);
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
    broadcast(carrier, message.data(), message.size(), waiting);
    const std::byte* from = message.data();
    for (const Part& part : parts) {
        std::memcpy(part.data, from, part.size);
        from += part.size;
    }
    ruling.arena_of.resize(ruling.terms.nodes);
    ruling.cards.resize(ruling.terms.key != 0 ? ruling.terms.nodes : 0);
}

/// Collective: gives every node that lacks one an arena, or finds that it cannot be had there.
void make_arenas(const tollbar_carrier& carrier, Agreement& agreement, const std::vector<std::uint64_t>& arena_of,
                 const SetUpWait& waiting) {
    const bool leads = agreement.leaders[agreement.node] == carrier.rank;
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
            if (std::getenv("TOLLBAR_VERBOSE") != nullptr)
                std::fprintf(stderr, "tollbar: %s; the ranks of this node meet by messages\n", error.what());
            return 0;
        }
    };
    const auto confirm = [&](std::uint8_t fine) {
        const std::vector<std::uint8_t> all = gather(carrier, fine, waiting);
        std::vector<std::uint8_t> works(agreement.terms.nodes, 1);
        if (carrier.rank == 0)
            for (Rank rank = 0; rank < carrier.ranks; ++rank) works[agreement.node_of[rank]] &= all[rank];
        broadcast(carrier, works.data(), works.size(), waiting);
        return works[agreement.node] != 0;
    };
    bool works = confirm(attempt(leads));
    works = confirm(attempt(!leads && works)) && works;
    if (lacks && leads) Arena::unlink(id);
    if (!works) agreement.arena = nullptr;
}

}  // namespace

Agreement agree(const tollbar_carrier& carrier, const tollbar_mpi_options& options) {
    const SetUpWait waiting(carrier, name_of(options), timeout_of(options));
    const Introduction own = own_introduction(options, carrier.rank);
    const std::vector<Introduction> all = gather(carrier, own, waiting);
    Ruling ruling;
    if (carrier.rank == 0) ruling = rule(all, options);
    broadcast_ruling(carrier, ruling, waiting);

    Agreement agreement;
    agreement.terms = ruling.terms;
    agreement.node_of = std::move(ruling.node_of);
    agreement.cards = std::move(ruling.cards);
    agreement.standing = own.standing;
    agreement.node = agreement.node_of[carrier.rank];
    agreement.leaders = leaders_of(agreement.node_of, agreement.terms.nodes);
    for (Rank rank = 0; rank < carrier.ranks; ++rank) {
        if (agreement.node_of[rank] != agreement.node) continue;
        if (rank == carrier.rank) agreement.place = static_cast<Rank>(agreement.here.size());
        agreement.here.push_back(rank);
    }
    if (const std::uint64_t id = ruling.arena_of[agreement.node]; id != 0) agreement.arena = arenas().find(id);
    if (agreement.terms.makes_arenas) make_arenas(carrier, agreement, ruling.arena_of, waiting);

    if (agreement.terms.timeout_s > 0) {
        agreement.addresses.resize(carrier.ranks);
        if (carrier.rank == 0) std::ranges::transform(all, agreement.addresses.begin(), &Introduction::address);
        broadcast(carrier, agreement.addresses.data(), agreement.addresses.size() * sizeof(Address), waiting);
    }
    return agreement;
}

}  // namespace tollbar::mpi
