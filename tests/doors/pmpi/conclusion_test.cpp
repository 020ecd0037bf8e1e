// SPDX-License-Identifier: Apache-2.0
#include "doors/pmpi/watch/conclusion.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <string>
#include <string_view>

using namespace tollbar::detail::watch;

namespace {

unsigned line_of(std::string_view name) {
    for (unsigned line = 0; line < tollbar_number_of_calls; ++line)
        if (name == tollbar_calls[line].name) return line;
    FAIL("no such call");
    return 0;
}

/// The start of a process that is stopped.
constexpr std::uint64_t stopped = 1;

/// Ranks of one host, each of which is in communicator 1 of `size` ranks.
class Host {
public:
    explicit Host(int ranks, std::uint64_t size = 0) {
        for (int rank = 0; rank < ranks; ++rank) {
            Rank& one = ranks_.emplace_back();
            one.row.comms.resize(tollbar_comms);
            one.row.state = tollbar_row_used;
            one.row.rank = rank;
            one.row.process = 100 + rank;
            add(rank, 0, 7, "world", size == 0 ? static_cast<std::uint64_t>(ranks) : size);
        }
    }

    void add(int rank, unsigned index, std::uint64_t id, const char* name, std::uint64_t size) {
        tollbar_comm& comm = at(rank).row.comms[index];
        comm.id = id;
        comm.size = size;
        std::snprintf(comm.name, sizeof comm.name, "%s", name);
    }

    /// Makes its next collective call, and waits in it.
    void call(int rank, std::string_view name, std::uint64_t root = 0, std::uint64_t op = 0, std::uint64_t bytes = 8,
              unsigned index = 0) {
        tollbar_comm& comm = at(rank).row.comms[index];
        const unsigned line = line_of(name);
        comm.last[++comm.count % tollbar_kept] = {
            .what = root << 32 | op << 16 | line, .bytes = bytes, .site = 1, .entered_ns = 0};
        tollbar_seat& seat = at(rank).row.seats[0];
        seat.number = comm.count;
        seat.last = index + 1;
        enter(rank, line, index + 1);
    }

    void message(int rank, std::string_view name, int peer, int tag) {
        at(rank).row.seats[0].number = 0;
        at(rank).row.seats[0].peer = peer;
        at(rank).row.seats[0].tag = tag;
        enter(rank, line_of(name), 1);
    }

    void enter(int rank, unsigned line, unsigned comm) {
        at(rank).row.seats[0].at = tollbar_at(++serial_, comm, line, tollbar_inside);
        at(rank).waited_s[0] = 2;
    }

    void leave(int rank) {
        at(rank).row.seats[0].at &= ~std::uint64_t{3};
        at(rank).waited_s[0] = 0;
    }

    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

    static Asked asked() {
        return {.host = "h",
                .site = [](pid_t, std::uint64_t address) { return "f+" + std::to_string(address); },
                .doing =
                    [](const Rank& rank) {
                        if (rank.row.start == stopped) return "stopped";
                        return rank.row.process == 0 ? "dead" : "running";
                    }};
    }

    std::vector<Line> said() const {
        std::vector<Rank> ranks = ranks_;
        leave_out_stopped(ranks, 1.0, asked());
        return conclude(ranks, 1.0, asked());
    }

    std::vector<Line> told() const { return standings(ranks_, asked()); }

    std::vector<std::string> lines() const {
        std::vector<std::string> all;
        for (const Line& line : said()) all.push_back(line.text);
        return all;
    }

    std::string line() const {
        const std::vector<std::string> all = lines();
        REQUIRE(all.size() == 1);
        return all.front();
    }

private:
    std::vector<Rank> ranks_;
    std::uint64_t serial_ = 0;
};

bool says(const std::string& line, std::string_view what) {
    CAPTURE(line);
    CHECK(line.find(what) != std::string::npos);
    return line.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("a rank that has not come is named with its last call, by the lowest rank that waits") {
    Host host(3);
    for (const int rank : {0, 1, 2}) host.call(rank, "MPI_Bcast", 1);
    host.leave(2);
    for (const int rank : {0, 1}) host.call(rank, "MPI_Allreduce");
    CHECK(host.line() ==
          "world (3 ranks), MPI_Allreduce 2 at f+1: rank 0 on h has waited 2.0 s: rank 2 (host h, process 102) has not "
          "come: it is outside the MPI, running, after MPI_Bcast 1 of world at f+1");
}

TEST_CASE("nobody is named before the time-out") {
    Host host(2);
    host.call(0, "MPI_Allreduce");
    host.at(0).waited_s[0] = 0.5;
    CHECK(host.lines().empty());
}

TEST_CASE("a rank that is stopped in a call waits for nobody") {
    Host host(3);
    host.message(1, "MPI_Recv", 0, 7);
    CHECK(host.lines().size() == 1);
    host.at(1).row.start = stopped;
    CHECK(host.lines().empty());
    for (const int rank : {0, 2}) host.call(rank, "MPI_Allreduce");
    says(host.line(), "rank 1 (host h, process 101) has not come: it is stopped, in MPI_Recv from rank 0 (tag 7)");
}

TEST_CASE("where a rank is stopped or dead, one that waits in another call is not named") {
    Host host(4);
    for (const int rank : {1, 3}) host.call(rank, "MPI_Allreduce");
    host.message(0, "MPI_Send", 2, 7);
    says(host.line(), "rank 0 (host h, process 100) has not come: it is in MPI_Send to rank 2");
    host.message(2, "MPI_Send", 3, 7);
    SUBCASE("stopped") { host.at(2).row.start = stopped; }
    SUBCASE("dead") { host.at(2).row.process = 0; }
    const std::string line = host.line();
    says(line, "has waited 2.0 s: rank 2 (");
    CHECK(line.find("rank 0") == std::string::npos);
}

TEST_CASE("another number of bytes, operation or root is named where the standard wants one") {
    Host host(3);
    SUBCASE("bytes") {
        for (const int rank : {0, 1, 2}) host.call(rank, "MPI_Allreduce", 0, 3, rank == 1 ? 16 : 8);
        says(host.line(),
             "rank 1 (host h, process 101) called MPI_Allreduce (16 bytes) at f+1 where 2 ranks called "
             "MPI_Allreduce (8 bytes)");
    }
    SUBCASE("operation") {
        for (const int rank : {0, 1, 2}) host.call(rank, "MPI_Allreduce", 0, rank == 1 ? 1 : 3);
        says(host.line(), "called MPI_Allreduce (MPI_MAX) at f+1 where 2 ranks called MPI_Allreduce (MPI_SUM)");
    }
    SUBCASE("root") {
        for (const int rank : {0, 1, 2}) host.call(rank, "MPI_Bcast", rank == 1 ? 1 : 3);
        says(host.line(), "called MPI_Bcast (root 0) at f+1 where 2 ranks called MPI_Bcast (root 2)");
    }
}

TEST_CASE("a root that has gone on from another call is named by what it called then") {
    Host host(4);
    host.call(1, "MPI_Bcast", 2);
    host.call(1, "MPI_Barrier");
    for (const int rank : {0, 2, 3}) host.call(rank, "MPI_Allreduce");
    says(host.line(),
         "rank 1 (host h, process 101) called MPI_Bcast (root 1) at f+1 where 3 ranks called MPI_Allreduce");
}

TEST_CASE("a root that has come and gone is not missing") {
    Host host(3);
    host.call(0, "MPI_Bcast", 1);
    host.leave(0);
    host.call(1, "MPI_Bcast", 1);
    const std::string line = host.line();
    says(line, "rank 2 (host h, process 102) has not come");
    CHECK(line.find("rank 0 (") == std::string::npos);
}

TEST_CASE("ranks in one place share a clause") {
    Host host(4);
    host.call(3, "MPI_Barrier");
    says(host.line(), "ranks 0, 1 and 2 have not come: they are outside the MPI, running, before any collective call");
}

TEST_CASE("a call of another communicator does not count as having come") {
    Host host(2);
    for (const int rank : {0, 1}) host.add(rank, 1, 9, "other", 2);
    host.call(0, "MPI_Barrier");
    host.call(1, "MPI_Barrier", 0, 0, 8, 1);
    const std::vector<std::string> lines = host.lines();
    REQUIRE(lines.size() == 2);
    says(lines[0],
         "world (2 ranks), MPI_Barrier 1 at f+1: rank 0 on h has waited 2.0 s: rank 1 (host h, process 101) "
         "has not come: it is in MPI_Barrier 1 of other at f+0");
    says(lines[1], "other (2 ranks)");
}

TEST_CASE("ranks of other hosts are counted, and not accused") {
    Host host(2, 6);
    for (const int rank : {0, 1}) host.call(rank, "MPI_Barrier");
    says(host.line(), "has waited 2.0 s: 4 of its ranks are not watched on this host");
}

TEST_CASE("a wait for what was begun is at that call, unless all have come to it") {
    Host host(2);
    for (const int rank : {0, 1}) {
        host.call(rank, "MPI_Ibarrier");
        host.at(rank).row.seats[0].number = 0;
        host.enter(rank, line_of("MPI_Wait"), 0);
    }
    CHECK(host.line().find("MPI_Ibarrier 1 at") == std::string::npos);
    host.call(0, "MPI_Ibarrier");
    host.at(0).row.seats[0].number = 0;
    host.enter(0, line_of("MPI_Wait"), 0);
    host.leave(1);
    says(host.line(), "MPI_Ibarrier 2 at f+1: rank 0 on h has waited 2.0 s in MPI_Wait at f+0: rank 1 (");
}

TEST_CASE("a rank that waits for what all have begun is missing in the call after it") {
    Host host(3);
    for (const int rank : {0, 1, 2}) host.call(rank, "MPI_Ibarrier");
    host.at(2).row.seats[0].number = 0;
    host.enter(2, line_of("MPI_Wait"), 0);
    for (const int rank : {0, 1}) host.call(rank, "MPI_Allreduce");
    says(host.line(),
         "world (3 ranks), MPI_Allreduce 2 at f+1: rank 0 on h has waited 2.0 s: rank 2 (host h, process 102) has not "
         "come: it is in MPI_Wait at f+0, after MPI_Ibarrier 1 of world at f+1");
}

TEST_CASE("of a wait that nothing explains, a stopped rank is named alone") {
    Host host(4);
    for (const int rank : {0, 1, 2, 3}) host.enter(rank, line_of("MPI_Wait"), 0);
    host.leave(3);
    says(host.line(), "MPI_Wait at f+0: rank 0 on h has waited 2.0 s: ranks 1 and 2 are in MPI_Wait at f+0");
    says(host.line(), "; rank 3 (host h, process 103) is outside the MPI, running");
    host.at(1).row.start = stopped;
    says(host.line(), "has waited 2.0 s: rank 1 (host h, process 101) is stopped, in MPI_Wait at f+0");
    for (const char* other : {"rank 2", "rank 3"}) CHECK(host.line().find(other) == std::string::npos);
}

TEST_CASE("receives in a circle are a cycle, and named once") {
    Host host(3);
    for (const int rank : {0, 1, 2}) host.message(rank, "MPI_Recv", (rank + 1) % 3, 5);
    const std::string line = host.line();
    says(line, "a cycle: rank 0 (host h, process 100) is in MPI_Recv from rank 1 (tag 5) at f+0; rank 1 (");
    says(line, "is in MPI_Recv from rank 0 (tag 5)");
}

TEST_CASE("receives in a circle are no cycle before each of them has waited") {
    Host host(3);
    for (const int rank : {0, 1, 2}) host.message(rank, "MPI_Recv", (rank + 1) % 3, 5);
    host.at(2).waited_s[0] = 0.5;
    for (const std::string& line : host.lines()) CHECK(line.find("a cycle") == std::string::npos);
}

TEST_CASE("a message under way is no cycle, one with another tag is") {
    Host host(2);
    host.message(0, "MPI_Send", 1, 5);
    host.message(1, "MPI_Recv", 0, 5);
    for (const std::string& line : host.lines()) CHECK(line.find("a cycle") == std::string::npos);
    host.message(1, "MPI_Recv", 0, 6);
    says(host.line(), "a cycle: rank 0 (host h, process 100) is in MPI_Send to rank 1 (tag 5)");
}

TEST_CASE("who keeps several waiting for a message is named once") {
    Host host(4);
    for (const int rank : {1, 2, 3}) host.message(rank, "MPI_Recv", 0, rank);
    says(host.line(),
         "world (4 ranks), MPI_Recv from rank 0 (tag 1) at f+0: rank 1 on h has waited 2.0 s: 3 ranks wait "
         "for it: rank 0 (host h, process 100) is outside the MPI, running");
}

TEST_CASE("a chain of messages is said from its end") {
    Host host(3);
    host.message(0, "MPI_Recv", 1, 5);
    host.message(1, "MPI_Recv", 2, 5);
    says(host.line(), "MPI_Recv from rank 2 (tag 5) at f+0: rank 1 on h has waited 2.0 s: rank 2 (");
}

TEST_CASE("a rank that has left the MPI is said to have") {
    Host host(2);
    host.call(0, "MPI_Barrier");
    host.at(1).row.state = tollbar_row_left;
    says(host.line(), "has not come: it is past MPI_Finalize");
}

TEST_CASE("for other hosts a line has what they have to know of its call") {
    Host host(4, 8);
    for (const int rank : {0, 1, 2}) host.call(rank, "MPI_Allreduce");
    REQUIRE(host.said().size() == 1);
    CHECK(host.said().front().facts == "at 7 1 0");
}

TEST_CASE("other hosts are told where each rank is and how far in the communicators that they share with it") {
    Host host(4, 8);
    for (int rank = 0; rank < 4; ++rank) host.add(rank, 1, 9, "here alone", 4);
    host.add(3, 2, 11, "again", 2);
    for (const int rank : {0, 1, 2}) host.call(rank, "MPI_Bcast");
    host.call(3, "MPI_Barrier", 0, 0, 8, 2);
    host.leave(2);
    const std::vector<Line> told = host.told();
    REQUIRE(told.size() == 3);
    CHECK(told[0].text == "host h, process 103, in MPI_Barrier 1 of again at f+0");
    CHECK(told[0].facts == "ranks 3 7:0: b:1:MPI_Barrier,,,8.bytes");
    CHECK(told[1].text == "in MPI_Bcast 1 of world at f+0");
    CHECK(told[1].facts == "ranks 0,1 7:1:MPI_Bcast,,,8.bytes");
    CHECK(told[2].text == "host h, process 102, outside the MPI, running, after MPI_Bcast 1 of world at f+1");
    CHECK(told[2].facts == "ranks 2 7:1:MPI_Bcast,,,8.bytes");
}

TEST_CASE("other hosts are told what a call has to have in common") {
    Host host(1, 2);
    constexpr unsigned min = 2;
    host.call(0, "MPI_Reduce", 1, min, 16);
    CHECK(host.told().front().facts == "ranks 0 7:1:MPI_Reduce,root.0,MPI_MIN,16.bytes");
    host.call(0, "MPI_Allreduce", 0, 0, ~std::uint64_t{0});
    CHECK(host.told().front().facts == "ranks 0 7:2:MPI_Allreduce,,an.operation.of.its.own,");
}

TEST_CASE("other hosts are told the numbers of many ranks in one place") {
    const Host host(20, 40);
    REQUIRE(host.told().size() == 1);
    says(host.told().front().facts, "ranks 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19 7:0:");
}

TEST_CASE("a job of one host has nobody to tell") {
    Host host(2);
    host.call(0, "MPI_Bcast");
    CHECK(host.told().empty());
}
