// SPDX-License-Identifier: Apache-2.0
#include <tollbar/algorithms.hpp>
#include <tollbar/verify.hpp>

#include "refusal.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace tollbar;

namespace {

std::string refusal_of(std::string_view spelling, Rank ranks = 12) {
    return refusal([&] { (void)make_plan(spelling, ranks); });
}

/// What stands between the spelling and the list of what is accepted.
bool says(const std::string& message, std::string_view words) { return message.find(words) != message.npos; }

}  // namespace

TEST_CASE("the catalogue names fifteen families, each once, each with a paper") {
    std::set<std::string_view> names;
    for (const Algorithm& algorithm : catalogue()) {
        CHECK(names.insert(algorithm.name).second);
        CHECK_FALSE(algorithm.paper.empty());
        CHECK(algorithm.parameters.empty() == algorithm.defaults.empty());
        CHECK(algorithm.parameters.empty() == algorithm.restrictions.empty());
    }
    CHECK(names == std::set<std::string_view>{"central", "combining", "fway_tournament", "mcs", "tournament", "bst",
                                              "butterfly", "pairwise", "dissemination", "turnstile", "counter",
                                              "combination", "card:gather", "card", "switch"});
}

TEST_CASE("the first nine keep their numbers") {
    std::string names;
    for (const Algorithm& algorithm : catalogue().first(9)) names += std::string(algorithm.name) + ' ';
    CHECK(names == "central combining fway_tournament mcs tournament bst butterfly pairwise dissemination ");
}

TEST_CASE("exactly the families with a player have roles") {
    for (const Algorithm& algorithm : catalogue()) {
        const std::string name(algorithm.name);
        CAPTURE(name);
        CHECK((make_plan(name, 8).roles() != 0) == !algorithm.player.empty());
        CHECK(make_plan(name, 1).roles() == 0);
    }
}

TEST_CASE("a name alone means its defaults") {
    for (const Algorithm& algorithm : catalogue()) {
        if (algorithm.defaults.empty()) continue;
        const std::string spelled_out = std::string(algorithm.name) + ':' + std::string(algorithm.defaults);
        for (const Rank ranks : {1U, 2U, 9U, 100U})
            CHECK(to_text(make_plan(algorithm.name, ranks)) == to_text(make_plan(spelled_out, ranks)));
    }
}

TEST_CASE("a plan bears the name it was spelled with") {
    for (const char* spelling : {"central", "combining:2", "mcs:4,2", "central@4/dissemination",
                                 "mcs:4,2@3/bst@2/dissemination:2", "turnstile", "combination", "combination:2/mcs:4,2",
                                 "card:gather", "card:pairwise", "switch", "turnstile@3/card"})
        CHECK(make_plan(spelling, 12).name() == spelling);
}

TEST_CASE("an unknown name is refused with all names") {
    CHECK(
        refusal_of("disemination") ==
        "plan 'disemination': there is no algorithm 'disemination'; there are central, combining, fway_tournament, "
        "mcs, tournament, bst, butterfly, pairwise, dissemination, turnstile, counter, combination, card:gather, card, "
        "switch, and INNER@K/OUTER");
    for (const char* spelling : {"", "Central", "central ", " mcs", "mcs;4,2", ":4", "centra", "turnstiles", "gather"})
        CHECK(says(refusal_of(spelling), "there is no algorithm"));
}

TEST_CASE("a parameter out of bounds is refused with the bounds") {
    CHECK(refusal_of("combining:1") == "plan 'combining:1': 1 is not N (2 to 16777216)");
    CHECK(refusal_of("combining:0") == "plan 'combining:0': 0 is not N (2 to 16777216)");
    CHECK(refusal_of("fway_tournament:1") == "plan 'fway_tournament:1': 1 is not F (2 to 16777216)");
    CHECK(refusal_of("mcs:4,1") == "plan 'mcs:4,1': 1 is not WAKEUP (2 to 16777216)");
    CHECK(refusal_of("mcs:1,4") == "plan 'mcs:1,4': 1 is not ARRIVAL (2 to 16777216)");
    CHECK(refusal_of("dissemination:0") == "plan 'dissemination:0': 0 is not W (1 to 7)");
    CHECK(refusal_of("dissemination:8") == "plan 'dissemination:8': 8 is not W (1 to 7)");
    CHECK(says(refusal_of("combining:16777217"), "16777217 is not N (2 to 16777216)"));
}

TEST_CASE("a parameter that is no number is refused with what is expected") {
    CHECK(refusal_of("combining:") == "plan 'combining:': '' is not N (2 to 16777216)");
    CHECK(refusal_of("combining:4,") == "plan 'combining:4,': '4,' is not N (2 to 16777216)");
    CHECK(refusal_of("combining:four") == "plan 'combining:four': 'four' is not N (2 to 16777216)");
    CHECK(refusal_of("combining:-4") == "plan 'combining:-4': '-4' is not N (2 to 16777216)");
    CHECK(refusal_of("combining: 4") == "plan 'combining: 4': ' 4' is not N (2 to 16777216)");
    CHECK(refusal_of("combining:4.0") == "plan 'combining:4.0': '4.0' is not N (2 to 16777216)");
    CHECK(refusal_of("combining:99999999999") ==
          "plan 'combining:99999999999': '99999999999' is not N (2 to 16777216)");
}

TEST_CASE("too few and too many parameters are refused") {
    CHECK(refusal_of("mcs:4") == "plan 'mcs:4': expected ARRIVAL,WAKEUP (2 to 16777216)");
    CHECK(refusal_of("mcs:4,") == "plan 'mcs:4,': '' is not WAKEUP (2 to 16777216)");
    CHECK(refusal_of("mcs:4,2,") == "plan 'mcs:4,2,': '2,' is not WAKEUP (2 to 16777216)");
    CHECK(refusal_of("mcs:4,2,2") == "plan 'mcs:4,2,2': '2,2' is not WAKEUP (2 to 16777216)");
    CHECK(refusal_of("central:3") == "plan 'central:3': central takes no parameter");
    CHECK(refusal_of("butterfly:") == "plan 'butterfly:': butterfly takes no parameter");
    CHECK(refusal_of("turnstile:3") == "plan 'turnstile:3': turnstile takes no parameter");
    CHECK(refusal_of("switch:4@2/mcs") == "plan 'switch:4': switch takes no parameter");
}

TEST_CASE("no ranks and too many ranks are refused, in one level and in two") {
    for (const char* spelling : {"dissemination", "central@4/dissemination", "central@1/dissemination", "turnstile",
                                 "combination:64", "card"}) {
        CHECK(refusal_of(spelling, 0) == "a plan has 1 to 16777216 ranks, not 0");
        CHECK(refusal_of(spelling, max_ranks + 1) == "a plan has 1 to 16777216 ranks, not 16777217");
        CHECK(refusal_of(spelling, 4294967295) == "a plan has 1 to 16777216 ranks, not 4294967295");
        CHECK(refusal_of(spelling, max_ranks) == "accepted");
    }
}

TEST_CASE("two levels need a group size and an outer plan") {
    CHECK(refusal_of("central@4") == "plan 'central@4': expected INNER@K/OUTER");
    CHECK(refusal_of("central@/mcs") == "plan 'central@/mcs': '' is not a group size K, at least 1");
    CHECK(refusal_of("central@x/mcs") == "plan 'central@x/mcs': 'x' is not a group size K, at least 1");
    CHECK(refusal_of("central@-1/mcs") == "plan 'central@-1/mcs': '-1' is not a group size K, at least 1");
    CHECK(refusal_of("central@0/mcs") == "plan 'central@0/mcs': a group has at least 1 rank, not 0");
    CHECK(says(refusal_of("central@4/"), "there is no algorithm ''"));
    CHECK(says(refusal_of("central@4/nothing"), "there is no algorithm 'nothing'"));
    CHECK(says(refusal_of("nothing@4/mcs"), "there is no algorithm 'nothing'"));
    CHECK(says(refusal_of("combining:1@4/mcs"), "1 is not N (2 to 16777216)"));
    CHECK(refusal_of("central@4/mcs@3") == "plan 'mcs@3': expected INNER@K/OUTER");
}

TEST_CASE("a combination has 1 to 16777216 processors, and what follows them is a plan") {
    constexpr std::string_view accepted = "a number of processors P, 1 to 16777216";
    CHECK(refusal_of("combination:0") == "plan 'combination:0': 0 is not " + std::string(accepted));
    CHECK(says(refusal_of("combination:16777217"), accepted));
    CHECK(says(refusal_of("combination:"), accepted));
    CHECK(says(refusal_of("combination:two"), accepted));
    CHECK(says(refusal_of("combination:2@4/mcs"), accepted));
    CHECK(refusal_of("combination/mcs") == "plan 'combination/mcs': expected combination[:P[/PLAN]]");
    CHECK(refusal_of("combination@2/mcs") == "plan 'combination@2/mcs': expected combination[:P[/PLAN]]");
    CHECK(says(refusal_of("combination:2/"), "there is no algorithm ''"));
    CHECK(says(refusal_of("combination:2/turnstile/mcs"), "there are no nodes here"));
    CHECK(refusal_of("combination:2/turnstile@1/combination:16777216/card") == "accepted");
}

TEST_CASE("a NIC runs plans without roles") {
    for (const char* plan : {"turnstile", "combination:2", "central@2/switch", "card:gather"})
        CHECK(says(refusal_of("card:" + std::string(plan)),
                   "'" + std::string(plan) + "' has roles, which NICs do not play; there are card:gather and switch"));
    CHECK(says(refusal_of("card:gather@2/mcs"), "there is no algorithm 'gather'"));
    CHECK(refusal_of("card@2/mcs") == "plan 'card@2/mcs': expected card[:PLAN]");
    CHECK(says(refusal_of("card:"), "there is no algorithm ''"));
    for (const Rank ranks : {1U, 5U, 12U})
        CHECK(to_text(make_plan("card:mcs@4/bst", ranks)) == to_text(make_plan("mcs@4/bst", ranks)));
}

TEST_CASE("a two-level plan without a group size needs groups") {
    CHECK(refusal_of("turnstile/dissemination:2") ==
          "plan 'turnstile/dissemination:2': there are no nodes here whose ranks could be the groups; write "
          "turnstile@K/dissemination:2 for groups of K ranks");
    CHECK(to_text(make_plan("turnstile/central", {{0, 3}, {1, 2}})) ==
          "0: !a ?a\n1: !b ?b\n2: !b ?b\n3: !a ?a\n"
          "a: ?0 ?3 ?b !b !0 !3\nb: ?1 ?2 !a ?a !1 !2\n");
    CHECK(to_text(make_plan("central@2/mcs", {{0, 3}, {1, 2}})) == to_text(make_plan("central@2/mcs", 4)));
    CHECK(to_text(make_plan("mcs", {{0, 3}, {1, 2}})) == to_text(make_plan("mcs", 4)));
    CHECK(make_plan("mcs:2,2/bst", {{0, 3}, {1, 2}}).name() == "mcs:2,2/bst");
}

TEST_CASE("the groups may be any lists of ranks, of any sizes") {
    const Groups nodes{{0, 9, 10}, {4}, {1, 2, 3}, {5, 6, 7, 8}, {11}};
    for (const char* inner : {"turnstile", "counter", "central", "mcs:2,2"})
        for (const char* outer : {"dissemination", "turnstile", "card:gather", "turnstile@2/mcs", "combination:2"}) {
            const Plan plan = make_plan(std::string(inner) + '/' + outer, nodes);
            CAPTURE(to_text(plan));
            CHECK(verify(plan).explain() == Verdict{}.explain());
        }
}

TEST_CASE("one group runs the inner plan alone, groups of one rank the outer plan alone") {
    CHECK(to_text(make_plan("turnstile/mcs", {{0, 1, 2, 3, 4}})) == to_text(make_plan("turnstile", 5)));
    CHECK(to_text(make_plan("mcs/turnstile", {{0, 1, 2, 3, 4}})) == to_text(make_plan("mcs", 5)));
    CHECK(to_text(make_plan("turnstile/mcs", {{0}, {1}, {2}})) == to_text(make_plan("mcs", 3)));
    CHECK(to_text(make_plan("mcs/turnstile", {{0}, {1}, {2}})) == to_text(make_plan("turnstile", 3)));
}

TEST_CASE("groups that are no lists of all ranks are refused") {
    const auto refused = [](const Groups& groups) {
        return refusal([&] { (void)make_plan("turnstile/mcs", groups); });
    };
    CHECK(refused({}) == "a plan has 1 to 16777216 ranks, not 0");
    CHECK(refused({{0, 1}, {}}) == "group 1 has no ranks");
    CHECK(refused({{1, 0}}) == "the ranks of group 0 are not in ascending order");
    CHECK(refused({{0, 1}, {1}}) == "rank 1 is in two groups");
    CHECK(refused({{0, 3}, {1}}) == "rank 3 is not one of 0..2");
}

TEST_CASE("an exchange plan in front of '@' is refused, even where one rank a group would do no harm") {
    for (const char* spelling : {"dissemination@4/mcs", "pairwise@2/mcs", "butterfly@4/mcs", "dissemination:2@1/mcs",
                                 "central@2/butterfly@2/mcs", "switch@2/mcs"})
        CHECK(says(refusal_of(spelling),
                   "' cannot stand in front of '@': its first rank does not hear from every rank "
                   "before it releases any"));
}

TEST_CASE("a group larger than the ranks is the inner plan alone") {
    for (const Rank ranks : {1U, 5U, 12U})
        CHECK(to_text(make_plan("mcs@4294967295/dissemination", ranks)) == to_text(make_plan("mcs", ranks)));
}

TEST_CASE("groups of one rank are the outer plan alone") {
    for (const Rank ranks : {1U, 5U, 12U})
        CHECK(to_text(make_plan("mcs@1/dissemination", ranks)) == to_text(make_plan("dissemination", ranks)));
}

TEST_CASE("the outer plan may have two levels again") {
    CHECK(to_text(make_plan("central@2/central@2/central", 8).program(0)) == "?1 ?2 ?4 !4 !2 !1");
}
