// SPDX-License-Identifier: Apache-2.0
// A collective call of a communicator meets the one of the same number of its other ranks.
#include "meeting.hpp"

#include "counted.hpp"
#include "listed.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace tollbar::detail::missing {

namespace {

/// Whether one of the seats is in a call of that communicator, or waits for one, and `fits` likes it.
template <class Fits>
bool any_seat(const Rank& rank, std::uint64_t id, Fits fits) {
    return std::ranges::any_of(rank.row.seats, [&](const tollbar_seat& seat) {
        const tollbar_comm* const comm = rank.comm(tollbar_comm_of(seat.at));
        const bool is_there = tollbar_counts(call_of(seat).kind) != 0 || is_for(seat, tollbar_of_all) ||
                              is_for(seat, tollbar_of_started);
        return !is_outside(seat) && is_there && comm != nullptr && comm->id == id && fits(seat);
    });
}

using Came = std::map<Form, Ranks>;

/// Calls whose bytes are not known fit to any bytes: they join most of their kind.
void join_unknown(Came& came) {
    for (auto unknown = came.begin(); unknown != came.end();) {
        const auto [what, gives, gets] = unknown->first;
        auto most = came.end();
        for (auto other = came.begin(); other != came.end(); ++other)
            if (other != unknown && std::get<0>(other->first) == what &&
                (most == came.end() || most->second.size() < other->second.size()))
                most = other;
        if (is_known(gives) || most == came.end()) {
            ++unknown;
            continue;
        }
        Ranks& all = most->second;
        all.insert(all.end(), unknown->second.begin(), unknown->second.end());
        std::ranges::sort(all, {}, [](const Rank* rank) { return rank->row.rank; });
        unknown = came.erase(unknown);
    }
}

}  // namespace

Meeting meeting_of(const Ranks& ranks, std::uint64_t id, std::uint64_t number) {
    Meeting meeting;
    Came came;
    std::map<unsigned, std::size_t> by_call;
    for (const Rank* rank : ranks) {
        const tollbar_comm* comm = rank->comm_of(id);
        if (comm == nullptr) continue;
        ++meeting.members;
        if (comm->count < number) meeting.missing.push_back(rank);
        const auto is_behind = [&](const tollbar_seat& seat) {
            return tollbar_counts(call_of(seat).kind) != 0 && seat.number < comm->count;
        };
        if (any_seat(*rank, id, is_behind)) meeting.racing.push_back(rank);
        if (const tollbar_counted* one = counted_at(*comm, number)) {
            came[form_of(*one)].push_back(rank);
            ++by_call[call_in(*one)];
        }
    }
    join_unknown(came);
    for (auto& [form, there] : came)
        meeting.came.emplace_back(*counted_at(*there.front()->comm_of(id), number), std::move(there));
    const auto weight = [&](const auto& all) {
        // A complement descends as its number ascends, and none is out of range.
        return std::tuple(by_call[call_in(all.first)], all.second.size(), ~all.second.front()->row.rank);
    };
    const auto usual = std::ranges::max_element(meeting.came, {}, weight);
    if (usual != meeting.came.end()) std::rotate(meeting.came.begin(), usual, std::next(usual));
    return meeting;
}

bool is_in(const Rank& rank, std::uint64_t id, std::uint64_t number) {
    return any_seat(rank, id, [&](const tollbar_seat& seat) { return seat.number == number; });
}

std::vector<Clause> misfits(const Meeting& meeting, const HostAnswers& asked) {
    std::vector<Clause> found;
    if (meeting.came.empty()) return found;
    const auto& [usual, most] = meeting.came.front();
    std::size_t of_its_name = 0;
    for (const auto& [other, ranks] : meeting.came)
        if (call_in(other) == call_in(usual)) of_its_name += ranks.size();
    const auto called = [&](const Ranks& ranks, const tollbar_counted& one, const tollbar_counted& beside) {
        return named(ranks, asked) + " called " + described(one, beside) + " at " +
               asked.site(*ranks.front(), one.site);
    };
    for (const auto& [other, ranks] : meeting.came) {
        if (&ranks == &most) continue;
        const bool same = call_in(other) == call_in(usual);
        const std::size_t here = of_its_name - (same ? ranks.size() : 0);
        const std::string where = here == 1 ? "rank " + text_of_number(most.front()) : std::to_string(here) + " ranks";
        std::string text = called(ranks, other, usual) + " where " + where + " called " + described(usual, other);
        found.push_back(clause_of(std::move(text), ranks));
    }
    if (!fits_itself(usual)) {
        tollbar_counted of_none = usual;
        of_none.gives = of_none.gets = ~std::uint64_t{0};
        found.push_back(clause_of(called(most, usual, of_none) + ", which do not meet", most));
    }
    return found;
}

std::vector<Clause> numbers_do_not_tell(const Meeting& meeting, const Ranks& ranks, std::uint64_t id,
                                        const HostAnswers& asked) {
    std::map<std::uint64_t, Ranks> by_count;
    for (const Rank* rank : ranks)
        if (const tollbar_comm* comm = rank->comm_of(id)) by_count[comm->count].push_back(rank);
    const bool one = meeting.racing.size() == 1;
    std::vector<Clause> found;
    found.push_back({.text = "cannot tell which of its calls meet, as threads of " +
                             std::string(one ? "rank " : "ranks ") + numbers(meeting.racing) + (one ? " is" : " are") +
                             " in several at once",
                     .ranks = {}});
    const std::uint64_t most = by_count.rbegin()->first;
    const std::string calls = std::to_string(by_count.begin()->first) + " collective calls there";
    if (by_count.size() == 1) {
        const char* const all = asked.of_hosts ? "all of its ranks that are known" : "all of its ranks on this host";
        found.push_back({.text = std::string(all) + " have made " + calls, .ranks = {}});
    } else {
        const std::string where = " made " + calls + " where others have made " + std::to_string(most) + ": ";
        for (Clause& clause : clauses(by_count.begin()->second, asked, (" has" + where + "it is ").c_str(),
                                      (" have" + where + "they are ").c_str()))
            found.push_back(std::move(clause));
    }
    return found;
}

bool is_whole_job(const Ranks& ranks) {
    return std::ranges::any_of(ranks, [&](const Rank* rank) {
        const tollbar_comm* const world = rank->comm_of(tollbar_world);
        return world != nullptr && world->size <= ranks.size();
    });
}

namespace {

/// More are counted, not named: a row that is damaged may have any size.
constexpr std::uint64_t most_named = 1 << 16;

/// The numbers of the ranks of MPI_COMM_WORLD that are none of these; none where they are too many.
std::vector<int> others_of_world(const tollbar_comm& world, const Ranks& ranks) {
    std::set<int> here;
    for (const Rank* rank : ranks)
        if (rank->comm_of(tollbar_world) != nullptr) here.insert(rank->row.rank);
    std::vector<int> others;
    if (world.size > here.size() + most_named) return others;
    for (int number = 0; static_cast<std::uint64_t>(number) < world.size; ++number)
        if (!here.contains(number)) others.push_back(number);
    return others;
}

}  // namespace

std::vector<Clause> the_rest(const tollbar_comm& comm, const Ranks& ranks, std::size_t members,
                             const HostAnswers& asked) {
    const std::size_t absent = comm.size - members;
    const std::string rest = std::to_string(absent) + " of its ranks";
    if (!is_whole_job(ranks)) {
        const bool of_world = comm.id == tollbar_world;
        const std::vector<int> which = of_world ? others_of_world(comm, ranks) : std::vector<int>();
        const std::string subject = which.size() == absent ? (absent == 1 ? "rank " : "ranks ") + listed(which) : rest;
        return {{.text = not_seen(subject, absent, of_world, asked),
                 .ranks = which.size() == absent ? which : std::vector<int>()}};
    }
    Ranks without;
    for (const Rank* rank : ranks)
        if (rank->comm_of(comm.id) == nullptr) without.push_back(rank);
    if (without.size() != absent)
        return {{.text = rest + " have freed it, or not seen it made: cannot tell which", .ranks = {}}};
    return clauses(without, asked, " has freed it, or not seen it made: it is ",
                   " have freed it, or not seen it made: they are ");
}

Clause all_have_come(const Meeting& meeting, const Ranks& ranks, std::uint64_t id, std::uint64_t number,
                     const HostAnswers& asked) {
    Ranks still, gone, stopped;
    for (const Rank* rank : ranks)
        if (rank->comm_of(id) != nullptr) (is_in(*rank, id, number) ? still : gone).push_back(rank);
    if (gone.empty()) {
        std::string text = "all its ranks have come and are in it still: cannot tell why it does not end";
        const std::string_view name = meeting.came.empty() ? "" : call_of(meeting.came.front().first).name;
        if (name.ends_with("v") || name.ends_with("w"))
            text += ", as counts that may differ from rank to rank are not compared";
        return {.text = std::move(text), .ranks = {}};
    }
    std::string text = "all its ranks have come: ";
    if (!still.empty())
        text += (still.size() == 1 ? "still in it is rank " : "still in it are ranks ") + numbers(still) + ", ";
    text += gone.size() == 1 ? "gone on is " : "gone on are ";
    text += joined(by_place(gone, asked), ", ", [](const auto& place) {
        return (place.second.size() == 1 ? "rank " : "ranks ") + numbers(place.second) + " (" + place.first + ")";
    });
    std::ranges::copy_if(gone, std::back_inserter(stopped), [&](const Rank* rank) { return is_stopped(*rank, asked); });
    return clause_of(std::move(text), stopped);
}

}  // namespace tollbar::detail::missing
