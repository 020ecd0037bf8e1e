// SPDX-License-Identifier: Apache-2.0
// Places are read from a rank's seats, one for each of its threads, and from what the kernel says of its process.
#include "whereabouts.hpp"

#include "counted.hpp"
#include "listed.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace tollbar::detail::missing {

namespace {

std::string site(const Rank& rank, std::uint64_t address, const HostAnswers& asked) {
    return asked.site(rank, address);
}

/// The last collective call of that thread; without any, of a thread that has ended.
std::string last_of(const Rank& rank, const tollbar_seat& seat, const HostAnswers& asked) {
    const tollbar_comm* comm = rank.comm_of(seat.last != 0 ? seat.last : rank.row.last);
    const std::uint64_t number = seat.last != 0 ? seat.last_number : rank.row.last_number;
    const tollbar_counted* last = comm == nullptr ? nullptr : counted_at(*comm, number);
    if (last == nullptr) return number == 0 ? "before any collective call" : "after other collective calls";
    return std::string("after ") + call_of(*last).name + " " + std::to_string(number) + " of " + name_of(*comm) +
           " at " + site(rank, last->site, asked);
}

}  // namespace

bool is_stopped(const Rank& rank, const HostAnswers& asked) {
    if (rank.row.state == tollbar_row_left) return false;
    const std::string doing = asked.doing(rank);
    return doing == "stopped" || doing == "dead";
}

std::string home(const Rank& rank) {
    return "host " + rank.host->name + ", process " + std::to_string(rank.row.process);
}

std::string named(const Ranks& ranks, const HostAnswers& asked) {
    const std::string which = numbers(ranks);
    if (ranks.size() == 1) return "rank " + which + " (" + home(*ranks.front()) + ")";
    if (!asked.names_hosts) return "ranks " + which;
    std::set<std::string> hosts;
    for (const Rank* rank : ranks) hosts.insert(rank->host->name);
    return "ranks " + which + " (" + listed_hosts(hosts) + ")";
}

std::string peer_of(const tollbar_seat& seat) {
    static constexpr const char* ways[] = {" of ", " to ", " from ", " to or from "};
    std::string text = ways[way_of(seat)];
    text += seat.peer >= 0 ? "rank " + std::to_string(seat.peer) : seat.peer == -1 ? "any rank" : "a rank elsewhere";
    return seat.tag < 0 ? text : text + " (tag " + std::to_string(seat.tag) + ")";
}

std::string in_call(const Rank& rank, const tollbar_seat& seat, const HostAnswers& asked) {
    const tollbar_call& call = call_of(seat);
    const tollbar_comm* comm = rank.comm(tollbar_comm_of(seat.at));
    std::string text = tollbar_state_of(seat.at) == tollbar_polling ? "polling by " : "in ";
    text += call.name;
    if (tollbar_counts(call.kind) != 0 && seat.number != 0 && comm != nullptr)
        text.append(" ").append(std::to_string(seat.number)) += " of " + name_of(*comm);
    if (way_of(seat) != tollbar_no_way) text += peer_of(seat);
    return text + " at " + site(rank, seat.site, asked);
}

std::string whereabouts(const Rank& rank, const HostAnswers& asked) {
    const std::string doing = asked.doing(rank);
    const tollbar_seat& seat = rank.telling();
    if (rank.row.state == tollbar_row_left) return "past MPI_Finalize";
    const bool counts = tollbar_counts(call_of(seat).kind) != 0 && !is_outside(seat);
    std::string last = counts ? "" : ", " + last_of(rank, seat, asked);
    if (rank.row.unseen != 0)
        last.append(", ").append(std::to_string(rank.row.unseen)).append(" of its threads not seen");
    if (doing == "dead") return "dead" + last;
    if (is_outside(seat)) return "outside the MPI, " + doing + last;
    return std::string(doing == "stopped" ? "stopped, " : "").append(in_call(rank, seat, asked)) + last;
}

std::vector<std::pair<std::string, Ranks>> by_place(const Ranks& ranks, const HostAnswers& asked) {
    std::vector<std::pair<std::string, Ranks>> places;
    std::map<std::string, std::size_t> at;
    for (const Rank* rank : ranks) {
        std::string place = whereabouts(*rank, asked);
        const auto [found, is_new] = at.try_emplace(place, places.size());
        if (is_new) places.emplace_back(std::move(place), Ranks());
        places[found->second].second.push_back(rank);
    }
    return places;
}

Clause clause_of(std::string text, const Ranks& ranks) {
    Clause clause{.text = std::move(text), .ranks = {}};
    for (const Rank* rank : ranks) clause.ranks.push_back(rank->row.rank);
    return clause;
}

std::vector<Clause> clauses(const Ranks& ranks, const HostAnswers& asked, const char* is, const char* are) {
    std::vector<Clause> all;
    for (const auto& [place, there] : by_place(ranks, asked))
        all.push_back(clause_of(named(there, asked) + (there.size() == 1 ? is : are) + place, there));
    return all;
}

std::string not_seen(const std::string& subject, std::size_t ranks, bool may_be_late, const HostAnswers& asked) {
    const std::string is = ranks == 1 ? " is" : " are", has = ranks == 1 ? " has" : " have";
    if (asked.of_hosts)
        return subject + has + " told nothing meanwhile" + (may_be_late ? ", or" + is + " in MPI_Init still" : "");
    return subject + is + " not watched on this host" + (may_be_late ? ", or in MPI_Init still" : "");
}

}  // namespace tollbar::detail::missing
