// SPDX-License-Identifier: Apache-2.0
#include "host.hpp"

#include <string>
#include <vector>

using namespace tollbar::testing;

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

TEST_CASE("of a rank of the job that is not seen yet it is not said that it is elsewhere") {
    Host host(2, 3);
    for (const int rank : {0, 1}) {
        host.add(rank, 0, tollbar_world, "world", 3);
        host.call(rank, "MPI_Barrier");
    }
    says(host.line(), "has waited 2.0 s: rank 2 is not watched on this host, or in MPI_Init still");
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
    says(host.line(),
         "MPI_Ibarrier 2 at f+1: rank 0 on h has waited 2.0 s in MPI_Wait at f+0, perhaps for this call: rank 1 (");
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

TEST_CASE(
    "where threads race on a communicator, the rank that has made fewer calls is named, and why no more is told") {
    Host host(3);
    for (const int rank : {1, 2}) {
        host.call(rank, "MPI_Barrier");
        host.at(rank).row.seats[1] = host.at(rank).row.seats[0];
    }
    for (const int rank : {0, 1, 2}) {
        for (int i = 0; i < 10; ++i) host.call(rank, "MPI_Ibarrier");
        host.at(rank).row.seats[0].number = 0;
        host.enter(rank, line_of("MPI_Waitall"), 0);
    }
    for (const int rank : {1, 2}) {
        host.at(rank).waited_s[1] = 2;
        host.leave(rank);
    }
    CHECK(host.line() ==
          "world (3 ranks), MPI_Barrier 1 at f+0: rank 1 on h has waited 2.0 s: cannot tell which of its calls meet, "
          "as threads of ranks 1 and 2 are in several at once; rank 0 (host h, process 100) has made 10 collective "
          "calls there where others have made 11: it is in MPI_Waitall at f+0, after MPI_Ibarrier 10 of world at f+1");
    CHECK(host.said().front().wait.starts_with("in 1 1 "));
}

TEST_CASE("a call that no rank remembers is named by who is in it") {
    Host host(2);
    for (const int rank : {0, 1})
        for (int i = 0; i < 6; ++i) host.call(rank, "MPI_Bcast");
    host.at(0).row.seats[0].number = 1;
    host.leave(1);
    host.enter(0, line_of("MPI_Bcast"), 1);
    says(host.line(), "world (2 ranks), MPI_Bcast 1 at f+0: rank 0 on h has waited 2.0 s: cannot tell which");
}

TEST_CASE("where all have come, those that are in the call still are told from those that have gone on") {
    Host host(3);
    for (const int rank : {0, 1, 2}) host.call(rank, "MPI_Allgatherv", 0, 0, ~std::uint64_t{0});
    says(host.line(),
         "has waited 2.0 s: all its ranks have come and are in it still: cannot tell why it does not end, as counts "
         "that may differ");
    host.leave(2);
    says(host.line(),
         "all its ranks have come: still in it are ranks 0 and 1, gone on is rank 2 (outside the MPI, running, after "
         "MPI_Allgatherv 1 of world at f+1)");
}

TEST_CASE("bytes that are not known fit to any") {
    Host host(3);
    for (const int rank : {0, 1, 2}) host.call(rank, "MPI_Bcast", 1, 0, rank == 1 ? ~std::uint64_t{0} : 8);
    says(host.line(), "all its ranks have come");
}

TEST_CASE("of a communicator whose other ranks are on this host, the ranks without it are named") {
    Host host(3);
    for (const int rank : {0, 1, 2}) host.add(rank, 1, tollbar_world, "MPI_COMM_WORLD", 3);
    host.at(2).row.comms[0].id = 0;
    host.call(0, "MPI_Barrier");
    host.call(1, "MPI_Barrier");
    says(host.line(), "2.0 s: rank 2 (host h, process 102) has freed it, or not seen it made: it is outside the MPI");
    host.at(0).row.comms[0].size = host.at(1).row.comms[0].size = 2;
    says(host.line(), "all its ranks have come");
}

TEST_CASE("a rank whose threads all wait is not said to have come because it is stopped by now") {
    Host host(2);
    host.call(0, "MPI_Barrier");
    host.message(1, "MPI_Recv", 0, 5);
    std::vector<Rank> ranks{host.at(0), host.at(1)};
    ranks[1].row.start = stopped;
    const std::vector<Sentence> lines = conclude(all_of(ranks), 1.0, Host::asked());
    REQUIRE(lines.size() == 1);
    says(lines[0].text, "rank 1 (host h, process 101) has not come: it is stopped, in MPI_Recv");
}

constexpr std::uint64_t nothing = ~std::uint64_t{0};

TEST_CASE("what a root gets of each is what each gives it") {
    Host host(3, 6);
    for (const int rank : {0, 1, 2}) host.call(rank, "MPI_Gather", 1);
    host.of_bytes(0, 8, 8);
    SUBCASE("in place too") { host.of_bytes(0, nothing, 8); }
    for (const int rank : {1, 2}) host.of_bytes(rank, 8, nothing);
    says(host.line(), "has waited 2.0 s: 3 of its ranks are not watched on this host");
    host.of_bytes(0, nothing, 4);
    says(host.line(),
         "2.0 s: rank 0 (host h, process 100) called MPI_Gather (4 bytes) at f+1 where 2 ranks called MPI_Gather "
         "(8 bytes); 3 of");
}

TEST_CASE("of two ranks whose bytes do not meet both are named") {
    Host host(2);
    for (const int rank : {0, 1}) host.call(rank, "MPI_Scatter", 1);
    host.of_bytes(0, 4, nothing);
    host.of_bytes(1, nothing, 1);
    says(host.line(),
         "2.0 s: rank 1 (host h, process 101) called MPI_Scatter (1 byte) at f+1 where rank 0 called MPI_Scatter "
         "(4 bytes)");
}

TEST_CASE("a rank that gives something else than it expects is named, also where all do") {
    Host host(3);
    for (const int rank : {0, 1, 2}) host.call(rank, "MPI_Allgather");
    for (const int rank : {0, 1, 2}) host.of_bytes(rank, rank == 1 ? 4 : 8, 8);
    says(host.line(),
         "rank 1 (host h, process 101) called MPI_Allgather (4 bytes given and 8 bytes expected) at f+1 where 2 ranks "
         "called MPI_Allgather (8 bytes)");
    for (const int rank : {0, 2}) host.of_bytes(rank, 4, 8);
    says(host.line(),
         "2.0 s: ranks 0, 1 and 2 called MPI_Allgather (4 bytes given and 8 bytes expected) at f+1, which do not meet");
}

TEST_CASE("of a call that waits for neighbours alone, not all that have not come are waited for") {
    Host host(3);
    host.call(0, "MPI_Neighbor_allgather");
    says(host.line(),
         "ranks 1 and 2 have not come: they are outside the MPI, running, before any collective call; "
         "cannot tell which of them are neighbours of the ranks that wait");
}
