// SPDX-License-Identifier: Apache-2.0
// Puts together what the node's memory knows of its ranks and what messages tell of the others.
#include "missing.hpp"

#include "call_site.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <unistd.h>

namespace tollbar::mpi {

namespace {

std::string in_seconds(std::chrono::duration<double> time) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", time.count());
    return text;
}

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
    return segment.seat(place).known_as.load(std::memory_order_relaxed);
}

bool has(const Segment& segment, Rank rank) {
    for (Rank place = 0; place < segment.ranks(); ++place)
        if (rank_at(segment, place) == rank) return true;
    return false;
}

}  // namespace

Reports::Reports(const tollbar_carrier& carrier, const tollbar_mpi_options& options, const Agreement& agreement)
    : name_(options.name == nullptr || *options.name == '\0' ? "a communicator" : options.name),
      host_(options.host == nullptr ? host_name() : options.host), rank_(carrier.rank), ranks_(carrier.ranks),
      timeout_s_(agreement.terms.timeout_s), before_(options.barriers_before) {
    if (!wanted()) return;
    node_of_ = agreement.node_of;
    addresses_ = agreement.addresses;
}

void Reports::announce(const std::string& plan) const {
    const char* verbose = std::getenv("TOLLBAR_VERBOSE");
    if (rank_ != 0 || verbose == nullptr || *verbose == '\0' || *verbose == '0') return;
    std::fprintf(stderr, "tollbar: %s (%u ranks): %s\n", name_.c_str(), static_cast<unsigned>(ranks_), plan.c_str());
}

std::string Reports::missing(const Meeting& meeting) const {
    std::string text;
    const auto add = [&](const std::string& clause) { text += (text.empty() ? "" : "; ") + clause; };
    const Episode episode = meeting.course().episode();

    if (const Segment* segment = meeting.segment()) {
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
                const std::uint64_t site = segment->seat(one.rank).entered.load(std::memory_order_relaxed);
                clause += last == 0 ? ", it has been in no barrier here yet"
                                    : ", its last barrier here was number " + std::to_string(last);
                if (last != 0 && site != 0) clause += " at " + call_site_in(one.process, site);
            }
            add(clause);
        }
    }

    const Meeting::Unheard unheard = meeting.unheard();
    for (const Rank who : unheard.who) {
        std::vector<Rank> ranks;
        if (!unheard.by_nodes) ranks = {who};
        for (Rank rank = 0; unheard.by_nodes && rank < node_of_.size(); ++rank)
            if (node_of_[rank] == who) ranks.push_back(rank);
        if (!unheard.by_nodes && meeting.segment() != nullptr && has(*meeting.segment(), who)) continue;
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

void Reports::tell_lost(const Meeting& meeting) const noexcept {
    const Episode number = meeting.course().episode() + before_;
    std::fprintf(stderr,
                 "tollbar: %s (%u ranks), barrier %llu: rank %u on %s: the daemon of this host's card is gone, the "
                 "barrier fails; start it again (`tollbar nic up`), then the program, or run that with "
                 "TOLLBAR_NETWORK=p2p\n",
                 name_.c_str(), static_cast<unsigned>(ranks_), static_cast<unsigned long long>(number),
                 static_cast<unsigned>(rank_), host_.c_str());
}

void Reports::report(const Meeting& meeting, std::chrono::duration<double> waited,
                     const void* call_site) const noexcept {
    try {
        const Episode episode = meeting.course().episode();
        // One line a node: from its lowest rank that has arrived.
        if (const Segment* segment = meeting.segment())
            for (Rank place = 0; place != meeting.place(); ++place)
                if (segment->seat(place).arrived.load(std::memory_order_relaxed) >= episode) return;
        std::string who = missing(meeting);
        if (who.empty()) who = "all ranks here have arrived, the news from the others has not come";
        const Episode number = episode + before_;
        const std::string site = call_site == nullptr
                                     ? own_call_site()
                                     : call_site_in(getpid(), reinterpret_cast<std::uintptr_t>(call_site));
        std::fprintf(stderr, "tollbar: %s (%u ranks), barrier %llu at %s: rank %u on %s has waited %s: %s\n",
                     name_.c_str(), static_cast<unsigned>(ranks_), static_cast<unsigned long long>(number),
                     site.c_str(), static_cast<unsigned>(rank_), host_.c_str(), in_seconds(waited).c_str(),
                     who.c_str());
    } catch (const std::exception&) {  // no memory for the report: go on waiting, that matters more
    }
}

}  // namespace tollbar::mpi
