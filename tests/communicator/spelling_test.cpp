// SPDX-License-Identifier: Apache-2.0
#include "communicator/spelling.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::mpi;

namespace {

/// Which node each of so many ranks is on, with `each` neighbours on one.
std::vector<Rank> nodes(Rank ranks, Rank each) {
    std::vector<Rank> node_of;
    for (Rank rank = 0; rank < ranks; ++rank) node_of.push_back(rank / each);
    return node_of;
}

}  // namespace

TEST_CASE("what NICs run is the last part of a spelling") {
    CHECK(nic_shape("turnstile/card") == "pairwise");
    CHECK(nic_shape("turnstile/card:gather") == "gather");
    CHECK(nic_shape("turnstile/switch") == "switch");
    CHECK(nic_shape("turnstile/card:mcs:4,2") == "mcs:4,2");
    CHECK(nic_shape("central@4/card:dissemination:2") == "dissemination:2");
    for (const char* spelling : {"turnstile", "turnstile/mcs", "card", "turnstile/cards", "central@4/dissemination"})
        CHECK_FALSE(nic_shape(spelling).has_value());
}

TEST_CASE("without NICs a spelling has a plan where they were") {
    CHECK(by_messages("turnstile/card:mcs:4,2") == "turnstile/mcs:4,2");
    CHECK(by_messages("turnstile/card:switch") == "turnstile/pairwise");
    CHECK(by_messages("central@4/card") == "central@4/pairwise");
    CHECK(by_messages("mcs") == "mcs");
}

TEST_CASE("what goes on between nodes moves to their NICs, where it goes on between nodes alone") {
    CHECK(moved_to_nics("turnstile", nodes(8, 2)) == "turnstile/card:dissemination");
    CHECK(moved_to_nics("turnstile/mcs", nodes(8, 2)) == "turnstile/card:mcs");
    CHECK(moved_to_nics("central@2/mcs:4,2", nodes(8, 2)) == "central@2/card:mcs:4,2");
    CHECK(moved_to_nics("central@2/mcs", nodes(7, 2)) == "central@2/card:mcs");
    CHECK(moved_to_nics("mcs", nodes(8, 1)) == "turnstile/card:mcs");
    CHECK(moved_to_nics("mcs", nodes(8, 2)).empty());
    CHECK(moved_to_nics("central@4/mcs", nodes(8, 2)).empty());
    CHECK(moved_to_nics("central@2/mcs", {0, 1, 0, 1}).empty());
}

TEST_CASE("what NICs cannot run is told") {
    CHECK(fault_on_nics("turnstile/card", nodes(64, 2)).empty());
    CHECK(fault_on_nics("turnstile/card:central", nodes(9, 1)).empty());
    CHECK(fault_on_nics("turnstile/card:central", nodes(10, 1)).find("runs up to 16") != std::string::npos);
    CHECK(fault_on_nics("turnstile/card:gather", nodes(64, 1)).empty());
    CHECK(fault_on_nics("turnstile/card:gather", nodes(65, 1)).find("counts up to 64") != std::string::npos);
    CHECK(fault_on_nics("central@4/card:mcs", nodes(8, 2)).find("do not coincide with the nodes") != std::string::npos);
    const Groups two{{0, 1}, {2, 3}};
    CHECK(fault_of_spelling("turnstile/card:nothing", two).find("no algorithm 'nothing'") != std::string::npos);
    CHECK(fault_of_spelling("turnstile/card:gather", two).empty());
}

TEST_CASE("what is for other hardware or another library is refused, not run by messages") {
    const Groups two{{0, 1}, {2, 3}};
    for (const char* spelling :
         {"switch", "card", "card:gather", "card:mcs", "counter", "counter/mcs", "mcs@2/counter"})
        CHECK(fault_of_spelling(spelling, two).find("runs on ") != std::string::npos);
    for (const char* spelling : {"turnstile", "turnstile/switch", "combination:2/mcs", "mcs@2/dissemination:2"})
        CHECK(fault_of_spelling(spelling, two).empty());
}

TEST_CASE("a turnstile on several nodes is one on each, and dissemination between them") {
    CHECK(to_text(plan_of("turnstile", {{0, 2}, {1}})) == to_text(make_plan("turnstile/dissemination", {{0, 2}, {1}})));
    CHECK(to_text(plan_of("turnstile", {{0, 1, 2}})) == to_text(make_plan("turnstile", 3)));
    CHECK(to_text(plan_of("turnstile/mcs", {{0, 1, 2}})) == to_text(make_plan("turnstile", 3)));
}
