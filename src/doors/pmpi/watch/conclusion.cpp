// SPDX-License-Identifier: Apache-2.0
// Collective calls are compared by their numbers, messages by their partners.
#include "conclusion.hpp"

#include "counted.hpp"
#include "meeting.hpp"

#include "base/report.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
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
    bool is_sure = true;  ///< that it is for this call
};

bool is_message(const tollbar_seat& seat) { return way_of(seat) != tollbar_no_way; }

/// MPI_Wait and its like may wait for the thread's last collective call, where that one has only been begun, and where
/// it is not known what their requests are for.
Wait wait_of(const Rank& rank, const tollbar_seat& seat, double seconds) {
    Wait wait{.rank = &rank, .seat = &seat, .seconds = seconds};
    const tollbar_comm* const last = rank.comm_of(seat.last);
    if (is_for(seat, tollbar_of_all)) {
        wait.comm = rank.comm(tollbar_comm_of(seat.at));
        wait.number = seat.number;
    } else if (seat.number != 0 && tollbar_counts(call_of(seat).kind) != 0) {
        wait.comm = last;
        wait.number = seat.number;
    } else if (last != nullptr && is_for(seat, tollbar_no_way)) {
        const tollbar_counted* const begun = counted_at(*last, seat.last_number);
        if (begun == nullptr || call_of(*begun).kind != tollbar_begun) return wait;
        wait.comm = last;
        wait.number = seat.last_number;
        wait.is_sure = false;
    }
    return wait;
}

/// It waits for the rank that it names, or for another one to which it sends.
bool sends_too(const tollbar_seat& seat) { return std::string_view(call_of(seat).name).starts_with("MPI_Sendrecv"); }

/// A clause about a call that waits for its neighbours alone, or may do so, as it is known no more; else empty.
std::string whom_it_needs(const tollbar_seat& seat, const tollbar_comm& comm, std::uint64_t number) {
    const tollbar_counted* const counted = counted_at(comm, number);
    const tollbar_call& call = counted == nullptr ? call_of(seat) : call_of(*counted);
    const std::string_view name = call.name;
    if (name.starts_with("MPI_Neighbor") || name.starts_with("MPI_Ineighbor"))
        return "cannot tell which of them are neighbours of the ranks that wait";
    return tollbar_counts(call.kind) != 0 ? "" : "cannot tell which of them it needs";
}

std::string seconds(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", seconds);
    return text;
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
        add_started();
        add_cycles();
        add_messages();
        if (lines_.empty() && !waits_.empty()) add_everybody();
        return std::move(lines_);
    }

    std::vector<Line> standings() const {
        if (is_whole_job(ranks_)) return {};
        std::map<std::uint64_t, std::uint64_t> here;
        for (const Rank& rank : ranks_)
            for (const tollbar_comm& comm : rank.row.comms) ++here[comm.id];
        std::map<std::string, Ranks> by_calls;
        for (const Rank& rank : ranks_) {
            std::string calls;
            for (const tollbar_comm& comm : rank.row.comms) {
                if (comm.id == 0 || comm.freed != 0 || here[comm.id] >= comm.size) continue;
                const tollbar_counted* const last = counted_at(comm, comm.count);
                calls.append(" ").append(hex(comm.id)).append(":").append(std::to_string(comm.count));
                calls.append(":").append(last == nullptr ? "" : fact_of(*last));
            }
            if (!calls.empty()) by_calls[calls].push_back(&rank);
        }
        std::vector<Line> all;
        for (const auto& [calls, ranks] : by_calls)
            for (const auto& [place, there] : by_place(ranks, asked_))
                all.push_back({(there.size() > 1 ? "" : home(*there.front(), asked_) + ", ") + place,
                               "ranks " + joined(there, ",", text_of_number) + calls});
        return all;
    }

private:
    const Rank* rank_of(int number) const {
        const auto found = std::ranges::find(ranks_, number, [](const Rank& rank) { return rank.row.rank; });
        return found == ranks_.end() ? nullptr : &*found;
    }

    bool waits(const Rank* rank) const { return std::ranges::find(waits_, rank, &Wait::rank) != waits_.end(); }

    /// Ranks whose absence is their own: beside a stopped or dead one, a rank in a call may be waiting for that.
    Ranks at_fault(const Ranks& missing) const {
        Ranks still = missing;
        std::erase_if(still, [&](const Rank* rank) { return waits(rank); });
        const auto stopped = [&](const Rank* rank) { return is_stopped(*rank, asked_); };
        return std::ranges::any_of(still, stopped) ? still : missing;
    }

    /// The line of a wait begins so; `how` it waits where not in the call itself.
    std::string opening(const Wait& wait, const tollbar_comm* comm, const std::string& call,
                        std::optional<std::uint64_t> called_at, const std::string& how = "") const {
        const std::string of = comm == nullptr ? "" : name_of(*comm) + " (" + std::to_string(comm->size) + " ranks), ";
        const std::string at = called_at ? " at " + asked_.site(wait.rank->row.process, *called_at) : "";
        return of + call + at + ": rank " + text_of_number(wait.rank) + " on " + asked_.host + " has waited " +
               seconds(wait.seconds) + how + ": ";
    }

    /// At no collective call.
    std::string opening(const Wait& wait) const {
        const tollbar_call& call = call_of(*wait.seat);
        return opening(wait, wait.rank->comm(tollbar_comm_of(wait.seat->at)),
                       call.name + (is_message(*wait.seat) ? peer_of(*wait.seat) : ""), wait.seat->site);
    }

    /// All lines of a wait at no collective call have it, and no other wait's.
    static std::string call_in(const Wait& wait) {
        return "in " + text_of_number(wait.rank) + " " + std::to_string(wait.seat - wait.rank->row.seats.data()) + " " +
               std::to_string(tollbar_serial_of(wait.seat->at));
    }

    void add_meeting(std::uint64_t id, std::vector<Wait> waits) {
        while (!waits.empty()) {
            const std::uint64_t number = std::ranges::min(waits, {}, &Wait::number).number;
            if (add_call(id, number, waits)) return;
            std::erase_if(waits, [&](const Wait& wait) { return wait.number <= number; });
        }
    }

    /// False where these ranks wait for something else: they have begun that call, and so have all others.
    bool add_call(std::uint64_t id, std::uint64_t number, const std::vector<Wait>& waits) {
        const Meeting meeting = meeting_of(ranks_, id, number);
        const auto speaks = std::ranges::find_if(waits, [&](const Wait& wait) {
            return wait.number == number && !meeting.came.empty() &&
                   std::ranges::find(meeting.came.front().second, wait.rank) != meeting.came.front().second.end();
        });
        const Wait& speaker = speaks == waits.end() ? *std::ranges::min_element(waits, {}, &Wait::number) : *speaks;
        const tollbar_comm& comm = *speaker.comm;
        const bool begun = tollbar_counts(call_of(*speaker.seat).kind) == 0, races = !meeting.racing.empty();
        std::vector<std::string> found = races ? numbers_do_not_tell(meeting, ranks_, id, asked_)
                                               : misfits(meeting, asked_);
        if (!races)
            for (std::string& clause :
                 clauses(at_fault(meeting.missing), asked_, " has not come: it is ", " have not come: they are "))
                found.push_back(std::move(clause));
        if (found.empty() && meeting.members >= comm.size && !speaker.is_sure) return false;
        const std::string needs = whom_it_needs(*speaker.seat, comm, number);
        if (!races && !meeting.missing.empty() && !needs.empty()) found.push_back(needs);
        if (meeting.members < comm.size) {
            found.push_back(the_rest(comm, ranks_, meeting.members, asked_));
        } else if (found.empty()) {
            found.push_back(all_have_come(meeting, ranks_, id, number, asked_));
        }
        for (const Rank* rank : meeting.missing) explained_.insert(rank->row.rank);
        for (const Wait& wait : waits) explained_.insert(wait.rank->row.rank);
        const tollbar_counted* const own = counted_at(comm, number);
        const tollbar_call& called = own == nullptr ? call_of(*speaker.seat) : call_of(*own);
        std::string call = begun && own == nullptr ? "the begun call" : called.name, how;
        call.append(" ").append(std::to_string(number));
        if (begun) how.append(" ").append(in_call(*speaker.rank, *speaker.seat, asked_));
        if (!speaker.is_sure) how += ", perhaps for this call";
        const std::string facts = "at " + hex(id) + " " + std::to_string(number) + " " +
                                  std::to_string(ranks_.front().row.rank);
        std::optional<std::uint64_t> site;
        if (own != nullptr || !begun) site = own != nullptr ? own->site : speaker.seat->site;
        lines_.push_back(
            {opening(speaker, &comm, call, site, how) + joined(found, "; "), races ? call_in(speaker) : facts});
        return true;
    }

    /// Ranks start persistent calls in any order: their starts of each are counted.
    void add_started() {
        std::map<std::pair<std::uint64_t, std::uint64_t>, std::map<std::uint64_t, std::vector<Wait>>> by_call;
        for (Wait wait : waits_) {
            wait.comm = wait.rank->comm(tollbar_comm_of(wait.seat->at));
            if (!is_for(*wait.seat, tollbar_of_started) || wait.comm == nullptr) continue;
            const std::uint64_t id = wait.comm->id, number = wait.seat->number;
            by_call[{id, number}][wait.rank->starts(id, number)].push_back(wait);
        }
        for (const auto& [call, by_start] : by_call)
            for (const auto& [start, waits] : by_start)
                if (add_start(call.first, call.second, start, waits)) break;
    }

    /// False where all ranks have started it so often.
    bool add_start(std::uint64_t id, std::uint64_t number, std::uint64_t start, const std::vector<Wait>& waits) {
        const Wait& speaker = waits.front();
        Ranks missing, unknown;
        std::size_t members = 0;
        for (const Rank& rank : ranks_) {
            if (rank.comm_of(id) == nullptr) continue;
            ++members;
            const std::uint64_t starts = rank.starts(id, number);
            const bool is_kept = std::ranges::find(rank.row.started, 0U, &tollbar_started::number) !=
                                 rank.row.started.end();
            if (starts < start) (starts != 0 || is_kept ? missing : unknown).push_back(&rank);
        }
        std::vector<std::string> found = clauses(at_fault(missing), asked_, " has not started it: it is ",
                                                 " have not started it: they are ");
        if (!unknown.empty()) found.push_back("cannot tell whether " + named(unknown, asked_) + " started it");
        if (members < speaker.comm->size) found.push_back(the_rest(*speaker.comm, ranks_, members, asked_));
        if (found.empty()) return false;
        if (const std::string needs = whom_it_needs(*speaker.seat, *speaker.comm, number); !needs.empty())
            found.push_back(needs);
        for (const Rank* rank : missing) explained_.insert(rank->row.rank);
        for (const Wait& wait : waits) explained_.insert(wait.rank->row.rank);
        const tollbar_counted* const made = counted_at(*speaker.comm, number);
        std::string call = made == nullptr ? "the persistent call" : call_of(*made).name, how = " ";
        call.append(" ").append(std::to_string(number));
        how += in_call(*speaker.rank, *speaker.seat, asked_);
        how.append(", for start ").append(std::to_string(start)) += " of it";
        std::optional<std::uint64_t> site;
        if (made != nullptr) site = made->site;
        lines_.push_back({opening(speaker, speaker.comm, call, site, how) + joined(found, "; "), call_in(speaker)});
        return true;
    }

    /// The call for a message of one partner that a rank is in, if none of its threads could be a partner meanwhile: a
    /// call that sends and receives may be sending to anybody, and what a request is for may be under way.
    static const tollbar_seat* message_of(const Rank& rank) {
        const tollbar_seat* only = nullptr;
        if (rank.row.unseen != 0) return nullptr;
        for (const tollbar_seat& seat : rank.row.seats) {
            if (seat.at == 0) continue;
            if (only != nullptr || tollbar_state_of(seat.at) != tollbar_inside || call_of(seat).tag == 0 ||
                sends_too(seat))
                return nullptr;
            only = &seat;
        }
        return only != nullptr && only->peer >= 0 ? only : nullptr;
    }

    /// A message that one sends and the other receives is under way.
    static bool may_meet(const Rank& one, const Rank& other) {
        const tollbar_seat &its = *message_of(one), &others = *message_of(other);
        const auto id_of = [](const Rank& rank, const tollbar_seat& seat) {
            const tollbar_comm* const comm = rank.comm(tollbar_comm_of(seat.at));
            return comm == nullptr ? 0 : comm->id;
        };
        const std::uint64_t id = id_of(one, its), another = id_of(other, others);
        return call_of(its).kind != call_of(others).kind && (its.tag < 0 || others.tag < 0 || its.tag == others.tag) &&
               (id == 0 || another == 0 || id == another);
    }

    /// The ranks from this one to itself, each waiting for the next; none where the way does not come back.
    Ranks cycle_from(const Rank& first) const {
        Ranks way;
        for (const Rank* rank = &first;;) {
            const tollbar_seat* message = message_of(*rank);
            if (message == nullptr || !waits(rank)) return {};
            way.push_back(rank);
            rank = rank_of(message->peer);
            if (rank == &first) break;
            if (rank == nullptr || std::ranges::find(way, rank) != way.end()) return {};
        }
        if (way.size() == 2 && may_meet(*way[0], *way[1])) return {};
        return way;
    }

    void add_cycles() {
        std::set<const Rank*> done;
        for (const Wait& wait : waits_) {
            if (done.contains(wait.rank)) continue;
            const Ranks cycle = cycle_from(*wait.rank);
            if (cycle.empty()) continue;
            std::vector<std::string> clauses;
            for (const Rank* rank : cycle) {
                done.insert(rank);
                explained_.insert(rank->row.rank);
                clauses.push_back(named({rank}, asked_) + " is " + in_call(*rank, *message_of(*rank), asked_));
            }
            lines_.push_back({opening(wait) + "a cycle: " + joined(clauses, "; "), call_in(wait)});
        }
    }

    void add_messages() {
        std::map<int, std::vector<Wait>> by_peer;
        for (const Wait& wait : waits_)
            if (is_message(*wait.seat) && wait.seat->peer >= 0 && !sends_too(*wait.seat) &&
                !explained_.contains(wait.rank->row.rank))
                by_peer[wait.seat->peer].push_back(wait);
        for (const auto& [peer, waits] : by_peer)
            for (const Wait& wait : waits) explained_.insert(wait.rank->row.rank);
        for (const auto& [peer, waits] : by_peer) {
            if (explained_.contains(peer)) continue;  // another line says what that one waits for
            const Wait& first = waits.front();
            const Rank* partner = rank_of(peer);
            std::string who = "rank " + std::to_string(peer) + " is not watched on this host";
            if (partner != nullptr) who = clauses({partner}, asked_).front();
            if (waits.size() > 1) who = std::to_string(waits.size()) + " ranks wait for it: " + who;
            lines_.push_back({opening(first) + who, call_in(first)});
        }
    }

    /// Nothing tells what they wait for: where everybody is has to do. Stopped and dead ranks are named alone, as any
    /// other may be elsewhere because of them.
    void add_everybody() {
        const Wait& first = waits_.front();
        Ranks others;
        for (const Rank& rank : ranks_)
            if (&rank != first.rank) others.push_back(&rank);
        const auto is_still = [&](const Rank* rank) { return is_stopped(*rank, asked_); };
        if (std::ranges::any_of(others, is_still)) std::erase_if(others, std::not_fn(is_still));
        const std::vector<std::string> where = clauses(others, asked_);
        const std::string said = where.empty() ? "no other rank is watched on this host" : joined(where, "; ");
        lines_.push_back({opening(first) + said, call_in(first)});
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
