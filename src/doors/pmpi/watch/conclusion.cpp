// SPDX-License-Identifier: Apache-2.0
// Collective calls are compared by their numbers, messages by their partners.
#include "conclusion.hpp"

#include "counted.hpp"

#include "base/report.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace tollbar::detail::watch {

namespace {

/// A wait, and at which collective call that is; without a communicator it is for something else.
struct Wait {
    const Rank* rank = nullptr;
    const tollbar_seat* seat = nullptr;
    double seconds = 0;
    const tollbar_comm* comm = nullptr;
    std::uint64_t number = 0;
};

/// MPI_Wait and its like are taken to wait for the thread's last collective call, where that one has only been begun.
Wait wait_of(const Rank& rank, const tollbar_seat& seat, double seconds) {
    const std::string_view name = call_of(seat).name;
    Wait wait{.rank = &rank, .seat = &seat, .seconds = seconds};
    const tollbar_comm* const last = rank.comm(seat.last);
    if (seat.number != 0) {
        wait.comm = rank.comm(tollbar_comm_of(seat.at));
        wait.number = seat.number;
    } else if (last != nullptr && (name.starts_with("MPI_Wait") || name.starts_with("MPI_Test"))) {
        const tollbar_counted* const begun = counted_at(*last, last->count);
        if (begun == nullptr || call_of(*begun).kind != tollbar_begun) return wait;
        wait.comm = last;
        wait.number = last->count;
    }
    return wait;
}

std::string seconds(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", seconds);
    return text;
}

std::string peer_of(const tollbar_seat& seat) {
    const bool sends = call_of(seat).kind == tollbar_sends;
    std::string text = sends ? " to " : " from ";
    text += seat.peer >= 0 ? "rank " + std::to_string(seat.peer) : seat.peer == -1 ? "any rank" : "a rank elsewhere";
    return seat.tag < 0 ? text : text + " (tag " + std::to_string(seat.tag) + ")";
}

bool is_stopped(const Rank& rank, const Asked& asked) {
    const std::string doing = asked.doing(rank);
    return doing == "stopped" || doing == "dead";
}

/// "4711" in hexadecimal digits.
std::string hex(std::uint64_t number) {
    char text[20];
    std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(number));
    return text;
}

class Conclusion {
public:
    Conclusion(const std::vector<Rank>& ranks, double timeout_s, const Asked& asked)
        : ranks_(ranks), timeout_s_(timeout_s), asked_(asked) {
        for (const Rank& rank : ranks)
            for (std::size_t i = 0; i < tollbar_seats; ++i)
                if (rank.waited_s[i] >= timeout_s) waits_.push_back(wait_of(rank, rank.row.seats[i], rank.waited_s[i]));
    }

    std::vector<Line> lines() {
        std::map<std::uint64_t, std::vector<Wait>> meetings;
        for (const Wait& wait : waits_)
            if (wait.comm != nullptr) meetings[wait.comm->id].push_back(wait);
        for (const auto& [id, waits] : meetings) add_meeting(id, waits);
        add_cycles();
        add_messages();
        if (lines_.empty() && !waits_.empty()) add_everybody();
        return std::move(lines_);
    }

    std::vector<Line> standings() const {
        std::map<std::uint64_t, std::uint64_t> here;
        for (const Rank& rank : ranks_)
            for (const tollbar_comm& comm : rank.row.comms) ++here[comm.id];
        std::map<std::string, std::vector<const Rank*>> by_calls;
        for (const Rank& rank : ranks_) {
            std::string calls;
            for (const tollbar_comm& comm : rank.row.comms) {
                if (comm.id == 0 || here[comm.id] >= comm.size) continue;
                const tollbar_counted* const last = counted_at(comm, comm.count);
                calls.append(" ").append(hex(comm.id)).append(":").append(std::to_string(comm.count));
                calls.append(":").append(last == nullptr ? "" : fact_of(*last));
            }
            if (!calls.empty()) by_calls[calls].push_back(&rank);
        }
        std::vector<Line> all;
        for (const auto& [calls, ranks] : by_calls)
            for (const auto& [place, there] : by_place(ranks))
                all.push_back({(there.size() > 1 ? "" : home(*there.front()) + ", ") + place,
                               "ranks " + joined(there, ",", text_of_number) + calls});
        return all;
    }

private:
    std::string site(const Rank& rank, std::uint64_t address) const { return asked_.site(rank.row.process, address); }

    static int number_of(const Rank& rank) { return rank.row.rank; }

    const Rank* rank_of(int number) const {
        const auto found = std::ranges::find(ranks_, number, number_of);
        return found == ranks_.end() ? nullptr : &*found;
    }

    static std::string text_of_number(const Rank* rank) { return std::to_string(rank->row.rank); }

    /// "host a, process 4711".
    std::string home(const Rank& rank) const {
        return "host " + asked_.host + ", process " + std::to_string(rank.row.process);
    }

    /// "rank 3 (host a, process 4711)", "ranks 3 and 5".
    std::string named(const std::vector<const Rank*>& ranks) const {
        const std::string numbers = listed(ranks, text_of_number);
        if (ranks.size() > 1) return "ranks " + numbers;
        return "rank " + numbers + " (" + home(*ranks.front()) + ")";
    }

    std::string in_call(const Rank& rank, const tollbar_seat& seat) const {
        const tollbar_call& call = call_of(seat);
        const tollbar_comm* comm = rank.comm(tollbar_comm_of(seat.at));
        std::string text = tollbar_state_of(seat.at) == tollbar_polling ? "polling by " : "in ";
        text += call.name;
        if (seat.number != 0 && comm != nullptr)
            text.append(" ").append(std::to_string(seat.number)) += " of " + name_of(*comm);
        if (call.tag != 0) text += peer_of(seat);
        return text + " at " + site(rank, seat.site);
    }

    /// The thread that tells most of a rank: one in a call, else the one that was first in the MPI.
    static const tollbar_seat& telling(const Rank& rank) {
        const auto inside = std::ranges::find_if_not(rank.row.seats, is_outside);
        return inside == rank.row.seats.end() ? rank.row.seats[0] : *inside;
    }

    std::string last_of(const Rank& rank, const tollbar_seat& seat) const {
        const tollbar_comm* comm = rank.comm(seat.last);
        const tollbar_counted* last = comm == nullptr ? nullptr : counted_at(*comm, comm->count);
        if (last == nullptr) return "before any collective call";
        return std::string("after ") + call_of(*last).name + " " + std::to_string(comm->count) + " of " +
               name_of(*comm) + " at " + site(rank, last->site);
    }

    /// Such as "in MPI_Recv from rank 1 (tag 7) at ...", "stopped, in ..." or "outside the MPI, running, after
    /// MPI_Bcast 4 of MPI_COMM_WORLD at ...".
    std::string whereabouts(const Rank& rank) const {
        const std::string doing = asked_.doing(rank);
        const tollbar_seat& seat = telling(rank);
        if (rank.row.state == tollbar_row_left) return "past MPI_Finalize";
        const bool counts = tollbar_counts(call_of(seat).kind) != 0 && !is_outside(seat);
        const std::string last = counts ? "" : ", " + last_of(rank, seat);
        if (doing == "dead") return "dead" + last;
        if (is_outside(seat)) return "outside the MPI, " + doing + last;
        return std::string(doing == "stopped" ? "stopped, " : "").append(in_call(rank, seat)) + last;
    }

    /// The ranks at each of their whereabouts.
    std::vector<std::pair<std::string, std::vector<const Rank*>>> by_place(
        const std::vector<const Rank*>& ranks) const {
        std::vector<std::pair<std::string, std::vector<const Rank*>>> places;
        for (const Rank* rank : ranks) {
            const std::string place = whereabouts(*rank);
            auto found = std::ranges::find(places, place, &decltype(places)::value_type::first);
            if (found == places.end()) found = places.insert(places.end(), {place, {}});
            found->second.push_back(rank);
        }
        return places;
    }

    /// "rank 2 (host a, process 4711) is ..."; ranks in one place share a clause.
    std::vector<std::string> clauses(const std::vector<const Rank*>& ranks, const char* is = " is ",
                                     const char* are = " are ") const {
        std::vector<std::string> all;
        for (const auto& [place, there] : by_place(ranks))
            all.push_back(named(there) + (there.size() == 1 ? is : are) + place);
        return all;
    }

    bool waits(const Rank* rank) const { return std::ranges::find(waits_, rank, &Wait::rank) != waits_.end(); }

    /// Ranks whose absence is their own: beside a stopped or dead one, a rank in a call may be waiting for that.
    std::vector<const Rank*> at_fault(std::vector<const Rank*> missing) const {
        if (std::ranges::any_of(missing, [&](const Rank* rank) { return is_stopped(*rank, asked_); }))
            std::erase_if(missing, [&](const Rank* rank) { return waits(rank); });
        return missing;
    }

    /// The line of a wait begins so; `how` it waits where not in the call itself.
    std::string opening(const Wait& wait, const tollbar_comm* comm, const std::string& call, std::uint64_t called_at,
                        const std::string& how = "") const {
        const std::string of = comm == nullptr ? "" : name_of(*comm) + " (" + std::to_string(comm->size) + " ranks), ";
        return of + call + " at " + site(*wait.rank, called_at) + ": rank " + text_of_number(wait.rank) + " on " +
               asked_.host + " has waited " + seconds(wait.seconds) + how + ": ";
    }

    /// At no collective call.
    std::string opening(const Wait& wait) const {
        const tollbar_call& call = call_of(*wait.seat);
        return opening(wait, wait.rank->comm(tollbar_comm_of(wait.seat->at)),
                       call.name + (call.tag == 0 ? "" : peer_of(*wait.seat)), wait.seat->site);
    }

    void add_meeting(std::uint64_t id, const std::vector<Wait>& waits) {
        const std::uint64_t number = std::ranges::min(waits, {}, &Wait::number).number;
        std::vector<const Rank*> missing;
        std::map<Form, std::vector<const Rank*>> came;
        std::map<unsigned, std::size_t> by_call;
        std::size_t members = 0;
        for (const Rank& rank : ranks_) {
            const tollbar_comm* comm = rank.comm_of(id);
            if (comm == nullptr) continue;
            ++members;
            if (comm->count < number) missing.push_back(&rank);
            if (const tollbar_counted* one = counted_at(*comm, number)) {
                came[form_of(*one)].push_back(&rank);
                ++by_call[call_in(*one)];
            }
        }
        // The call that most of them came to; of several, the lowest rank's.
        const auto most = std::ranges::max_element(came, [&](const auto& one, const auto& other) {
            const auto weight = [&](const auto& all) {
                return std::tuple(by_call[all.first.first & 0xffff], all.second.size(), -all.second.front()->row.rank);
            };
            return weight(one) < weight(other);
        });
        const auto counted = [&](const Rank* rank) { return *counted_at(*rank->comm_of(id), number); };
        const tollbar_counted usual = counted(most->second.front());
        std::vector<std::string> found;
        for (const auto& [form, ranks] : came) {
            if (form == most->first) continue;
            const tollbar_counted other = counted(ranks.front());
            const bool same = call_in(other) == call_in(usual);
            const std::size_t here = by_call[call_in(usual)] - (same ? ranks.size() : 0);
            found.push_back(named(ranks) + " called " + described(other, usual) + " at " +
                            site(*ranks.front(), other.site) + " where " + std::to_string(here) +
                            (here == 1 ? " rank called " : " ranks called ") + described(usual, other));
        }
        for (std::string& clause : clauses(at_fault(missing), " has not come: it is ", " have not come: they are "))
            found.push_back(std::move(clause));
        const auto& of_usual = most->second;
        const auto speaks = std::ranges::find_if(waits, [&](const Wait& wait) {
            return wait.number == number && std::ranges::find(of_usual, wait.rank) != of_usual.end();
        });
        const Wait& speaker = speaks == waits.end() ? waits.front() : *speaks;
        const tollbar_comm& comm = *speaker.comm;
        const bool begun = speaker.seat->number == 0;
        if (found.empty() && members == comm.size && begun) {  // it waits for something else; others wait further on
            std::vector<Wait> further = waits;
            std::erase_if(further, [&](const Wait& wait) { return wait.number <= number; });
            if (!further.empty()) add_meeting(id, further);
            return;
        }
        if (members < comm.size)
            found.push_back(std::to_string(comm.size - members) + " of its ranks are not watched on this host");
        else if (found.empty())
            found.emplace_back("all its ranks have come");
        for (const Rank* rank : missing) explained_.insert(rank->row.rank);
        for (const Wait& wait : waits) explained_.insert(wait.rank->row.rank);
        const tollbar_counted* const own = counted_at(comm, speaker.number);
        const tollbar_counted& head = own == nullptr ? usual : *own;
        const std::string call = std::string(call_of(head).name) + " " + std::to_string(speaker.number);
        const std::string how = begun ? std::string(" ").append(in_call(*speaker.rank, *speaker.seat)) : "";
        lines_.push_back(
            {opening(speaker, &comm, call, head.site, how) + joined(found, "; "),
             "at " + hex(id) + " " + std::to_string(number) + " " + std::to_string(ranks_.front().row.rank)});
    }

    /// The call for a message of one partner that a rank is in, if none of its threads could be a partner meanwhile.
    static const tollbar_seat* message_of(const Rank& rank) {
        const tollbar_seat* only = nullptr;
        for (const tollbar_seat& seat : rank.row.seats) {
            if (seat.at == 0) continue;
            if (only != nullptr || tollbar_state_of(seat.at) != tollbar_inside || call_of(seat).tag == 0)
                return nullptr;
            only = &seat;
        }
        return only != nullptr && only->peer >= 0 ? only : nullptr;
    }

    /// A message that one sends and the other receives is under way.
    static bool may_meet(const tollbar_seat& one, const tollbar_seat& other) {
        const bool opposite = call_of(one).kind != call_of(other).kind;
        return opposite && (one.tag < 0 || other.tag < 0 || one.tag == other.tag);
    }

    /// The ranks from this one to itself, each waiting for the next; none where the way does not come back.
    std::vector<const Rank*> cycle_from(const Rank& first) const {
        std::vector<const Rank*> way;
        for (const Rank* rank = &first;;) {
            const tollbar_seat* message = message_of(*rank);
            if (message == nullptr || !waits(rank)) return {};
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
                explained_.insert(rank->row.rank);
                clauses.push_back(named({rank}) + " is " + in_call(*rank, *message_of(*rank)));
            }
            lines_.push_back({opening(wait) + "a cycle: " + joined(clauses, "; "), ""});
        }
    }

    void add_messages() {
        std::map<int, std::vector<Wait>> by_peer;
        for (const Wait& wait : waits_)
            if (call_of(*wait.seat).tag != 0 && wait.seat->peer >= 0 && !explained_.contains(wait.rank->row.rank))
                by_peer[wait.seat->peer].push_back(wait);
        for (const auto& [peer, waits] : by_peer)
            for (const Wait& wait : waits) explained_.insert(wait.rank->row.rank);
        for (const auto& [peer, waits] : by_peer) {
            if (explained_.contains(peer)) continue;  // another line says what that one waits for
            const Wait& first = waits.front();
            const Rank* partner = rank_of(peer);
            std::string who = "rank " + std::to_string(peer) + " is not watched on this host";
            if (partner != nullptr) who = clauses({partner}).front();
            if (waits.size() > 1) who = std::to_string(waits.size()) + " ranks wait for it: " + who;
            lines_.push_back({opening(first) + who, ""});
        }
    }

    /// Nothing tells what they wait for: where everybody is has to do. Stopped and dead ranks are named alone, as any
    /// other may be elsewhere because of them.
    void add_everybody() {
        const Wait& first = waits_.front();
        std::vector<const Rank*> others;
        for (const Rank& rank : ranks_)
            if (&rank != first.rank) others.push_back(&rank);
        const auto is_still = [&](const Rank* rank) { return is_stopped(*rank, asked_); };
        if (std::ranges::any_of(others, is_still)) std::erase_if(others, std::not_fn(is_still));
        const std::vector<std::string> where = clauses(others);
        const std::string said = where.empty() ? "no other rank is watched on this host" : joined(where, "; ");
        lines_.push_back({opening(first) + said, ""});
    }

    const std::vector<Rank>& ranks_;
    const double timeout_s_;
    const Asked& asked_;
    std::vector<Wait> waits_;  ///< of which the ranks ascend
    std::set<int> explained_;  ///< ranks that a line is about
    std::vector<Line> lines_;
};

}  // namespace

bool leave_out_stopped(std::vector<Rank>& ranks, double timeout_s, const Asked& asked) {
    bool any = false;
    for (Rank& rank : ranks) {
        if (*std::ranges::max_element(rank.waited_s) < timeout_s) continue;
        if (!is_stopped(rank, asked)) continue;
        rank.waited_s.fill(0);
        any = true;
    }
    return any;
}

std::vector<Line> conclude(const std::vector<Rank>& ranks, double timeout_s, const Asked& asked) {
    return Conclusion(ranks, timeout_s, asked).lines();
}

std::vector<Line> standings(const std::vector<Rank>& ranks, const Asked& asked) {
    return Conclusion(ranks, 0, asked).standings();
}

}  // namespace tollbar::detail::watch
