// SPDX-License-Identifier: Apache-2.0
#include "doors/pmpi/watch/account.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace tollbar::detail::watch;

namespace {

constexpr std::uint64_t ms = 1'000'000;

/// The file of a host whose ranks have communicator 7.
class Host {
public:
    explicit Host(int ranks, std::uint64_t size = 0) : file_(std::make_unique<tollbar_seats_file>()) {
        file_->taken = static_cast<std::uint64_t>(ranks);
        for (int rank = 0; rank < ranks; ++rank) {
            tollbar_row& row = file_->rows[rank];
            row.state = tollbar_row_used;
            row.rank = rank + 4;
            comm(rank).id = 7;
            comm(rank).size = size == 0 ? file_->taken : size;
            comm(rank).name[0] = 'w';
        }
    }

    /// Its next collective call, which is entered at that time.
    void call(int rank, std::uint64_t at_ms) {
        tollbar_comm& own = comm(rank);
        tollbar_counted& one = own.last[++own.count % tollbar_kept];
        one.entered_ns = at_ms * ms;
        one.site = 5;
    }

    Late late(int rank, std::uint64_t number, std::uint64_t entered_ms, std::uint64_t left_ms) {
        return late_of(*file_, comm(rank), number, entered_ms * ms, left_ms * ms);
    }

    void knows_the_world(int rank, std::uint64_t size) {
        file_->rows[rank].comms[0].id = tollbar_world;
        file_->rows[rank].comms[0].size = size;
    }

    tollbar_comm& comm(int rank) { return file_->rows[rank].comms[2 + rank]; }
    const tollbar_seats_file& file() const { return *file_; }

private:
    std::unique_ptr<tollbar_seats_file> file_;
};

}  // namespace

TEST_CASE("the rank that came last is late, by its number in the world") {
    Host host(3);
    for (const int rank : {0, 1, 2}) host.call(rank, rank == 1 ? 50 : 10);
    const Late late = host.late(0, 1, 10, 51);
    CHECK(late.rank == 5);
    CHECK(late.ns == 50 * ms);
}

TEST_CASE("a rank that came after the call was over has kept nobody waiting") {
    Host host(3);
    host.call(0, 10);
    host.call(1, 20);
    host.call(2, 90);
    CHECK(host.late(0, 1, 10, 30).rank == 5);
}

TEST_CASE("a rank that has not come is none of those that have") {
    Host host(2);
    host.call(0, 10);
    CHECK(host.late(0, 1, 10, 30).rank == 4);
}

TEST_CASE("where a call goes on after all of the host have come, a rank of another host is late") {
    Host host(2, 8);
    for (const int rank : {0, 1}) host.call(rank, 10);
    CHECK(host.late(0, 1, 10, 60).rank == elsewhere);
    CHECK(host.late(0, 1, 10, 10).rank != elsewhere);
    Host whole(2);
    for (const int rank : {0, 1}) whole.call(rank, 10);
    CHECK(whole.late(0, 1, 10, 60).rank != elsewhere);
}

TEST_CASE("a rank of the host is late where it was waited for longer than the call went on after that") {
    Host host(2, 8);
    host.call(0, 10);
    host.call(1, 40);
    const Late late = host.late(0, 1, 10, 45);
    CHECK(late.rank == 5);
    CHECK(late.ns == 40 * ms);
    CHECK(host.late(0, 1, 10, 90).rank == elsewhere);
}

TEST_CASE("a rank that is further by more calls than are kept may have come first, and is never late") {
    Host host(3);
    for (const int rank : {0, 1, 2}) host.call(rank, 10);
    for (int number = 0; number < tollbar_kept; ++number) host.call(2, 60);
    const Late late = host.late(0, 1, 10, 61);
    CHECK(late.rank == unknown);
    CHECK(late.ns == 61 * ms);
    host.call(1, 40);
    for (int number = 0; number < tollbar_kept; ++number) host.call(1, 60);
    CHECK(host.late(0, 1, 10, 61).rank == unknown);
}

TEST_CASE("a rank of the host that has freed the communicator is none of another host") {
    Host host(2, 2);
    for (const int rank : {0, 1}) host.call(rank, 10);
    host.comm(1).id = 0;
    CHECK(host.late(0, 1, 10, 60).rank == elsewhere);
    for (const int rank : {0, 1}) host.knows_the_world(rank, 2);
    CHECK(host.late(0, 1, 10, 60).rank == unknown);
    for (const int rank : {0, 1}) host.knows_the_world(rank, 3);
    CHECK(host.late(0, 1, 10, 60).rank == elsewhere);
}

TEST_CASE("stays become sums by place and late rank, and the longest ones stay whole") {
    Host host(2);
    begin_account();
    for (std::uint64_t number = 1; number <= 3; ++number) {
        host.call(0, 100 * number);
        host.call(1, 100 * number + 10 * number);
        add_stay(host.file(), host.comm(0), number, 100 * number * ms, (100 * number + 90) * ms);
        add_stay(host.file(), host.comm(1), number, (100 * number + 10 * number) * ms, (100 * number + 90) * ms);
    }
    const std::string text = account(4, 1, 10'000, [](std::uint64_t address) {
        return tollbar::detail::CodePlace{.file = "x\t", .address = address};
    });
    CAPTURE(text);
    CHECK(text.find("rank\t4\t") == 0);
    CHECK(text.find("\nsum\t4\tMPI_Init\tw\t2\tx +0x5\t\t0\t5\t3\t0.060000000\n") != std::string::npos);
    const std::size_t wait = text.find("\nwait\t4\tMPI_Init\tw\t2\tx +0x5\t\t0\t5\t3\t");
    CHECK(wait != std::string::npos);
    CHECK(text.find("\nwait", wait + 1) == std::string::npos);
}

TEST_CASE("what finds no room in the bytes of an account is one sum of several calls") {
    Host host(2);
    begin_account();
    std::uint64_t number = 0;
    for (std::uint64_t at = 1000; number < 300; at += 100) {
        host.call(0, at);
        host.call(1, at + 10);
        const std::uint64_t site = 1000 + number++;
        host.comm(0).last[number % tollbar_kept].site = site;
        add_stay(host.file(), host.comm(0), number, at * ms, (at + 20) * ms);
    }
    const auto site = [](std::uint64_t address) {
        return tollbar::detail::CodePlace{.file = "place", .address = address};
    };
    const auto waits_in = [](const std::string& text) {
        std::istringstream lines(text);
        std::uint64_t waits = 0;
        for (std::string line; std::getline(lines, line);) {
            std::istringstream fields(line);
            std::vector<std::string> all;
            for (std::string field; std::getline(fields, field, '\t');) all.push_back(field);
            if (all.front() == "sum") waits += std::stoull(all[9]);
        }
        return waits;
    };
    const std::uint64_t all = waits_in(account(4, 0, std::size_t{1} << 20, site));
    CHECK(all >= 300);
    for (const std::size_t bytes : {0, 100, 512, 1000, 4096}) {
        const std::string text = account(4, 1000, bytes, site);
        CHECK(text.size() <= std::max<std::size_t>(bytes, 512));
        CHECK(text.find("rank\t4\t") == 0);
        CHECK(text.find("\nsum\t4\tseveral calls\tothers\t0\tmany places\t\t0\t-2\t") != std::string::npos);
        CHECK(waits_in(text) == all);
    }
}

TEST_CASE("accounts of all ranks together are fewer bytes than an int counts, of any number of ranks") {
    for (const std::size_t ranks : {0, 1, 2, 5000, 100'000, 500'000})
        CHECK(account_bytes(ranks) * ranks <= std::size_t{1} << 28);
    CHECK(account_bytes(4'000'000) * 4'000'000 < std::size_t{1} << 31);
}
