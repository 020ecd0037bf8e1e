// SPDX-License-Identifier: Apache-2.0
// Messages, ranks and standings; meeting_test.cpp has collective calls.
#include "host.hpp"

#include <string>
#include <vector>

using namespace tollbar::testing;

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

TEST_CASE("a wait after a call on a communicator that is gone accuses nobody who never had it") {
    Host host(3);
    host.add(0, 1, 9, "gone", 2);
    host.call(0, "MPI_Ibarrier", 0, 0, 8, 1);
    host.message(0, "MPI_Wait", -2, -1);
    says(host.line(), "gone (2 ranks), MPI_Ibarrier 1 at f+1: ");
    host.at(0).row.comms[1].id = 0;  // as every place that no rank has ever used
    CHECK(host.line().find("MPI_Ibarrier 1 at f+1: ") == std::string::npos);
    host.at(0).row.comms[1] = host.at(0).row.comms[0];  // another has the place
    CHECK(host.line().find("MPI_Ibarrier 1 at f+1: ") == std::string::npos);
}

TEST_CASE("of a rank whose thread has ended the last call is that thread's") {
    Host host(2);
    for (const int rank : {0, 1}) host.call(rank, "MPI_Barrier");
    Row& row = host.at(1).row;
    row.last = row.seats[0].last;
    row.last_number = row.seats[0].last_number;
    row.seats[0] = {};
    host.at(1).waited_s[0] = 0;
    host.call(0, "MPI_Allreduce");
    says(host.line(), "it is outside the MPI, running, after MPI_Barrier 1 of world at f+1");
}

TEST_CASE("of a rank with more threads than are seen that is said") {
    Host host(2);
    for (const int rank : {0, 1}) host.call(rank, "MPI_Barrier");
    host.leave(1);
    host.at(1).row.unseen = 3;
    host.call(0, "MPI_Allreduce");
    says(host.line(), "after MPI_Barrier 1 of world at f+1, 3 of its threads not seen");
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

TEST_CASE("a rank of which two threads wait is in no cycle") {
    Host host(2);
    host.message(0, "MPI_Recv", 1, 5);
    host.message(1, "MPI_Recv", 0, 5);
    host.at(0).row.seats[1] = host.at(0).row.seats[0];
    host.at(0).waited_s[1] = 2;
    for (const std::string& line : host.lines()) CHECK(line.find("a cycle") == std::string::npos);
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

TEST_CASE("a wait for a message by a request names the partner, and is no cycle: both messages may be under way") {
    Host host(3);
    host.wait_for_message(0, tollbar_from, 2, 5);
    says(host.line(),
         "world (3 ranks), MPI_Wait from rank 2 (tag 5) at f+0: rank 0 on h has waited 2.0 s: rank 2 (host h, process "
         "102) is outside the MPI, running");
    host.wait_for_message(2, tollbar_to_or_from, 0, -1);
    const std::string line = host.line();
    CHECK(line.find("a cycle") == std::string::npos);
    says(line, "rank 2 (host h, process 102) is in MPI_Wait to or from rank 0 at f+0");
}

TEST_CASE("of a wait for requests of several partners no partner is named") {
    Host host(2);
    host.wait_for_message(0, tollbar_no_way, 1, 5);
    says(host.line(), "MPI_Wait at f+0: rank 0 on h has waited 2.0 s: rank 1 (host h, process 101) is outside");
    host.at(0).row.seats[0].way = -77;  // half written
    says(host.line(), "MPI_Wait at f+0: ");
}

TEST_CASE("a wait is for the collective call of its request, whatever the thread has called since") {
    Host host(3);
    for (const int rank : {0, 1}) host.call(rank, "MPI_Ibarrier");
    host.add(0, 1, 9, "other", 2);
    host.call(0, "MPI_Ibcast", 0, 0, 8, 1);
    host.wait_for_call(0, 1);
    host.leave(1);
    const std::string line = host.line();
    says(line,
         "world (3 ranks), MPI_Ibarrier 1 at f+1: rank 0 on h has waited 2.0 s in MPI_Wait at f+0: rank 2 (host h, "
         "process 102) has not come: ");
    CHECK(line.find("perhaps") == std::string::npos);
}

TEST_CASE("a wait for an older call than the last one is no race of threads") {
    Host host(2);
    for (int i = 0; i < 3; ++i) host.call(0, "MPI_Ibarrier");
    host.wait_for_call(0, 2);
    host.call(1, "MPI_Ibarrier");
    host.leave(1);
    says(host.line(),
         "world (2 ranks), MPI_Ibarrier 2 at f+1: rank 0 on h has waited 2.0 s in MPI_Wait at f+0: rank 1 (");
    for (int i = 0; i < 4; ++i) host.call(0, "MPI_Ibarrier");
    host.wait_for_call(0, 2);  // of which nothing else is kept
    says(host.line(), "world (2 ranks), the begun call 2: rank 0 on h has waited 2.0 s in MPI_Wait at f+0: rank 1 (");
    says(host.line(), "; cannot tell which of them it needs");
}

TEST_CASE("ranks that have not started a persistent call so often are named") {
    Host host(4);
    for (const int rank : {0, 1, 2, 3}) {
        host.call(rank, "MPI_Allreduce_init");
        host.leave(rank);
        host.start(rank, 1, rank == 3 ? 1 : 2);
    }
    for (const int rank : {0, 1}) host.wait_for_call(rank, 1, tollbar_of_started);
    says(
        host.line(),
        "world (4 ranks), MPI_Allreduce_init 1 at f+1: rank 0 on h has waited 2.0 s in MPI_Wait at f+0, for start 2 of "
        "it: rank 3 (host h, process 103) has not started it: it is outside the MPI, running, after "
        "MPI_Allreduce_init 1 of world at f+1");
    SUBCASE("never") { host.start(3, 0, 0); }
    SUBCASE("another one, and perhaps this one, which is forgotten") {
        for (tollbar_started& one : host.at(3).row.started) one = {.id = 7, .number = 99, .times = 4};
        says(host.line(), "cannot tell whether rank 3 (host h, process 103) started it");
        return;
    }
    SUBCASE("and what it is, is not known any more") {
        for (int i = 0; i < 5; ++i) host.call(0, "MPI_Ibarrier");
        host.wait_for_call(0, 1, tollbar_of_started);
        says(host.line(),
             "world (4 ranks), the persistent call 1: rank 0 on h has waited 2.0 s in MPI_Wait at f+0, for ");
        return;
    }
    SUBCASE("all have, and it is something else") {
        host.start(3, 1, 2);
        says(host.line(), "MPI_Wait at f+0: rank 0 on h has waited 2.0 s: rank 1 (");
        return;
    }
    says(host.line(), "rank 3 (host h, process 103) has not started it");
}

TEST_CASE("a rank that has left the MPI is said to have") {
    Host host(2);
    host.call(0, "MPI_Barrier");
    host.at(1).row.state = tollbar_row_left;
    says(host.line(), "has not come: it is past MPI_Finalize");
}

TEST_CASE("all lines of a wait have the same fact, and the ranks that they name") {
    Host host(4);
    for (const int rank : {0, 1}) host.call(rank, "MPI_Allreduce");
    REQUIRE(host.said().size() == 1);
    CHECK(host.said().front().wait == "at 7 1");
    CHECK(host.said().front().about == "world (4 ranks), MPI_Allreduce 1");
    CHECK(host.said().front().named == std::vector{2, 3});
    CHECK(host.said().front().waited_s == 2);
    host.message(0, "MPI_Recv", 1, 5);
    host.message(1, "MPI_Recv", 0, 5);
    REQUIRE(host.said().size() == 1);
    CHECK(host.said().front().wait == "in 0 0 3");
    CHECK(host.said().front().named == std::vector{0, 1});
}

TEST_CASE("a communicator that has been freed is none to wait in") {
    Host host(3);
    host.call(0, "MPI_Ibarrier");
    host.at(0).row.seats[0].number = 0;
    host.enter(0, line_of("MPI_Wait"), 0);
    host.at(0).row.comms[0].id = 0;
    says(host.line(), "MPI_Wait at f+0: rank 0 on h has waited 2.0 s: ranks 1 and 2 are outside the MPI");
}

TEST_CASE("a rank that has left the MPI is neither stopped nor dead") {
    Host host(3);
    host.enter(0, line_of("MPI_Wait"), 0);
    host.at(1).row.state = tollbar_row_left;
    host.at(1).row.process = 0;
    const std::string line = host.line();
    says(line, "rank 1 (host h, process 0) is past MPI_Finalize");
    says(line, "rank 2 (host h, process 102) is outside the MPI");
}

TEST_CASE("calls that send and receive are no cycle: each may be sending to the other") {
    Host host(3);
    for (const int rank : {0, 1, 2}) host.message(rank, "MPI_Sendrecv", (rank + 1) % 3, 5);
    const std::string line = host.line();
    CHECK(line.find("a cycle") == std::string::npos);
    says(line,
         "MPI_Sendrecv from rank 1 (tag 5) at f+0: rank 0 on h has waited 2.0 s: rank 1 (host h, process 101) is");
}

TEST_CASE("a call that sends and receives may be waiting for another rank than it receives from") {
    Host host(3);
    host.message(0, "MPI_Sendrecv", 1, 5);
    says(host.line(),
         "MPI_Sendrecv from rank 1 (tag 5) at f+0: rank 0 on h has waited 2.0 s: ranks 1 and 2 are outside");
}

TEST_CASE("a send and a receive of two communicators never meet") {
    Host host(2);
    for (const int rank : {0, 1}) host.add(rank, 1, 9, "other", 2);
    host.message(0, "MPI_Send", 1, 5);
    host.message(1, "MPI_Recv", 0, 5);
    host.enter(1, line_of("MPI_Recv"), 2);
    says(host.line(), "a cycle: rank 0 (host h, process 100) is in MPI_Send to rank 1 (tag 5)");
}

TEST_CASE("ranks of two hosts are concluded from as those of one") {
    Host host(4);
    Rows one, other;
    SUBCASE("a rank of the other host has not come") {
        for (const int rank : {0, 1, 2}) host.call(rank, "MPI_Allreduce");
        host.tell(one, 0, 2);
        host.tell(other, 2, 4);
        CHECK(said_of({&one, &other}) ==
              std::vector<std::string>{
                  "world (4 ranks), MPI_Allreduce 1 at f+1: rank 0 on h has waited 2.0 s: rank 3 (host h2, process "
                  "103) has not come: it is outside the MPI, running, before any collective call"});
    }
    SUBCASE("ranks of both have not come") {
        host.call(0, "MPI_Allreduce");
        host.tell(one, 0, 2);
        host.tell(other, 2, 4);
        says(said_of({&one, &other}).front(), "ranks 1, 2 and 3 (hosts h and h2) have not come: they are outside");
    }
    SUBCASE("a cycle goes over both") {
        host.message(1, "MPI_Recv", 2, 5);
        host.message(2, "MPI_Recv", 1, 5);
        host.tell(one, 0, 2);
        host.tell(other, 2, 4);
        CHECK(said_of({&one, &other}) ==
              std::vector<std::string>{
                  "world (4 ranks), MPI_Recv from rank 2 (tag 5) at f+0: rank 1 on h has waited 2.0 s: a cycle: rank 1 "
                  "(host h, process 101) is in MPI_Recv from rank 2 (tag 5) at f+0; rank 2 (host h2, process 102) is "
                  "in MPI_Recv from rank 1 (tag 5) at f+0"});
        CHECK(said_of({&one}).front().ends_with("rank 2 has told nothing meanwhile"));
    }
    SUBCASE("a rank has come to another call than most of all hosts") {
        host.call(0, "MPI_Allreduce");
        for (const int rank : {1, 2, 3}) host.call(rank, "MPI_Barrier");
        host.tell(one, 0, 2);
        host.tell(other, 2, 4);
        says(said_of({&one, &other}).front(),
             "2.0 s: rank 0 (host h, process 100) called MPI_Allreduce at f+1 where 3 ranks called MPI_Barrier");
    }
}

TEST_CASE("of another host counts only where a rank was while the others waited") {
    Host host(4);
    for (const int rank : {0, 1}) host.call(rank, "MPI_Allreduce");
    Rows one, other;
    host.tell(one, 0, 2);
    SUBCASE("seen since they began to wait") {
        host.tell(other, 2, 4, 1.5);
        says(said_of({&one, &other}).front(),
             "ranks 2 and 3 (host h2) have not come: they are outside the MPI, running");
    }
    SUBCASE("seen before") {
        host.tell(other, 2, 4, 2.5);
        says(said_of({&one, &other}).front(), "has waited 2.0 s: 2 of its ranks have told nothing meanwhile");
    }
    SUBCASE("in a cycle, too") {
        host.message(1, "MPI_Recv", 2, 5);
        host.message(2, "MPI_Recv", 1, 5);
        host.leave(0);
        host.tell(other, 2, 4, 2.5);
        Rows now;
        host.tell(now, 0, 2);
        CHECK(said_of({&now, &other}).front().find("a cycle") == std::string::npos);
    }
}

TEST_CASE("a wait that nobody has told of again is no news") {
    Host host(4);
    for (const int rank : {0, 1}) host.call(rank, "MPI_Allreduce");
    Rows one, other;
    host.tell(one, 0, 2, 1, false);
    host.tell(other, 2, 4);
    CHECK(said_of({&one, &other}).empty());
    host.message(3, "MPI_Recv", 0, 5);
    Rows again;
    host.tell(again, 2, 4);
    CHECK(said_of({&one, &again}).size() <= 1);  // rank 0 waits in a call that is no news
}

TEST_CASE("what is no rows of a host is not taken for such") {
    Host host(2);
    host.call(0, "MPI_Allreduce");
    const std::string text = rows_of(own_host(), {host.at(0), host.at(1)}, 1.0, Host::asked());
    for (std::size_t length = 0; length < text.size(); ++length) {
        Rows rows;
        CHECK_FALSE(read_rows(text.substr(0, length), rows));
    }
    for (const char* const wrong : {"", " ", "h", "h 1 % 1 zz", "h 0 1 0 0", "h 1 % 0", "h ffffffffffffffff"}) {
        Rows rows;
        CHECK_FALSE(read_rows(wrong, rows));
    }
    Rows more;
    CHECK_FALSE(read_rows(text + " 0", more));
}

TEST_CASE("names of communicators travel whatever letters they have") {
    Host host(2);
    for (const int rank : {0, 1}) host.add(rank, 0, 7, "a b%c [~d]\t\xff", 2);
    host.call(0, "MPI_Allreduce");
    says(host.line(), "a b%c [~d]\t\xff (2 ranks), MPI_Allreduce 1");
}

TEST_CASE("rows of a rank whose count of calls is damaged end") {
    Host host(2);
    for (const int rank : {0, 1}) host.at(rank).row.comms[0].count = ~std::uint64_t{0} - 1;
    host.call(0, "MPI_Allreduce");
    says(host.line(), "MPI_Allreduce 18446744073709551615");
}
