// SPDX-License-Identifier: Apache-2.0
// Collective calls are compared by their numbers, messages by their partners.
#include "conclusion.hpp"

#include "counted.hpp"
#include "meeting.hpp"
#include "waits.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace tollbar::detail::missing {

namespace {

/// "4711" in hexadecimal digits.
std::string hex(std::uint64_t number) {
    char text[20];
    std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(number));
    return text;
}

class Concluding {
public:
    Concluding(const Ranks& ranks, double timeout_s, const HostAnswers& asked)
        : ranks_(ranks), timeout_s_(timeout_s), asked_(asked) {
        for (const Rank* rank : ranks)
            for (std::size_t i = 0; i < tollbar_seats; ++i)
                if (rank->waited_s[i] >= timeout_s) {
                    waiting_.try_emplace(rank, waits_.size());
                    waits_.push_back(wait_of(*rank, rank->row.seats[i], rank->waited_s[i]));
                }
    }

    std::vector<Sentence> lines() {
        std::map<std::uint64_t, std::vector<Wait>> meetings;
        for (const Wait& wait : waits_)
            if (wait.comm != nullptr) meetings[wait.comm->id].push_back(wait);
        for (const auto& [id, waits] : meetings) add_meeting(id, waits);
        add_started();
        add_cycles();
        add_messages();
        if (lines_.empty() && !waits_.empty() && !is_old_) add_everybody();
        return std::move(lines_);
    }

private:
    const Rank* rank_of(int number) const {
        const auto of = [](const Rank* rank) { return rank->row.rank; };
        const auto found = std::ranges::lower_bound(ranks_, number, {}, of);
        return found == ranks_.end() || of(*found) != number ? nullptr : *found;
    }

    bool waits(const Rank* rank) const { return waiting_.contains(rank); }

    /// Some host has told of one of these waits since it was concluded last.
    bool are_news(const std::vector<Wait>& waits) {
        const bool are = std::ranges::any_of(waits, [](const Wait& wait) { return wait.rank->host->is_news; });
        is_old_ = is_old_ || !are;
        return are;
    }

    static double began_ago(const Wait& wait) { return wait.rank->host->age_s + wait.seconds; }

    /// Whether the rank was seen when that one had begun to wait. It may have moved before.
    static bool was_seen(const Rank& rank, const Wait& since) { return rank.host->age_s <= began_ago(since); }

    /// The ranks that were seen when the first of these waits had begun.
    Ranks seen_since(const std::vector<Wait>& waits) const {
        const Wait& first = std::ranges::max(waits, {}, &began_ago);
        Ranks seen;
        std::ranges::copy_if(ranks_, std::back_inserter(seen),
                             [&](const Rank* rank) { return was_seen(*rank, first); });
        return seen;
    }

    /// Ranks whose absence is their own: beside a stopped or dead one, a rank in a call may be waiting for that.
    Ranks at_fault(const Ranks& missing) const {
        Ranks still = missing;
        std::erase_if(still, [&](const Rank* rank) { return waits(rank); });
        const auto stopped = [&](const Rank* rank) { return is_stopped(*rank, asked_); };
        return std::ranges::any_of(still, stopped) ? still : missing;
    }

    /// The report of a wait without its clauses; `how` it waits where not in the call itself.
    Report opening(const Wait& wait, const tollbar_comm* comm, const std::string& call,
                   std::optional<std::uint64_t> called_at, const std::string& how = "") const {
        const std::string of = comm == nullptr ? "" : name_of(*comm) + " (" + std::to_string(comm->size) + " ranks), ";
        return {.about = of + call,
                .place = called_at ? asked_.site(*wait.rank, *called_at) : "",
                .waiter = "rank " + text_of_number(wait.rank) + " on " + wait.rank->host->name,
                .waited_s = asked_.tells_time ? wait.seconds : -1,
                .how = (asked_.tells_time ? "" : " waits") + how,
                .clauses = {}};
    }

    /// At no collective call.
    Report opening(const Wait& wait) const {
        const tollbar_call& call = call_of(*wait.seat);
        return opening(wait, wait.rank->comm(tollbar_comm_of(wait.seat->at)),
                       call.name + (is_message(*wait.seat) ? peer_of(*wait.seat) : ""), wait.seat->site);
    }

    /// All lines of a wait at no collective call have it, and no other wait's.
    static std::string call_in(const Wait& wait) {
        return "in " + text_of_number(wait.rank) + " " + std::to_string(wait.seat - wait.rank->row.seats.data()) + " " +
               std::to_string(tollbar_serial_of(wait.seat->at));
    }

    void add_line(Report opening, const std::vector<Clause>& clauses, std::string wait) {
        opening.clauses = clauses;
        opening.wait = std::move(wait);
        lines_.push_back(sentence_of(opening));
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
        const Ranks ranks = seen_since(waits);
        const Meeting meeting = meeting_of(ranks, id, number);
        const auto speaks = std::ranges::find_if(waits, [&](const Wait& wait) {
            return wait.number == number && !meeting.came.empty() &&
                   std::ranges::find(meeting.came.front().second, wait.rank) != meeting.came.front().second.end();
        });
        const Wait& speaker = speaks == waits.end() ? *std::ranges::min_element(waits, {}, &Wait::number) : *speaks;
        const tollbar_comm& comm = *speaker.comm;
        const bool begun = tollbar_counts(call_of(*speaker.seat).kind) == 0, races = !meeting.racing.empty();
        std::vector<Clause> found = races ? numbers_do_not_tell(meeting, ranks, id, asked_) : misfits(meeting, asked_);
        if (!races)
            for (Clause& clause :
                 clauses(at_fault(meeting.missing), asked_, " has not come: it is ", " have not come: they are "))
                found.push_back(std::move(clause));
        if (found.empty() && meeting.members >= comm.size && !speaker.is_sure) return false;
        const std::string needs = whom_it_needs(*speaker.seat, comm, number);
        if (!races && !meeting.missing.empty() && !needs.empty()) found.push_back({.text = needs, .ranks = {}});
        if (meeting.members < comm.size) {
            for (Clause& clause : the_rest(comm, ranks, meeting.members, asked_)) found.push_back(std::move(clause));
        } else if (found.empty()) {
            found.push_back(all_have_come(meeting, ranks, id, number, asked_));
        }
        for (const Rank* rank : meeting.missing) explained_.insert(rank->row.rank);
        for (const Wait& wait : waits) explained_.insert(wait.rank->row.rank);
        if (!are_news(waits)) return true;
        const tollbar_counted* const own = counted_at(comm, number);
        const tollbar_call& called = own == nullptr ? call_of(*speaker.seat) : call_of(*own);
        std::string call = begun && own == nullptr ? "the begun call" : called.name, how;
        call.append(" ").append(std::to_string(number));
        if (begun) how.append(" ").append(in_call(*speaker.rank, *speaker.seat, asked_));
        if (!speaker.is_sure) how += ", perhaps for this call";
        std::optional<std::uint64_t> site;
        if (own != nullptr || !begun) site = own != nullptr ? own->site : speaker.seat->site;
        add_line(opening(speaker, &comm, call, site, how), found,
                 races ? call_in(speaker) : "at " + hex(id) + " " + std::to_string(number));
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
        const Ranks ranks = seen_since(waits);
        Ranks missing, unknown;
        std::size_t members = 0;
        for (const Rank* rank : ranks) {
            if (rank->comm_of(id) == nullptr) continue;
            ++members;
            const std::uint64_t starts = rank->starts(id, number);
            const bool is_kept = std::ranges::find(rank->row.started, 0U, &tollbar_started::number) !=
                                 rank->row.started.end();
            if (starts < start) (starts != 0 || is_kept ? missing : unknown).push_back(rank);
        }
        std::vector<Clause> found = clauses(at_fault(missing), asked_, " has not started it: it is ",
                                            " have not started it: they are ");
        if (!unknown.empty())
            found.push_back({.text = "cannot tell whether " + named(unknown, asked_) + " started it", .ranks = {}});
        if (members < speaker.comm->size)
            for (Clause& clause : the_rest(*speaker.comm, ranks, members, asked_)) found.push_back(std::move(clause));
        if (found.empty()) return false;
        if (const std::string needs = whom_it_needs(*speaker.seat, *speaker.comm, number); !needs.empty())
            found.push_back({.text = needs, .ranks = {}});
        for (const Rank* rank : missing) explained_.insert(rank->row.rank);
        for (const Wait& wait : waits) explained_.insert(wait.rank->row.rank);
        if (!are_news(waits)) return true;
        const tollbar_counted* const made = counted_at(*speaker.comm, number);
        std::string call = made == nullptr ? "the persistent call" : call_of(*made).name, how = " ";
        call.append(" ").append(std::to_string(number));
        how += in_call(*speaker.rank, *speaker.seat, asked_);
        how.append(", for start ").append(std::to_string(start)) += " of it";
        std::optional<std::uint64_t> site;
        if (made != nullptr) site = made->site;
        add_line(opening(speaker, speaker.comm, call, site, how), found, call_in(speaker));
        return true;
    }

    /// The way from this rank to itself, each waiting for the next, without any on which an earlier walk was; none
    /// where it does not come back, or where not all were seen to wait at one time. It begins with the lowest rank.
    std::vector<Wait> cycle_behind(const Rank* rank, std::map<const Rank*, const Rank*>& walks) const {
        const Rank* const first = rank;
        std::vector<Wait> way;
        while (rank != nullptr && walks.try_emplace(rank, first).second) {
            const auto wait = waiting_.find(rank);
            const tollbar_seat* const message = message_of(*rank);
            if (message == nullptr || wait == waiting_.end()) return {};
            way.push_back(waits_[wait->second]);
            rank = rank_of(message->peer);
        }
        if (way.empty() || rank == nullptr || walks.at(rank) != first) return {};
        way.erase(way.begin(), std::ranges::find(way, rank, &Wait::rank));
        const auto number = [](const Wait& wait) { return wait.rank->row.rank; };
        std::rotate(way.begin(), std::ranges::min_element(way, {}, number), way.end());
        if (way.size() == 2 && may_meet(*way[0].rank, *way[1].rank)) return {};
        const Wait& newest = std::ranges::min(way, {}, &began_ago);
        const auto all_seen = [&](const Wait& one) { return was_seen(*one.rank, newest); };
        return std::ranges::all_of(way, all_seen) ? way : std::vector<Wait>();
    }

    void add_cycles() {
        std::map<const Rank*, const Rank*> walks;  // the rank with which a walk began that came there
        for (const Wait& wait : waits_) {
            const std::vector<Wait> cycle = cycle_behind(wait.rank, walks);
            if (cycle.empty()) continue;
            std::vector<Clause> clauses;
            for (const Wait& one : cycle) {
                explained_.insert(one.rank->row.rank);
                clauses.push_back(
                    clause_of(named({one.rank}, asked_) + " is " + in_call(*one.rank, *one.seat, asked_), {one.rank}));
            }
            clauses.front().text.insert(0, "a cycle: ");
            if (are_news(cycle)) add_line(opening(cycle.front()), clauses, call_in(cycle.front()));
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
            if (explained_.contains(peer) || !are_news(waits)) continue;  // another line has what that one waits for
            const Wait& first = waits.front();
            const Rank* const partner = rank_of(peer);
            Clause who{.text = not_seen("rank " + std::to_string(peer), 1, false, asked_), .ranks = {peer}};
            if (partner != nullptr && was_seen(*partner, first)) who = clauses({partner}, asked_).front();
            if (waits.size() > 1) who.text.insert(0, std::to_string(waits.size()) + " ranks wait for it: ");
            add_line(opening(first), {who}, call_in(first));
        }
    }

    /// Nothing tells what they wait for: where everybody is has to do. Stopped and dead ranks are named alone, as any
    /// other may be elsewhere because of them.
    void add_everybody() {
        if (!are_news(waits_)) return;
        const Wait& first = waits_.front();
        Ranks others;
        for (const Rank* rank : ranks_)
            if (rank != first.rank && was_seen(*rank, first)) others.push_back(rank);
        const auto is_still = [&](const Rank* rank) { return is_stopped(*rank, asked_); };
        if (std::ranges::any_of(others, is_still)) std::erase_if(others, std::not_fn(is_still));
        std::vector<Clause> where = clauses(others, asked_);
        if (where.empty())
            where.push_back(
                {.text = asked_.of_hosts ? "no other rank is known" : "no other rank is watched on this host",
                 .ranks = {}});
        add_line(opening(first), where, call_in(first));
    }

    const Ranks& ranks_;
    const double timeout_s_;
    const HostAnswers& asked_;
    std::vector<Wait> waits_;                     ///< of which the ranks ascend
    std::map<const Rank*, std::size_t> waiting_;  ///< the first wait of each
    std::set<int> explained_;                     ///< ranks that a line is about
    bool is_old_ = false;                         ///< a wait has its line, which is no news
    std::vector<Sentence> lines_;
};

}  // namespace

bool leave_out_stopped(std::vector<Rank>& ranks, double timeout_s, const HostAnswers& asked) {
    bool any = false;
    for (Rank& rank : ranks) {
        if (*std::ranges::max_element(rank.waited_s) < timeout_s) continue;
        if (!is_stopped(rank, asked)) continue;
        rank.waited_s.fill(0);
        any = true;
    }
    return any;
}

std::vector<Sentence> conclude(const Ranks& ranks, double timeout_s, const HostAnswers& asked) {
    return Concluding(ranks, timeout_s, asked).lines();
}

Ranks all_of(const std::vector<Rank>& ranks) {
    Ranks all;
    for (const Rank& rank : ranks) all.push_back(&rank);
    return all;
}

}  // namespace tollbar::detail::missing
