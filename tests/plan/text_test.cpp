// SPDX-License-Identifier: Apache-2.0
#include <tollbar/plan.hpp>

#include "refusal.hpp"

#include <doctest/doctest.h>

using namespace tollbar;

namespace {

std::string round_trip(std::string_view words) { return to_text(parse_plan("parsed", words)); }

std::string refusal_of(std::string_view words) {
    return refusal([&] { (void)parse_plan("wrong", words); });
}

}  // namespace

TEST_CASE("a program is written as its steps in order") {
    CHECK(to_text(Program{signal(1), await(3), signal(2), await(2)}) == "!1 ?3 !2 ?2");
    CHECK(to_text(Program{}).empty());
}

TEST_CASE("a plan is written one line a rank") {
    const Plan plan("pair", std::vector<Program>{{signal(1), await(1)}, {signal(0), await(0)}});
    CHECK(to_text(plan) == "0: !1 ?1\n1: !0 ?0\n");
}

TEST_CASE("what is written is read back the same") {
    for (const std::string_view words :
         {"0: !1 ?3 !2 ?2\n1: !2 ?0 !3 ?3\n2: !3 ?1 !0 ?0\n3: !0 ?2 !1 ?1\n", "0:\n", "0: !1\n1:\n2: ?16777215\n"})
        CHECK(round_trip(words) == words);
}

TEST_CASE("labels, blank lines, spare blanks and the last newline may be left out or added") {
    CHECK(round_trip("!1 ?1\n!0 ?0") == "0: !1 ?1\n1: !0 ?0\n");
    CHECK(round_trip("\n  0:\t!1  ?1 \r\n\n\n1: !0 ?0\n \n") == "0: !1 ?1\n1: !0 ?0\n");
}

TEST_CASE("roles are written in letters, after the ranks") {
    const std::string turnstile = "0: !a ?a\n1: !a ?a\na: ?0 ?1 !0 !1\n";
    CHECK(round_trip(turnstile) == turnstile);
    CHECK(round_trip("a: ?0 ?1 !0 !1\n!a ?a\n!a ?a\n") == turnstile);
    CHECK(parse_plan("", turnstile).roles() == 1);
    CHECK(parse_plan("", turnstile).program(role(0)) == Program{await(0), await(1), signal(0), signal(1)});
}

TEST_CASE("roles beyond z have two letters and more") {
    CHECK(member_text(role(0)) == "a");
    CHECK(member_text(role(25)) == "z");
    CHECK(member_text(role(26)) == "aa");
    CHECK(member_text(role(26 + 26 * 26)) == "aaa");
    CHECK(round_trip("0: !aa ?zz") == "0: !aa ?zz\n");
}

TEST_CASE("a read plan bears the name it was given") { CHECK(parse_plan("mine", "0:").name() == "mine"); }

TEST_CASE("a word that is no step is named with its line") {
    CHECK(refusal_of("0: !1\n1: ?0 x7") ==
          "line 2: 'x7' is not a step; steps are written !RANK, ?RANK, !ROLE and ?ROLE");
    CHECK(refusal_of("\n\n0: !1 ?") == "line 3: '?' is not a step; steps are written !RANK, ?RANK, !ROLE and ?ROLE");
    for (const std::string word : {"!", "!-1", "!1x", "?1,", "!!1", "1", "!4294967296", "!1:", "?0x2", "0:!1"})
        CHECK(refusal_of("0: ?1 " + word) ==
              "line 1: '" + word + "' is not a step; steps are written !RANK, ?RANK, !ROLE and ?ROLE");
}

TEST_CASE("a label that is not the next rank is named with its line") {
    CHECK(refusal_of("0: !1\n2: ?0") == "line 2: '2:' stands where rank 1 was expected");
    CHECK(refusal_of("b: !1") == "line 1: 'b:' stands where role a was expected");
    CHECK(refusal_of("X: !1") == "line 1: 'X:' is not a step; steps are written !RANK, ?RANK, !ROLE and ?ROLE");
}

TEST_CASE("a line bears one label") {
    CHECK(refusal_of("0: 0: !1") == "line 1: '0:' is not a step; steps are written !RANK, ?RANK, !ROLE and ?ROLE");
}

TEST_CASE("words of nobody are refused") {
    CHECK(refusal_of("") == "a plan has 1 to 16777216 ranks, not 0");
    CHECK(refusal_of("\n \n") == "a plan has 1 to 16777216 ranks, not 0");
}
