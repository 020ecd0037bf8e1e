// SPDX-License-Identifier: Apache-2.0
// Messages made of pieces.
#include "plan/wording.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace tollbar;
using namespace tollbar::detail;

TEST_CASE("a message is its pieces one after the other, with numbers in decimal") {
    const std::string name = "mcs";
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    CHECK(worded({"'", name, "' has ", Rank{0}, " to ", most, " of ", std::string_view("several").substr(0, 5)}) ==
          "'mcs' has 0 to 18446744073709551615 of sever");
}

TEST_CASE("an empty piece is no number") { CHECK(worded({std::string_view(), "", std::string()}).empty()); }

TEST_CASE("a member's name says whether it is a role") {
    CHECK(named(3) == "rank 3");
    CHECK(named(role(1)) == "role b");
}
