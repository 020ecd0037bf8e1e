// SPDX-License-Identifier: Apache-2.0
// Puts together what the node's memory knows of its ranks and what messages tell of the others.
#include "missing.hpp"

#include "call_site.hpp"

#include "runtime/environment.hpp"
#include "runtime/say.h"

#include <algorithm>
#include <exception>
#include <unistd.h>

namespace tollbar::mpi {

namespace {

/// "3", "3 and 5", "3, 5 and 7"; the first few of many.
std::string listed(const std::vector<Rank>& ranks) {
    constexpr std::size_t shown = 16;
    std::string text;
    const std::size_t count = std::min(ranks.size(), shown);
    for (std::size_t i = 0; i < count; ++i)
        text += (i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ") + std::to_string(ranks[i]);
    if (ranks.size() > shown) text += " and " + std::to_string(ranks.size() - shown) + " more";
    return text;
}

Rank rank_at(const Segment& segment, Rank place) {
    return segment.record(place).known_as.load(std::memory_order_relaxed);
}

bool has(const Segment& segment, Rank rank) {
    for (Rank place = 0; place < segment.ranks(); ++place)
        if (rank_at(segment, place) == rank) return true;
    return false;
}

}  // namespace

Reports::Reports(const tollbar_p2p& p2p, const tollbar_mpi_options& options, const Agreement& agreement)
    : name_(name_of(options)), host_(options.host == nullptr ? host_name() : options.host), rank_(p2p.rank),
      ranks_(p2p.ranks), timeout_s_(agreement.terms.timeout_s), before_(options.barriers_before) {
    if (!wanted()) return;
    node_of_ = agreement.node_of;
    addresses_ = agreement.addresses;
}

void Reports::announce(const std::string& plan) const {
    if (rank_ != 0 || environment::verbosity() == 0) return;
    tollbar_say("%s (%u ranks): %s", name_.c_str(), static_cast<unsigned>(ranks_), plan.c_str());
}

std::string Reports::missing(const Participant& participant) const {
    std::string text;
    const auto add = [&](const std::string& clause) { text += (text.empty() ? "" : "; ") + clause; };
    const Episode episode = participant.runner().episode();

    if (const Segment* segment = participant.segment()) {
        for (const absent& one : segment->missing(episode)) {
            const Rank rank = rank_at(*segment, one.rank);
            std::string clause = "rank " + std::to_string(rank) + " (host " + host_ + ", process " +
                                 std::to_string(one.process) + ") ";
            clause += one.where == absent::state::dead      ? "is dead"
                      : one.where == absent::state::left    ? "has left"
                      : one.where == absent::state::running ? "has not arrived"
                                                            : "has not joined";
            if (one.where == absent::state::running && one.behind != 0) {
                const Episode last = episode - one.behind + before_;
                const std::uint64_t site = segment->record(one.rank).entered.load(std::memory_order_relaxed);
                clause += last == 0 ? ", it has not entered any barrier on this communicator"
                                    : ", its last barrier on this communicator was number " + std::to_string(last);
                if (last != 0 && site != 0) clause += " at " + call_site_in(one.process, site);
            }
            add(clause);
        }
    }

    const Participant::Unheard unheard = participant.unheard();
    for (const Rank who : unheard.who) {
        std::vector<Rank> ranks;
        if (!unheard.by_nodes) ranks = {who};
        for (Rank rank = 0; unheard.by_nodes && rank < node_of_.size(); ++rank)
            if (node_of_[rank] == who) ranks.push_back(rank);
        if (!unheard.by_nodes && participant.segment() != nullptr && has(*participant.segment(), who)) continue;
        std::string clause = ranks.empty() ? "nothing heard from node " + std::to_string(who)
                                           : "nothing heard from rank " + listed(ranks);
        if (!ranks.empty() && ranks.front() < addresses_.size()) {
            const Address& address = addresses_[ranks.front()];
            clause += " (host " + std::string(address.host);
            if (ranks.size() == 1) clause += ", process " + std::to_string(address.process);
            clause += ")";
        }
        add(clause);
    }
    return text;
}

void Reports::tell_lost(const Participant& participant) const noexcept {
    const Episode number = participant.runner().episode() + before_;
    tollbar_say(
        "%s (%u ranks), barrier %llu: rank %u on %s: the NIC daemon of this host is gone, so the barrier fails; "
        "restart the daemon (`tollbar nic up`) and the program, or run the program with TOLLBAR_NETWORK=p2p",
        name_.c_str(), static_cast<unsigned>(ranks_), static_cast<unsigned long long>(number),
        static_cast<unsigned>(rank_), host_.c_str());
}

void Reports::report(const Participant& participant, std::chrono::duration<double> waited,
                     const void* call_site) const noexcept {
    try {
        const Episode episode = participant.runner().episode();
        // One line a node: from its lowest rank that has arrived.
        if (const Segment* segment = participant.segment())
            for (Rank place = 0; place != participant.place(); ++place)
                if (segment->record(place).arrived.load(std::memory_order_relaxed) >= episode) return;
        std::string who = missing(participant);
        if (who.empty()) who = "no rank is known to be missing, but an awaited signal has not come yet";
        const Episode number = episode + before_;
        const std::string site = call_site == nullptr
                                     ? own_call_site()
                                     : call_site_in(getpid(), reinterpret_cast<std::uintptr_t>(call_site));
        tollbar_report("%s (%u ranks), barrier %llu at %s: rank %u on %s has waited %.1f s: %s", name_.c_str(),
                       static_cast<unsigned>(ranks_), static_cast<unsigned long long>(number), site.c_str(),
                       static_cast<unsigned>(rank_), host_.c_str(), waited.count(), who.c_str());
    } catch (const std::exception&) {  // no memory for the report: go on waiting, that matters more
    }
}

}  // namespace tollbar::mpi
