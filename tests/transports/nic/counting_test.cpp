// SPDX-License-Identifier: Apache-2.0
// Counting members on a card: of any number up to 64, exactly the last new one completes the episode.
#include "transports/nic/group.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

TEST_CASE(
    "the last member that is counted in completes the episode, once, in whatever order and however often they come") {
    std::mt19937 random(1);
    for (toll_u32 members = 1; members <= toll_counted; ++members) {
        CAPTURE(members);
        toll_state state{};
        std::vector<toll_u32> order(members);
        std::iota(order.begin(), order.end(), 0);
        for (toll_u64 episode = 1; episode <= 3; ++episode) {
            std::ranges::shuffle(order, random);
            for (std::size_t i = 0; i + 1 < members; ++i) {
                CHECK(toll_count(&state, members, order[i], episode) == 0);
                CHECK(toll_count(&state, members, order[random() % (i + 1)], episode) == 0);      // again
                CHECK(toll_count(&state, members, order[random() % members], episode - 1) == 0);  // late
            }
            CHECK(toll_count(&state, members, order.back(), episode) == 1);
            CHECK(toll_count(&state, members, order.front(), episode) == 0);
            CHECK(state.released == episode);
        }
    }
}
