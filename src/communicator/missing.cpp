// SPDX-License-Identifier: Apache-2.0
// Combines what the node's memory knows of its ranks with what messages tell of the others.
#include "missing.hpp"

#include "participant.h"
#include "team.hpp"

#include "base/c_door.hpp"
#include "base/environment.hpp"
#include "missing/places.hpp"
#include "missing/reporting.hpp"

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
    return "rank " + listed(there) + " of MPI_COMM_WORLD";
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
    return with_names(places_limit, [&](Places& places) { return missing(team, places); });
}

std::string Reports::missing(const Team& team, Places& places) const {
    std::string text;
    const auto add = [&](const std::string& clause) { text += (text.empty() ? "" : "; ") + clause; };
    const Episode episode = team.episode();

    if (const Segment* segment = team.segment()) {
        for (const absent& one : segment->missing(episode)) {
            const Rank rank = rank_at(*segment, one.rank);
            std::string clause = "rank " + std::to_string(rank) +
                                 known_as({&rank, 1}, "host " + host_ + ", process " + std::to_string(one.process));
            clause += one.where == absent::state::dead      ? " is dead"
                      : one.where == absent::state::left    ? " has left"
                      : one.where == absent::state::running ? " has not arrived"
                                                            : " has not joined";
            if (one.where == absent::state::running && one.behind != 0) {
                const Episode last = episode - one.behind + before_;
                const std::uint64_t site = segment->record(one.rank).entered.load(std::memory_order_relaxed);
                clause += last == 0 ? ", it has not entered any barrier on this communicator"
                                    : ", its last barrier on this communicator was number " + std::to_string(last);
                if (last != 0 && site != 0) clause += " at " + places.of_call(one.process, site);
            }
            add(clause);
        }
    }

    const Team::Unheard unheard = team.unheard();
    for (const Rank number : unheard.numbers) {
        const std::vector<Rank> ranks = ranks_of(number, unheard.by_nodes);
        if (!unheard.by_nodes && team.segment() != nullptr && has(*team.segment(), number)) continue;
        std::string clause = ranks.empty() ? "nothing heard from node " + std::to_string(number)
                                           : "nothing heard from rank " + listed(ranks);
        std::string where;
        if (!ranks.empty() && ranks.front() < addresses_.size()) {
            const Address& address = addresses_[ranks.front()];
            where = "host " + std::string(address.host);
            if (ranks.size() == 1) where += ", process " + std::to_string(address.process);
        }
        add(clause + known_as(ranks, where));
    }
    return text;
}

std::string Reports::known_as(std::span<const Rank> ranks, const std::string& where) const {
    std::string text = in_world(p2p_, name_, ranks);
    if (!text.empty() && !where.empty()) text += ", ";
    text += where;
    return text.empty() ? "" : " (" + text + ")";
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
            all.push_back(c_door::shared_member(one, 0));
            all.back().rank = rank_at(*segment, one.rank);
        }
    const Team::Unheard unheard = team.unheard();
    for (const Rank number : unheard.numbers)
        for (const Rank rank : ranks_of(number, unheard.by_nodes)) {
            if (segment != nullptr && has(*segment, rank)) continue;
            const bool known = rank < addresses_.size();
            all.push_back(c_door::unknown_member(rank, 0, known ? addresses_[rank].host : ""));
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
    auto [who, site] = with_names(places_limit, [&](Places& places) {
        return std::pair(missing(team, places), call_site == nullptr ? "an unknown place" : places.of_call(call_site));
    });
    if (who.empty()) who = "no rank is known to be missing, but an awaited signal has not come yet";
    const Episode number = episode + before_;
    tollbar_report("%s (%u ranks), barrier %llu at %s: rank %u%s on %s has waited %.1f s: %s", name_.c_str(),
                   static_cast<unsigned>(p2p_.ranks), static_cast<unsigned long long>(number), site.c_str(),
                   static_cast<unsigned>(p2p_.rank), known_as({&p2p_.rank, 1}, "").c_str(), host_.c_str(),
                   waited.count(), who.c_str());
}

}  // namespace tollbar::detail::mpi
