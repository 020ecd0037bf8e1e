// SPDX-License-Identifier: Apache-2.0
// Sentences about waits, and the facts that travel behind them.
#include "missing/sentence.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace tollbar::detail::missing;

namespace {

tollbar_missing absent(std::uint32_t rank, tollbar_absence state, std::int64_t process = 0, const char* host = "") {
    tollbar_missing one = unknown_member(rank, 0, host);
    one.state = state;
    one.process = process;
    return one;
}

Sentence travelled(const Sentence& sentence, const std::string& facts) {
    Sentence read;
    REQUIRE(read_sentence(sentence.text, facts, read));
    return read;
}

}  // namespace

TEST_CASE("each state of a member has its words, and each member its clause") {
    CHECK(
        text_of(
            members_of({absent(0, TOLLBAR_NEVER_JOINED, 5), absent(1, TOLLBAR_LEFT, 6), absent(2, TOLLBAR_RUNNING, 7),
                        absent(3, TOLLBAR_DEAD, 8), absent(4, TOLLBAR_UNKNOWN, 9, "a")})) ==
        "rank 0 has not joined; rank 1 (process 6) has left; rank 2 (process 7) has not arrived; rank 3 (process 8) is "
        "dead; nothing heard from rank 4 (host a, process 9)");
    CHECK(text_of({}, "nobody") == "nobody");
    tollbar_missing thread = absent(3, TOLLBAR_RUNNING);
    thread.thread_number = 2;
    thread.thread = 4711;
    CHECK(text_of(members_of(std::vector{thread})) == "thread 2 of rank 3 (thread 4711) has not arrived");
    CHECK(text_of(members_of({absent(2, TOLLBAR_DEAD, 7)}, "PE")) == "PE 2 (process 7) is dead");
}

TEST_CASE("many members of which the same is known have one clause, and the others theirs") {
    std::vector<tollbar_missing> all{absent(0, TOLLBAR_DEAD, 5)};
    for (std::uint32_t rank = 1; rank < 1000; ++rank)
        if (rank != 17) all.push_back(absent(rank, TOLLBAR_RUNNING, 100 + rank));
    const std::vector<Clause> clauses = clauses_of(members_of(all));
    REQUIRE(clauses.size() == 2);
    CHECK(clauses[0].text == "rank 0 (process 5) is dead");
    CHECK(clauses[1].text == "ranks 1-16 and 18-999 have not arrived");
    CHECK(clauses[1].ranks.size() == 998);
    std::vector<tollbar_missing> apart;
    for (const std::uint32_t rank : {1U, 2U, 3U, 5U}) apart.push_back(unknown_member(rank, 0, rank < 3 ? "a" : "b"));
    CHECK(text_of(members_of(apart)) == "nothing heard from ranks 1, 2, 3 and 5 (hosts a and b)");
    for (std::uint32_t rank = 6; rank < 10; ++rank)
        apart.push_back(unknown_member(rank, 0, "c" + std::to_string(rank)));
    CHECK(text_of(members_of(apart)) == "nothing heard from ranks 1, 2, 3, 5, 6, 7, 8 and 9 (6 hosts)");
    CHECK(text_of(unheard_members(std::vector{1, 2, 3, 5})) == "nothing heard from ranks 1, 2, 3 and 5");
}

TEST_CASE("a sentence says where, who waits, for how long and for whom") {
    Report report{.about = "the group (3 ranks, mcs), episode 7",
                  .waiter = "rank 0",
                  .waited_s = 1.25,
                  .clauses = clauses_of(members_of({absent(2, TOLLBAR_DEAD, 7), absent(1, TOLLBAR_RUNNING, 6)}))};
    const Sentence sentence = sentence_of(report);
    CHECK(sentence.text ==
          "the group (3 ranks, mcs), episode 7: rank 0 has waited 1.2 s: rank 2 (process 7) is dead; "
          "rank 1 (process 6) has not arrived");
    CHECK(sentence.named == std::vector{1, 2});
    report.place = "main (a.c:3)";
    report.how = " in MPI_Wait";
    CHECK(sentence_of(report).text.starts_with(
        "the group (3 ranks, mcs), episode 7 at main (a.c:3): rank 0 has waited 1.2 s in "
        "MPI_Wait: rank 2"));
    CHECK(sentence_of(report).wait == sentence.wait);  // wherever it was called
    report.waiter = "rank 1";
    CHECK(sentence_of(report).wait != sentence.wait);
}

TEST_CASE("barriers that count threads name those that have arrived") {
    CHECK(clause_of_arrived("thread", {5}, 1, 2).text == "1 of 2 threads have not arrived, thread 5 has");
    CHECK(clause_of_arrived("process", {5, 6}, 2, 4).text ==
          "2 of 4 processes have not arrived, processes 5 and 6 have");
    CHECK(clause_of_arrived("thread", {5, 6}, 1, 3, " of this process").text ==
          "1 of 3 threads have not arrived, threads 5 and 6 of this process have");
}

TEST_CASE("facts that have travelled are those that were sent") {
    Report report{.about = "a\tname\nof its own, barrier 3",
                  .waiter = "thread 5",
                  .waited_s = 2.5,
                  .clauses = {clause_of_arrived("thread", {5, 6}, 1, 3)},
                  .arrived = {5, 6},
                  .lacking = 1};
    const Sentence sent = sentence_of(report), got = travelled(sent, facts_of(sent));
    CHECK(got.text == sent.text);
    CHECK(got.about == "a name of its own, barrier 3");
    CHECK(got.arrived == sent.arrived);
    CHECK(got.lacking == 1);
    CHECK(got.waited_s == doctest::Approx(2.5));
    CHECK(got.named.empty());
    CHECK(travelled(got, facts_of(got)).wait == got.wait);
    report.clauses = clauses_of(unheard_members(std::vector{3, 1}));
    const Sentence of_ranks = sentence_of(report);
    CHECK(travelled(of_ranks, facts_of(of_ranks)).named == std::vector{1, 3});
}

TEST_CASE("what are no facts, or another version's, is refused") {
    const Sentence sent = sentence_of({.about = "a", .waiter = "rank 0", .clauses = {}});
    const std::string facts = facts_of(sent);
    Sentence read;
    for (std::size_t size = 0; size < facts.find('\t'); ++size)
        CHECK_FALSE(read_sentence("", facts.substr(0, size), read));
    std::string other = facts;
    other[8] = '2';
    CHECK_FALSE(read_sentence("", other, read));
    for (const char* wrong : {"missing 1 x 0 - - w\ta", "missing 1 1.0 -1 - - w\ta", "missing 1 1.0 0 1,,2 - w\ta",
                              "missing 1 1.0 0 99999999999 - w\ta", "rows 1 1.0 0 - - w\ta"})
        CHECK_FALSE(read_sentence("", wrong, read));
}
