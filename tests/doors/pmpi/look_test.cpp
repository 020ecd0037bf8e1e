// SPDX-License-Identifier: Apache-2.0
#include "doors/pmpi/watch/look.hpp"

#include <doctest/doctest.h>

#include <memory>

using namespace tollbar::detail::watch;

namespace {

/// The file of a host with one rank, whose first thread has polled once.
struct Host {
    Host() {
        file->taken = 1;
        file->rows[0].state = tollbar_row_used;
        seat.at = tollbar_at(1, 0, 0, tollbar_polling);
    }

    Rank look(int after_s) { return looking.look(began + std::chrono::seconds(after_s)).front(); }
    double longest(int after_s) { return looking.longest(began + std::chrono::seconds(after_s)).waited_s; }

    const std::unique_ptr<tollbar_seats_file> file = std::make_unique<tollbar_seats_file>();
    tollbar_seat& seat = file->rows[0].seats[0];
    const KnownHost known{.name = "h", .texts = {}};
    Looking looking{*file, known};
    const Clock::time_point began = Clock::time_point() + std::chrono::hours(1);
};

}  // namespace

TEST_CASE("a thread that polls again and again waits") {
    Host host;
    host.look(0);
    for (int second = 1; second <= 5; ++second) {
        ++host.seat.polls;
        CHECK(host.longest(second) == second);
    }
    const Rank rank = host.look(6);
    CHECK(rank.waited_s[0] == 6);
    CHECK_FALSE(is_outside(rank.row.seats[0]));
}

TEST_CASE("a thread that has polled once and goes on computing does not wait") {
    Host host;
    host.look(0);
    CHECK(host.longest(1) == 0);
    const Rank rank = host.look(60);
    CHECK(rank.waited_s[0] == 0);
    CHECK(is_outside(rank.row.seats[0]));
}

TEST_CASE("a thread that polls no more waits no more") {
    Host host;
    host.look(0);
    ++host.seat.polls;
    CHECK(host.longest(10) == 10);
    CHECK(host.longest(20) == 20);
    CHECK(host.longest(21) == 0);
    ++host.seat.polls;
    CHECK(host.longest(30) == 30);
}

TEST_CASE("a rank that is not found any more among the rows does not wait on") {
    Host host;
    host.seat.at = tollbar_at(1, 0, 0, tollbar_inside);
    host.look(0);
    const std::vector<Rank> seen = host.looking.look(host.began + std::chrono::seconds(2));
    CHECK(host.looking.still_wait(seen, 1.0));
    host.file->rows[0].process = 7;
    CHECK_FALSE(host.looking.still_wait(seen, 1.0));
}
