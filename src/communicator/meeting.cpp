// SPDX-License-Identifier: Apache-2.0
// One gather and one broadcast a communicator; making a node's memory takes more of them.
#include "meeting.hpp"

#include "arenas.hpp"

#include "base/environment.hpp"
#include "base/say.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>

namespace tollbar::detail::mpi {

namespace {

/// Collective: rank 0's, for all. In one message: each costs a switch of every rank where ranks outnumber CPUs.
void broadcast_decision(const SetUp& set_up, Decision& decision) {
    // The number of nodes is a part of it, so there is room for as many as ranks.
    const Rank ranks = set_up.p2p().ranks;
    decision.node_of.resize(ranks);
    decision.arena_of.resize(ranks);
    decision.nics.resize(ranks);
    Terms& terms = decision;
    std::vector<std::byte> message;
    const auto for_each_part = [&](auto action) {
        action(&terms, sizeof terms);
        action(decision.node_of.data(), ranks * sizeof decision.node_of[0]);
        action(decision.arena_of.data(), ranks * sizeof decision.arena_of[0]);
        action(decision.nics.data(), ranks * sizeof decision.nics[0]);
    };
    for_each_part([&](const void* data, std::size_t size) {
        const auto* const bytes = static_cast<const std::byte*>(data);
        message.insert(message.end(), bytes, bytes + size);
    });
    set_up.broadcast(message.data(), message.size());
    const std::byte* from = message.data();
    for_each_part([&](void* data, std::size_t size) { std::memcpy(data, std::exchange(from, from + size), size); });
    decision.arena_of.resize(decision.nodes);
    decision.nics.resize(decision.has_nics() ? decision.nodes : 0);
}

/// Collective: how every node that lacks one gets an arena, or finds that it cannot be had there.
class MakingArenas {
public:
    MakingArenas(const SetUp& set_up, Meeting& meeting)
        : set_up_(set_up), meeting_(meeting), id_(ticket_of(meeting.decision, meeting.node, 0)),
          lacks_(meeting.decision.arena_of[meeting.node] == 0 && meeting.here.size() > 1) {}

    void make() {
        const bool leads = meeting_.leads();
        attempt(leads, [this] { keep(Arena::make(id_)); });
        const std::vector<Found> made = nodes_;
        attempt(!leads && made[meeting_.node].fine, [&] { open([&] { return Arena::open(id_, own_file()); }); });
        // By a name where processes do not see each other, as in containers that share /dev/shm.
        bool again = false;
        for (std::size_t node = 0; node < made.size(); ++node) again |= made[node].fine && !nodes_[node].fine;
        bool works = made[meeting_.node].fine && nodes_[meeting_.node].fine;
        const bool tries_again = made[meeting_.node].fine && !works;
        if (again) {
            attempt(leads && tries_again, [this] { meeting_.arena->link(); });
            const bool linked = nodes_[meeting_.node].fine;
            attempt(!leads && tries_again && linked, [&] { open([&] { return Arena::open(id_); }); });
            if (leads && tries_again) Arena::unlink(id_);
            works |= tries_again && linked && nodes_[meeting_.node].fine;
        }
        if (works || !lacks_) return;
        meeting_.arena = nullptr;
        if (!why_.empty() && environment::verbosity() > 0)
            tollbar_say("%s; the ranks of this node use messages instead of shared memory", why_.c_str());
    }

private:
    /// The outcome of an attempt, and the leader's file. Plain memory, to be sent.
    struct Found {
        bool fine = true;
        Arena::Descriptor file;
    };

    Arena::Descriptor own_file() const { return files_[meeting_.node]; }

    void keep(std::shared_ptr<Arena> arena) {
        meeting_.arena = std::move(arena);
        arenas().add(meeting_.arena);
    }

    /// Ranks that are threads of one process use one mapping.
    template <class Open>
    void open(Open open) {
        meeting_.arena = arenas().find(id_);
        if (!meeting_.arena) keep(open());
    }

    /// Collective: the ranks that may, try; nodes_ says on which nodes it worked for all of them.
    template <class Try>
    void attempt(bool may, Try attempt) {
        Found mine;
        if (lacks_ && may) try {
                attempt();
            } catch (const std::system_error& error) {
                mine.fine = false;
                why_ = error.what();
            }
        if (meeting_.leads() && meeting_.arena) mine.file = meeting_.arena->descriptor();
        const std::vector<Found> all = set_up_.gather(mine);
        nodes_.assign(meeting_.decision.nodes, {});
        for (Rank rank = 0; rank < all.size(); ++rank) {
            const Rank number = meeting_.decision.node_of[rank];
            nodes_[number].fine &= all[rank].fine;
            if (meeting_.leaders[number] == rank) nodes_[number].file = all[rank].file;
        }
        set_up_.broadcast(nodes_.data(), nodes_.size() * sizeof(Found));
        if (files_.empty())
            for (const Found& node : nodes_) files_.push_back(node.file);
    }

    const SetUp& set_up_;
    Meeting& meeting_;
    std::uint64_t id_;
    bool lacks_;
    std::vector<Found> nodes_;
    std::vector<Arena::Descriptor> files_;
    std::string why_;
};

}  // namespace

Meeting meet(const SetUp& set_up, const tollbar_mpi_options& options) {
    const Rank self = set_up.p2p().rank;
    set_up.tell_apart();
    const Arenas::Held held = arenas().all();  // none of those that the facts name goes meanwhile
    const Facts own = own_facts(options, held);
    const std::vector<Facts> all = set_up.gather(own);
    Meeting met;
    Decision& decision = met.decision;
    if (set_up.is_root()) {
        Decided decided = decide(all, options, own_means());
        decision = std::move(decided.decision);
        for (const Remark& remark : decided.remarks) say(remark);
    }
    broadcast_decision(set_up, decision);

    const Groups nodes = decision.nodes_with_ranks();
    met.leaders = leaders_of(nodes);
    met.node = decision.node_of[self];
    met.here = nodes[met.node];
    met.index = static_cast<Rank>(std::ranges::lower_bound(met.here, self) - met.here.begin());
    met.standing = own.standing;
    if (const std::uint64_t id = decision.arena_of[met.node]; id != 0) met.arena = Arenas::find(held, id);
    if (decision.makes_arenas) MakingArenas(set_up, met).make();

    if (decision.timeout_s > 0) {
        met.addresses.resize(decision.node_of.size());
        if (set_up.is_root()) std::ranges::transform(all, met.addresses.begin(), &Facts::address);
        set_up.broadcast(met.addresses.data(), met.addresses.size() * sizeof(Address));
    }
    return met;
}

Meeting alone(const SetUp& set_up, const tollbar_mpi_options& options, std::string_view plan) {
    const Rank self = set_up.p2p().rank, ranks = set_up.p2p().ranks;
    Meeting met;
    plan.copy(met.decision.plan, sizeof met.decision.plan - 1);
    met.decision.timeout_s = options.timeout_s;
    met.decision.nodes = ranks;
    met.decision.per_node = 1;
    met.decision.node_of.resize(ranks);
    std::iota(met.decision.node_of.begin(), met.decision.node_of.end(), Rank{0});
    met.leaders = met.decision.node_of;
    met.here = {self};
    met.node = self;
    return met;
}

}  // namespace tollbar::detail::mpi
