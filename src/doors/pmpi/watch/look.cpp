// SPDX-License-Identifier: Apache-2.0
// Reads words that others write.
#include "look.hpp"

#include "calls.h"

#include <algorithm>
#include <cstring>

namespace tollbar::detail::watch {

namespace {

std::uint64_t word(const std::uint64_t& word) { return __atomic_load_n(&word, __ATOMIC_RELAXED); }

Comm seen(const tollbar_comm& shared) {
    Comm comm;
    comm.id = __atomic_load_n(&shared.id, __ATOMIC_ACQUIRE);        // pairs with add() in known.cpp
    comm.count = __atomic_load_n(&shared.count, __ATOMIC_ACQUIRE);  // pairs with tollbar_count()
    for (std::size_t i = 0; i < comm.last.size(); ++i) {
        const std::uint64_t what = word(shared.last[i].what);
        comm.last[i] = {.call = static_cast<unsigned>(what & 0xffff),
                        .operation = static_cast<unsigned>(what >> 16 & 0xffff),
                        .root = static_cast<std::uint32_t>(what >> 32),
                        .bytes = word(shared.last[i].bytes),
                        .site = word(shared.last[i].site)};
    }
    comm.size = word(shared.size);
    comm.in_world = word(shared.in_world) != 0;
    comm.name.assign(shared.name, strnlen(shared.name, sizeof shared.name - 1));
    return comm;
}

Seat seen(const tollbar_seat& shared) {
    Seat seat;
    seat.at = __atomic_load_n(&shared.at, __ATOMIC_ACQUIRE);  // pairs with tollbar_enter() and tollbar_leave_call()
    seat.site = word(shared.site);
    seat.number = word(shared.number);
    seat.peer = __atomic_load_n(&shared.peer, __ATOMIC_RELAXED);
    seat.tag = __atomic_load_n(&shared.tag, __ATOMIC_RELAXED);
    seat.last = static_cast<unsigned>(word(shared.last));
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&shared.at, __ATOMIC_RELAXED) != seat.at) seat.at &= ~std::uint64_t{3};
    return seat;
}

Rank seen(const tollbar_row& row) {
    Rank rank;
    rank.rank = row.rank;
    rank.process = row.process;
    rank.start = row.start;
    rank.left = word(row.state) == tollbar_row_left;
    for (const tollbar_seat& seat : row.seats) rank.seats.push_back(seen(seat));
    for (const tollbar_comm& comm : row.comms) rank.comms.push_back(seen(comm));
    while (!rank.comms.empty() && rank.comms.back().id == 0) rank.comms.pop_back();
    return rank;
}

template <class Seen>
void for_each_row(const tollbar_seats_file& file, Seen seen) {
    const std::uint64_t taken = std::min<std::uint64_t>(word(file.taken), tollbar_rows);
    for (std::size_t row = 0; row < taken; ++row)  // acquire: pairs with begin(); the row's rank is there
        if (__atomic_load_n(&file.rows[row].state, __ATOMIC_ACQUIRE) != tollbar_row_free) seen(row);
}

}  // namespace

const Counted* Comm::at(std::uint64_t number) const {
    return number == 0 || number > count || number + tollbar_kept <= count ? nullptr : &last[number % tollbar_kept];
}

const Comm* Rank::comm(unsigned index_plus_one) const {
    return index_plus_one == 0 || index_plus_one > comms.size() ? nullptr : &comms[index_plus_one - 1];
}

const Comm* Rank::comm_of(std::uint64_t id) const {
    const auto found = std::ranges::find(comms, id, &Comm::id);
    return found == comms.end() ? nullptr : &*found;
}

std::string_view name_of_call(unsigned call) {
    return call < tollbar_number_of_calls ? tollbar_calls[call].name : "an MPI call";
}

std::string_view name_of_operation(unsigned operation) {
    static constexpr std::array<std::string_view, 13> names = {
        "an operation of its own", "MPI_MAX", "MPI_MIN",  "MPI_SUM",  "MPI_PROD",   "MPI_LAND", "MPI_BAND", "MPI_LOR",
        "MPI_BOR",                 "MPI_LXOR", "MPI_BXOR", "MPI_MAXLOC", "MPI_MINLOC"};
    return names[operation < names.size() ? operation : 0];
}

std::vector<Rank> look(const tollbar_seats_file& file) {
    std::vector<Rank> ranks;
    for_each_row(file, [&](std::size_t row) { ranks.push_back(seen(file.rows[row])); });
    std::ranges::sort(ranks, {}, &Rank::rank);
    return ranks;
}

std::vector<Rank> Looking::look(Clock::time_point now) {
    std::vector<Rank> ranks;
    for_each_row(file_, [&](std::size_t row) {
        ranks.push_back(seen(file_.rows[row]));
        for (std::size_t i = 0; i < tollbar_seats; ++i) {
            Seat& seat = ranks.back().seats[i];
            Since& since = since_[row * tollbar_seats + i];
            if (since.at != seat.at || since.time == Clock::time_point()) since = {.at = seat.at, .time = now};
            if (seat.state() != tollbar_outside)
                seat.waited_s = std::chrono::duration<double>(now - since.time).count();
        }
    });
    std::ranges::sort(ranks, {}, &Rank::rank);
    return ranks;
}

}  // namespace tollbar::detail::watch
