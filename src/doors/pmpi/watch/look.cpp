// SPDX-License-Identifier: Apache-2.0
// Copies words that others write.
#include "look.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace tollbar::detail::watch {

namespace {

std::uint64_t at_of(const tollbar_seat& seat) {
    return __atomic_load_n(&seat.at, __ATOMIC_ACQUIRE);  // pairs with tollbar_enter() and tollbar_leave_call()
}

void copy(const void* from, void* to, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i)
        static_cast<std::uint64_t*>(to)[i] = __atomic_load_n(static_cast<const std::uint64_t*>(from) + i,
                                                             __ATOMIC_RELAXED);
}

bool is_vacant(const tollbar_seat& seat) { return tollbar_state_of(seat.at) == tollbar_vacant; }

/// Without what changes meanwhile: such a seat is shown as outside, such a communicator as nobody's.
Row copied(const tollbar_row& shared) {
    Row row;
    std::array<std::uint64_t, tollbar_seats> before{};
    std::array<std::uint64_t, tollbar_comms> ids{};
    std::ranges::transform(shared.seats, before.begin(), at_of);
    std::array<std::uint64_t, tollbar_persistent> started{};
    for (std::size_t i = 0; i < started.size(); ++i)
        started[i] = __atomic_load_n(&shared.started[i].number, __ATOMIC_ACQUIRE);  // pairs with tollbar_count_start()
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ids[i] = __atomic_load_n(&shared.comms[i].id, __ATOMIC_ACQUIRE);                   // pairs with add()
        if (ids[i] != 0) (void)__atomic_load_n(&shared.comms[i].count, __ATOMIC_ACQUIRE);  // pairs with tollbar_count()
    }
    row.state = __atomic_load_n(&shared.state, __ATOMIC_RELAXED);
    row.rank = __atomic_load_n(&shared.rank, __ATOMIC_RELAXED);
    row.process = __atomic_load_n(&shared.process, __ATOMIC_RELAXED);
    row.start = __atomic_load_n(&shared.start, __ATOMIC_RELAXED);
    row.unseen = __atomic_load_n(&shared.unseen, __ATOMIC_RELAXED);
    row.last = __atomic_load_n(&shared.last, __ATOMIC_RELAXED);
    row.last_number = __atomic_load_n(&shared.last_number, __ATOMIC_RELAXED);
    copy(shared.started, row.started.data(), sizeof row.started);
    copy(shared.seats, row.seats.data(), sizeof row.seats);
    const auto last_used = std::find_if(ids.rbegin(), ids.rend(), [](std::uint64_t id) { return id != 0; });
    row.comms.resize(static_cast<std::size_t>(ids.rend() - last_used));
    for (std::size_t i = 0; i < row.comms.size(); ++i)
        if (ids[i] != 0) copy(&shared.comms[i], &row.comms[i], sizeof row.comms[i]);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    for (std::size_t i = 0; i < before.size(); ++i)
        if (at_of(shared.seats[i]) != before[i]) row.seats[i].at &= ~std::uint64_t{3};
    for (std::size_t i = 0; i < started.size(); ++i)
        if (__atomic_load_n(&shared.started[i].number, __ATOMIC_RELAXED) != started[i]) row.started[i] = {};
    for (std::size_t i = 0; i < row.comms.size(); ++i)
        if (__atomic_load_n(&shared.comms[i].id, __ATOMIC_RELAXED) != ids[i]) row.comms[i].id = 0;
    std::ranges::replace_if(row.seats, is_vacant, tollbar_seat{});
    return row;
}

}  // namespace

std::size_t Looking::rows() const {
    return std::min<std::uint64_t>(__atomic_load_n(&file_.taken, __ATOMIC_RELAXED), tollbar_rows);
}

double Looking::waited(std::size_t row, std::size_t seat, std::uint64_t at, Clock::time_point now) {
    if (since_.size() <= row) since_.resize(row + 1);
    Since& since = since_[row];
    if (since.at[seat] != at || since.time[seat] == Clock::time_point()) {
        since.at[seat] = at;
        since.time[seat] = since.polled[seat] = now;
    }
    if (tollbar_state_of(at) == tollbar_outside || tollbar_state_of(at) == tollbar_vacant) return 0;
    if (tollbar_state_of(at) == tollbar_polling) {
        const std::uint64_t polls = __atomic_load_n(&file_.rows[row].seats[seat].polls, __ATOMIC_RELAXED);
        if (std::exchange(since.polls[seat], polls) != polls) since.polled[seat] = now;
        if (now - since.polled[seat] > since.polled[seat] - since.time[seat]) return 0;
    }
    return std::chrono::duration<double>(now - since.time[seat]).count();
}

Looking::Longest Looking::longest(Clock::time_point now) {
    Longest longest;
    for (std::size_t row = 0; row < rows(); ++row) {
        const tollbar_row& shared = file_.rows[row];
        // Acquire: pairs with begin(). One that has left may have threads that wait for ever.
        const std::uint64_t state = __atomic_load_n(&shared.state, __ATOMIC_ACQUIRE);
        if (state == tollbar_row_free) continue;
        const auto used = std::clamp<std::uint64_t>(__atomic_load_n(&shared.used, __ATOMIC_RELAXED), 1, tollbar_seats);
        for (std::size_t i = 0; i < used; ++i)
            longest.waited_s = std::max(longest.waited_s, waited(row, i, at_of(shared.seats[i]), now));
        if (state != tollbar_row_used) continue;
        const Clock::time_point moved = *std::ranges::max_element(since_[row].time);
        longest.stood_s = std::max(longest.stood_s, std::chrono::duration<double>(now - moved).count());
    }
    return longest;
}

std::vector<Rank> Looking::look(Clock::time_point now) {
    std::vector<Rank> ranks;
    ranks.reserve(rows());
    for (std::size_t row = 0; row < rows(); ++row) {
        const tollbar_row& shared = file_.rows[row];
        // Acquire: pairs with begin(); the row's rank is there.
        if (__atomic_load_n(&shared.state, __ATOMIC_ACQUIRE) == tollbar_row_free) continue;
        Rank& rank = ranks.emplace_back(Rank{.row = copied(shared), .host = &host_});
        for (std::size_t i = 0; i < tollbar_seats; ++i) {
            std::uint64_t& at = rank.row.seats[i].at;
            rank.waited_s[i] = waited(row, i, at, now);
            const bool polls = tollbar_state_of(at) == tollbar_polling && since_[row].time[i] != now;
            if (polls && rank.waited_s[i] == 0) at &= ~std::uint64_t{3};
        }
    }
    std::ranges::sort(ranks, {}, [](const Rank& rank) { return rank.row.rank; });
    return ranks;
}

bool Looking::still_wait(const std::vector<Rank>& ranks, double timeout_s) const {
    return std::ranges::all_of(ranks, [&](const Rank& rank) {
        const std::span<const tollbar_row> all(file_.rows, rows());
        const auto same = std::ranges::find_if(all, [&](const tollbar_row& row) {
            return row.process == rank.row.process && row.start == rank.row.start && row.rank == rank.row.rank;
        });
        if (same == all.end()) return false;
        for (std::size_t i = 0; i < tollbar_seats; ++i)
            if (rank.waited_s[i] >= timeout_s && at_of(same->seats[i]) != rank.row.seats[i].at) return false;
        return true;
    });
}

}  // namespace tollbar::detail::watch
