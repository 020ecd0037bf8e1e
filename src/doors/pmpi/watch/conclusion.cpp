// SPDX-License-Identifier: Apache-2.0
// Collective calls are compared by their numbers, messages by their partners.
#include "conclusion.hpp"

#include "calls.h"

#include "base/report.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace tollbar::detail::watch {

namespace {

const tollbar_call& call_of(unsigned line) { return tollbar_calls[line < tollbar_number_of_calls ? line : 0]; }

/// A wait, and at which collective call that is; without a communicator it is for something else.
struct Wait {
    const Rank* rank = nullptr;
    const Seat* seat = nullptr;
    const Comm* comm = nullptr;
    std::uint64_t number = 0;

    const Counted* counted() const { return comm == nullptr ? nullptr : comm->at(number); }
};

/// MPI_Wait and its like are taken to wait for the thread's last collective call, where that one has only been begun.
Wait wait_of(const Rank& rank, const Seat& seat) {
    const std::string_view name = name_of_call(seat.call());
    if (const Comm* comm = rank.comm(seat.comm()); comm != nullptr && seat.number != 0)
        return {.rank = &rank, .seat = &seat, .comm = comm, .number = seat.number};
    if (name.starts_with("MPI_Wait") || name.starts_with("MPI_Test"))
        if (const Comm* comm = rank.comm(seat.last); comm != nullptr)
            if (const Counted* last = comm->at(comm->count); last != nullptr && call_of(last->call).kind == tollbar_begun)
                return {.rank = &rank, .seat = &seat, .comm = comm, .number = comm->count};
    return {.rank = &rank, .seat = &seat};
}

std::string seconds(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", seconds);
    return text;
}

std::string name_of(const Comm& comm) { return comm.name.empty() ? "a communicator without a name" : comm.name; }

std::string peer_of(const Seat& seat) {
    const bool sends = call_of(seat.call()).kind == tollbar_sends;
    std::string text = sends ? " to " : " from ";
    text += seat.peer >= 0 ? "rank " + std::to_string(seat.peer) : seat.peer == -1 ? "any rank" : "a rank elsewhere";
    return seat.tag < 0 ? text : text + " (tag " + std::to_string(seat.tag) + ")";
}

/// What keeps their calls from matching.
using Form = std::tuple<unsigned, std::uint32_t, unsigned, std::uint64_t>;

Form form_of(const Counted& one) { return {one.call, one.root, one.operation, one.bytes}; }

/// A call with what of it differs from `other`; of another call, with its root.
std::string described(const Counted& one, const Counted& other) {
    const bool same = one.call == other.call;
    std::vector<std::string> parts;
    if (one.root != 0 && (!same || one.root != other.root)) parts.push_back("root " + std::to_string(one.root - 1));
    if (same && one.operation != other.operation) parts.emplace_back(name_of_operation(one.operation));
    if (same && one.bytes != other.bytes) parts.push_back(std::to_string(one.bytes) + " bytes");
    const std::string all = joined(parts, ", ", [](const std::string& part) { return part; });
    return std::string(name_of_call(one.call)) + (all.empty() ? "" : " (" + all + ")");
}

class Conclusion {
public:
    Conclusion(const std::vector<Rank>& ranks, double timeout_s, const Asked& asked)
        : ranks_(ranks), timeout_s_(timeout_s), asked_(asked) {
        for (const Rank& rank : ranks)
            for (const Seat& seat : rank.seats)
                if (seat.state() != tollbar_outside && seat.waited_s >= timeout_s_)
                    waits_.push_back(wait_of(rank, seat));
    }

    std::vector<std::string> lines() {
        std::map<std::uint64_t, std::vector<Wait>> meetings;
        for (const Wait& wait : waits_)
            if (wait.comm != nullptr) meetings[wait.comm->id].push_back(wait);
        for (const auto& [id, waits] : meetings) add_meeting(id, waits);
        add_cycles();
        add_messages();
        if (lines_.empty() && !waits_.empty()) add_everybody();
        return std::move(lines_);
    }

private:
    std::string site(const Rank& rank, std::uint64_t address) const { return asked_.site(rank.process, address); }

    const Rank* rank_of(int number) const {
        const auto found = std::ranges::lower_bound(ranks_, number, {}, &Rank::rank);
        return found == ranks_.end() || found->rank != number ? nullptr : &*found;
    }

    /// "rank 3 (process 4711)", "ranks 3 and 5".
    static std::string named(const std::vector<const Rank*>& ranks) {
        std::vector<tollbar::Rank> numbers;
        for (const Rank* rank : ranks) numbers.push_back(static_cast<tollbar::Rank>(rank->rank));
        if (ranks.size() > 1) return "ranks " + listed(numbers);
        return "rank " + listed(numbers) + " (process " + std::to_string(ranks.front()->process) + ")";
    }

    std::string in_call(const Rank& rank, const Seat& seat) const {
        const tollbar_call& call = call_of(seat.call());
        const Comm* comm = rank.comm(seat.comm());
        std::string text = seat.state() == tollbar_polling ? "polling by " : "in ";
        text += call.name;
        if (seat.number != 0 && comm != nullptr) text += " " + std::to_string(seat.number) + " of " + name_of(*comm);
        if (call.tag != 0) text += peer_of(seat);
        return text + " at " + site(rank, seat.site);
    }

    /// The thread that tells most of a rank: one in a call, else the one that was first in the MPI.
    static const Seat& telling(const Rank& rank) {
        const auto inside = std::ranges::find_if(rank.seats, [](const Seat& s) { return s.state() != tollbar_outside; });
        return inside == rank.seats.end() ? rank.seats.front() : *inside;
    }

    std::string last_of(const Rank& rank, const Seat& seat) const {
        const Comm* comm = rank.comm(seat.last);
        const Counted* last = comm == nullptr ? nullptr : comm->at(comm->count);
        if (last == nullptr) return "before its first collective call";
        return "after " + std::string(name_of_call(last->call)) + " " + std::to_string(comm->count) + " of " +
               name_of(*comm) + " at " + site(rank, last->site);
    }

    /// Such as "in MPI_Recv from rank 1 (tag 7) at ...", "stopped, in ..." or "outside the MPI, asleep in nanosleep, after
    /// MPI_Bcast 4 of MPI_COMM_WORLD at ...".
    std::string whereabouts(const Rank& rank) const {
        const std::string doing = asked_.doing(rank);
        const Seat& seat = telling(rank);
        if (rank.left) return "past MPI_Finalize";
        const bool counts = tollbar_counts(call_of(seat.call()).kind) != 0 && seat.state() != tollbar_outside;
        const std::string last = counts ? "" : ", " + last_of(rank, seat);
        if (doing == "dead") return "dead" + last;
        if (seat.state() == tollbar_outside) return "outside the MPI, " + doing + last;
        return (doing == "stopped" ? "stopped, " : "") + in_call(rank, seat) + last;
    }

    /// "rank 2 (process 4711) has not come: it is ..."; ranks in one place share a clause.
    std::vector<std::string> clauses(const std::vector<const Rank*>& ranks, const std::string& what) const {
        std::vector<std::pair<std::string, std::vector<const Rank*>>> places;
        for (const Rank* rank : ranks) {
            const std::string place = whereabouts(*rank);
            auto found = std::ranges::find(places, place, &decltype(places)::value_type::first);
            if (found == places.end()) found = places.insert(places.end(), {place, {}});
            found->second.push_back(rank);
        }
        std::vector<std::string> all;
        for (const auto& [place, there] : places)
            all.push_back(named(there) + (what.empty()        ? there.size() > 1 ? " are " : " is "
                                          : there.size() > 1 ? " have not come: they are "
                                                              : " has not come: it is ") +
                          place);
        return all;
    }

    static std::string together(const std::vector<std::string>& clauses) {
        return joined(clauses, "; ", [](const std::string& clause) { return clause; });
    }

    std::string waiting(const Wait& wait, const std::string& how = "") const {
        return ": rank " + std::to_string(wait.rank->rank) + " on " + asked_.host + " has waited " +
               seconds(wait.seat->waited_s) + how + ": ";
    }

    void add_meeting(std::uint64_t id, const std::vector<Wait>& waits) {
        const std::uint64_t number = std::ranges::min(waits, {}, &Wait::number).number;
        std::vector<const Rank*> missing;
        std::map<Form, std::vector<const Rank*>> came;
        std::map<unsigned, std::size_t> by_call;
        std::size_t members = 0;
        for (const Rank& rank : ranks_) {
            const Comm* comm = rank.comm_of(id);
            if (comm == nullptr) continue;
            ++members;
            if (comm->count < number) missing.push_back(&rank);
            if (const Counted* one = comm->at(number)) {
                came[form_of(*one)].push_back(&rank);
                ++by_call[one->call];
            }
        }
        // What most of them came to; of several, what the lowest rank came to.
        const auto most = std::ranges::max_element(came, [&](const auto& one, const auto& other) {
            const auto weight = [&](const auto& all) {
                return std::tuple(by_call[std::get<0>(all.first)], all.second.size(), -all.second.front()->rank);
            };
            return weight(one) < weight(other);
        });
        const Counted usual = *most->second.front()->comm_of(id)->at(number);
        std::vector<std::string> found;
        for (const auto& [form, ranks] : came) {
            if (form == most->first) continue;
            const Counted other = *ranks.front()->comm_of(id)->at(number);
            const std::size_t here = by_call[usual.call] - (other.call == usual.call ? ranks.size() : 0);
            found.push_back(named(ranks) + " called " + described(other, usual) + " at " +
                            site(*ranks.front(), other.site) + " where " + std::to_string(here) +
                            (here == 1 ? " rank called " : " ranks called ") + described(usual, other));
        }
        for (std::string& clause : clauses(missing, "come")) found.push_back(std::move(clause));
        const auto& of_usual = most->second;
        const auto speaks = std::ranges::find_if(waits, [&](const Wait& wait) {
            return wait.number == number && std::ranges::find(of_usual, wait.rank) != of_usual.end();
        });
        const Wait& speaker = speaks == waits.end() ? waits.front() : *speaks;
        const Comm& comm = *speaker.comm;
        const bool begun = speaker.seat->number == 0;
        if (found.empty() && members == comm.size && begun) return;  // it waits for something else
        if (members < comm.size)
            found.push_back(std::to_string(comm.size - members) + " of its ranks are not watched on this host");
        else if (found.empty())
            found.emplace_back("all its ranks have come");
        for (const Rank* rank : missing) explained_.insert(rank->rank);
        for (const Wait& wait : waits) explained_.insert(wait.rank->rank);
        const Counted* own = speaker.counted();
        const Counted& head = own == nullptr ? usual : *own;
        lines_.push_back(name_of(comm) + " (" + std::to_string(comm.size) + " ranks), " +
                         std::string(name_of_call(head.call)) + " " + std::to_string(speaker.number) + " at " +
                         site(*speaker.rank, head.site) +
                         waiting(speaker, begun ? " " + in_call(*speaker.rank, *speaker.seat) : "") + together(found));
    }

    /// Where the rank is in a call for a message of one partner, and no other thread of it could be that partner's.
    static const Seat* message_of(const Rank& rank) {
        const Seat* only = nullptr;
        for (const Seat& seat : rank.seats) {
            if (seat.at == 0) continue;
            if (only != nullptr || seat.state() != tollbar_inside || call_of(seat.call()).tag == 0) return nullptr;
            only = &seat;
        }
        return only != nullptr && only->peer >= 0 ? only : nullptr;
    }

    /// A message that one sends and the other receives is under way.
    static bool may_meet(const Seat& one, const Seat& other) {
        const bool opposite = call_of(one.call()).kind != call_of(other.call()).kind;
        return opposite && (one.tag < 0 || other.tag < 0 || one.tag == other.tag);
    }

    /// The ranks from this one to itself, each waiting for the next; none where the way does not come back.
    std::vector<const Rank*> cycle_from(const Rank& first) const {
        std::vector<const Rank*> way;
        for (const Rank* rank = &first;;) {
            const Seat* message = message_of(*rank);
            if (message == nullptr) return {};
            way.push_back(rank);
            rank = rank_of(message->peer);
            if (rank == &first) break;
            if (rank == nullptr || std::ranges::find(way, rank) != way.end()) return {};
        }
        if (way.size() == 2 && may_meet(*message_of(*way[0]), *message_of(*way[1]))) return {};
        return way;
    }

    void add_cycles() {
        std::set<const Rank*> done;
        for (const Wait& wait : waits_) {
            if (done.contains(wait.rank)) continue;
            const std::vector<const Rank*> cycle = cycle_from(*wait.rank);
            if (cycle.empty()) continue;
            std::vector<std::string> clauses;
            for (const Rank* rank : cycle) {
                done.insert(rank);
                explained_.insert(rank->rank);
                clauses.push_back(named({rank}) + " is " + in_call(*rank, *message_of(*rank)));
            }
            lines_.push_back(std::string(name_of_call(wait.seat->call())) + " at " + site(*wait.rank, wait.seat->site) +
                             waiting(wait) + "a cycle: " + together(clauses));
        }
    }

    void add_messages() {
        std::map<int, std::vector<Wait>> by_peer;
        for (const Wait& wait : waits_)
            if (const tollbar_call& call = call_of(wait.seat->call());
                call.tag != 0 && wait.seat->peer >= 0 && !explained_.contains(wait.rank->rank))
                by_peer[wait.seat->peer].push_back(wait);
        for (const auto& [peer, waits] : by_peer)
            for (const Wait& wait : waits) explained_.insert(wait.rank->rank);
        for (const auto& [peer, waits] : by_peer) {
            if (explained_.contains(peer)) continue;  // another line says what that one waits for
            const Wait& first = waits.front();
            const Rank* partner = rank_of(peer);
            std::string who = "rank " + std::to_string(peer) + " is not watched on this host";
            if (partner != nullptr) who = clauses({partner}, "").front();
            if (waits.size() > 1) who = std::to_string(waits.size()) + " ranks wait for it: " + who;
            lines_.push_back(std::string(name_of_call(first.seat->call())) + peer_of(*first.seat) + " at " +
                             site(*first.rank, first.seat->site) + waiting(first) + who);
        }
    }

    /// Nothing tells what they wait for: where everybody is has to do.
    void add_everybody() {
        const Wait& first = waits_.front();
        std::vector<const Rank*> others;
        for (const Rank& rank : ranks_)
            if (rank.rank != first.rank->rank) others.push_back(&rank);
        const std::vector<std::string> where = clauses(others, "");
        lines_.push_back(std::string(name_of_call(first.seat->call())) + " at " + site(*first.rank, first.seat->site) +
                         waiting(first) + (where.empty() ? "no other rank is watched on this host" : together(where)));
    }

    const std::vector<Rank>& ranks_;
    const double timeout_s_;
    const Asked& asked_;
    std::vector<Wait> waits_;  ///< of which the ranks ascend
    std::set<int> explained_;  ///< ranks that a line is about
    std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> conclude(const std::vector<Rank>& ranks, double timeout_s, const Asked& asked) {
    return Conclusion(ranks, timeout_s, asked).lines();
}

}  // namespace tollbar::detail::watch
