// SPDX-License-Identifier: Apache-2.0
// The parts that the doors for C share: byte order of keys, numbers of wait policies, lists of missing members.
#include "base/c_door.hpp"
#include "missing/members.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::c_door;

TEST_CASE("a key is two little-endian halves, the low one first") {
    const std::uint8_t key[16] = {1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0xff};
    CHECK(halves_of(key) == std::array<std::uint64_t, 2>{0x0807060504030201, 0xff17161514131211});
}

TEST_CASE("a wait policy is refused by its number") {
    CHECK(policy_of(TOLLBAR_WAIT_PARK) == wait_policy::park);
    for (const std::int32_t number : {-1, 4}) {
        tollbar_wait wait;
        std::memcpy(&wait, &number, sizeof wait);
        CHECK_THROWS_WITH(
            policy_of(wait),
            ("wait is one of TOLLBAR_WAIT_AUTO, _SPIN, _YIELD, _PARK, not " + std::to_string(number)).c_str());
    }
}

TEST_CASE("a caller has waited since its first timed wait in the episode") {
    Waited waited;
    CHECK(waited.ns(0) == 0);
    waited.begin(1);
    std::int64_t before = 0;
    while (before == 0) before = waited.ns(1);
    waited.begin(1);
    CHECK(waited.ns(1) >= before);
    CHECK(waited.ns(2) == 0);
    waited.begin(2);
    CHECK(waited.ns(1) == 0);
}

TEST_CASE("a list of missing members is cut to its room, and the count is that of all") {
    std::array<tollbar_missing, 2> room{};
    std::size_t count = 99;
    const auto three = [] {
        return std::vector{missing::unknown_member(1, 7, "10.0.0.1"), missing::unknown_member(5, 7, ""),
                           missing::unknown_member(6, 7, "")};
    };
    CHECK(write_missing(room.data(), room.size(), &count, three) == 0);
    CHECK(count == 3);
    CHECK(room[0].rank == 1);
    CHECK(room[0].waited_ns == 7);
    CHECK(std::string(room[0].host) == "10.0.0.1");
    CHECK(room[1].rank == 5);
    CHECK(write_missing(nullptr, 0, &count, three) == 0);
    CHECK(write_missing(nullptr, 1, &count, three) == EINVAL);
    CHECK(write_missing(room.data(), 1, nullptr, three) == EINVAL);
}

TEST_CASE("a host's name that is too long is cut") {
    const tollbar_missing one = missing::unknown_member(0, 0, std::string(100, 'h'));
    CHECK(std::string(one.host) == std::string(sizeof one.host - 1, 'h'));
}
