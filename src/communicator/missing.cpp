// SPDX-License-Identifier: Apache-2.0
// Combines what the node's memory knows of its ranks with what messages tell of the others.
#include "missing.hpp"

#include "participant.h"
#include "team.hpp"

#include "base/c_door.hpp"
#include "base/environment.hpp"
#include "missing/call_site.h"
#include "missing/places.hpp"
#include "missing/sentence.hpp"

#include <utility>

namespace tollbar::detail::mpi {

namespace {

Rank rank_at(const Segment& segment, Rank index) {
    return segment.record(index).known_as.load(std::memory_order_relaxed);
}

bool has(const Segment& segment, Rank rank) {
    for (Rank index = 0; index < segment.ranks(); ++index)
        if (rank_at(segment, index) == rank) return true;
    return false;
}

}  // namespace

std::string in_world(const tollbar_p2p& p2p, const std::string& name, std::span<const Rank> ranks) {
    std::vector<Rank> there;
    for (const Rank rank : ranks) {
        const int number = p2p.world_rank == nullptr ? -1 : p2p.world_rank(p2p.state, rank);
        if (number < 0) return "";
        there.push_back(static_cast<Rank>(number));
    }
    if (there.empty() || name == "MPI_COMM_WORLD") return "";
    return (there.size() == 1 ? "rank " : "ranks ") + listed(there) + " of MPI_COMM_WORLD";
}

Reports::Reports(const tollbar_p2p& p2p, const tollbar_mpi_options& options, const Meeting& meeting)
    : p2p_(p2p), name_(options.name), host_(options.host), before_(options.barriers_before) {
    if (meeting.decision.timeout_s <= 0) return;
    timeout_ = Timeout(meeting.decision.timeout_s);
    node_of_ = meeting.decision.node_of;
    addresses_ = meeting.addresses;
}

void Reports::announce(const std::string& plan) const {
    if (p2p_.rank != 0 || environment::verbosity() == 0) return;
    tollbar_say("%s (%u ranks): %s", name_.c_str(), static_cast<unsigned>(p2p_.ranks), plan.c_str());
}

std::string Reports::missing(const Team& team) const {
    return with_names(places_limit, [&](Places& places) { return missing::text_of(missing(team, places)); });
}

std::vector<missing::Member> Reports::missing(const Team& team, Places& places) const {
    std::vector<missing::Member> members;
    const Episode episode = team.episode();

    if (const Segment* segment = team.segment()) {
        for (const absent& one : segment->missing(episode)) {
            const Rank rank = rank_at(*segment, one.rank);
            missing::Member& member = members.emplace_back(missing::member_of(missing::shared_member(one)));
            member.numbers = {static_cast<int>(rank)};
            member.host = host_;
            member.known_as = known_as({&rank, 1}, "host " + host_ + ", process " + std::to_string(one.process));
            if (one.where != absent::state::running || one.behind == 0) continue;
            const Episode last = episode - one.behind + before_;
            const std::uint64_t site = segment->record(one.rank).entered.load(std::memory_order_relaxed);
            member.last = last == 0 ? "it has not entered any barrier on this communicator"
                                    : "its last barrier on this communicator was number " + std::to_string(last);
            if (last != 0 && site != 0) member.last += " at " + places.of_call(one.process, site);
        }
    }

    const Team::Unheard unheard = team.unheard();
    for (const Rank number : unheard.numbers) {
        const std::vector<Rank> ranks = ranks_of(number, unheard.by_nodes);
        if (!unheard.by_nodes && team.segment() != nullptr && has(*team.segment(), number)) continue;
        std::string where, host;
        if (!ranks.empty() && ranks.front() < addresses_.size()) {
            const Address& address = addresses_[ranks.front()];
            host = address.host;
            where = "host " + host;
            if (ranks.size() == 1) where += ", process " + std::to_string(address.process);
        }
        missing::Member& member = members.emplace_back();
        member.host = host;
        member.kind = ranks.empty() ? "node" : "rank";
        member.numbers = ranks.empty() ? std::vector<int>{static_cast<int>(number)}
                                       : std::vector<int>(ranks.begin(), ranks.end());
        member.known_as = known_as(ranks, where);
        member.state = TOLLBAR_UNKNOWN;
    }
    return members;
}

std::string Reports::known_as(std::span<const Rank> ranks, const std::string& where) const {
    std::string text = in_world(p2p_, name_, ranks);
    if (!text.empty() && !where.empty()) text += ", ";
    return text + where;
}

std::vector<Rank> Reports::ranks_of(Rank number, bool by_nodes) const {
    if (!by_nodes) return {number};
    std::vector<Rank> ranks;
    for (Rank rank = 0; rank < node_of_.size(); ++rank)
        if (node_of_[rank] == number) ranks.push_back(rank);
    return ranks;
}

std::vector<tollbar_missing> Reports::list(const Team& team) const {
    std::vector<tollbar_missing> all;
    const Segment* const segment = team.segment();
    if (segment != nullptr)
        for (const absent& one : segment->missing(team.episode())) {
            all.push_back(missing::shared_member(one));
            all.back().rank = rank_at(*segment, one.rank);
        }
    const Team::Unheard unheard = team.unheard();
    for (const Rank number : unheard.numbers)
        for (const Rank rank : ranks_of(number, unheard.by_nodes)) {
            if (segment != nullptr && has(*segment, rank)) continue;
            const bool known = rank < addresses_.size();
            all.push_back(missing::unknown_member(rank, 0, known ? addresses_[rank].host : ""));
            if (known) all.back().process = addresses_[rank].process;
        }
    std::ranges::sort(all, {}, &tollbar_missing::rank);
    return all;
}

void Reports::tell_lost(const Team& team) const noexcept {
    const Episode number = team.episode() + before_;
    tollbar_say(
        "%s (%u ranks), barrier %llu: rank %u on %s: the NIC daemon of this host is gone, so the barrier fails; "
        "restart the daemon (`tollbar nic up`) and the program, or run the program with TOLLBAR_NETWORK=p2p",
        name_.c_str(), static_cast<unsigned>(p2p_.ranks), static_cast<unsigned long long>(number),
        static_cast<unsigned>(p2p_.rank), host_.c_str());
}

void Reports::report(const Team& team, std::chrono::duration<double> waited) const {
    const Episode episode = team.episode();
    // One line a node: from its lowest rank that has arrived.
    if (const Segment* segment = team.segment())
        for (Rank index = 0; index != team.index(); ++index)
            if (segment->record(index).arrived.load(std::memory_order_relaxed) >= episode) return;
    const void* const call_site = team.call_site() != nullptr ? team.call_site() : tollbar_mpi_call_site();
    const auto [members, site] = with_names(places_limit, [&](Places& places) {
        return std::pair(missing(team, places), call_site == nullptr ? "an unknown place" : places.of_call(call_site));
    });
    const missing::Member self{.numbers = {static_cast<int>(p2p_.rank)}, .known_as = known_as({&p2p_.rank, 1}, "")};
    missing::report(
        {.about = name_ + " (" + std::to_string(p2p_.ranks) + " ranks), barrier " + std::to_string(episode + before_),
         .place = site,
         .waiter = named(self) + " on " + host_,
         .waited_s = waited.count(),
         .clauses = missing::clauses_of(members,
                                        "no rank is known to be missing, but an awaited signal has not come yet")});
}

}  // namespace tollbar::detail::mpi
