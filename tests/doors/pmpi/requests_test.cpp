// SPDX-License-Identifier: Apache-2.0
// The hooks keep what requests are for.
#include "doors/pmpi/watch/requests.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>

tollbar_pending tollbar_requests[1 << tollbar_pending_bits];

namespace {

tollbar_comm comm{.id = 7, .count = 0, .size = 2, .freed = 0, .last = {}, .name = {}};

tollbar_pending pending(std::uint64_t request, tollbar_purpose way, std::uint64_t of) {
    return {.request = request,
            .way = static_cast<std::uint64_t>(way),
            .of = of,
            .comm = &comm,
            .id = 7,
            .index = 1,
            .check = 0,
            .unused = 0};
}

tollbar_pending message(tollbar_purpose way, int peer, int tag) {
    return pending(64, way, tollbar_of_message(peer, tag));
}

bool is_known(std::uint64_t request) { return tollbar_pending_of(request).way != tollbar_no_way; }

}  // namespace

TEST_CASE("a request is for what it was kept for, until it is dropped") {
    for (const std::int32_t peer : {-2, -1, 0, 2147483647}) {
        tollbar_keep_pending(pending(64, tollbar_from, tollbar_of_message(peer, -1)));
        CHECK(tollbar_peer_in(tollbar_pending_of(64).of) == peer);
        CHECK(tollbar_tag_in(tollbar_pending_of(64).of) == -1);
    }
    for (int i = 0; i < 2; ++i) {
        tollbar_drop_pending(64);
        CHECK_FALSE(is_known(64));
    }
}

TEST_CASE("a handle's next owner has nothing of the last one's") {
    tollbar_keep_pending(pending(64, tollbar_of_all, 3));
    tollbar_keep_pending(tollbar_not_known(64));
    CHECK_FALSE(is_known(64));
}

TEST_CASE("one that takes another's place is not taken for it, whole or half written") {
    tollbar_keep_pending(pending(64, tollbar_from, 1));
    std::uint64_t other = 65;
    while (tollbar_place_of(other) != tollbar_place_of(64)) ++other;
    for (std::uint64_t tollbar_pending::*word : {&tollbar_pending::way, &tollbar_pending::of, &tollbar_pending::id,
                                                 &tollbar_pending::index, &tollbar_pending::check}) {
        tollbar_keep_pending(pending(64, tollbar_from, 1));
        tollbar_place_of(64)->*word ^= 1;
        CHECK_FALSE(is_known(64));
    }
    tollbar_keep_pending(pending(other, tollbar_to, 2));
    CHECK_FALSE(is_known(64));
    CHECK(is_known(other));
    tollbar_drop_pending(64);
    CHECK(is_known(other));
}

TEST_CASE("a request on a communicator that is gone is for nothing known") {
    tollbar_keep_pending(pending(64, tollbar_of_all, 3));
    CHECK(is_known(64));
    comm.id = 8;
    CHECK_FALSE(is_known(64));
    comm.id = 7;
}

TEST_CASE("of two requests only what both are for is said") {
    const tollbar_pending from = message(tollbar_from, 3, 5);
    CHECK(tollbar_both_of(from, from).of == from.of);
    CHECK(tollbar_both_of(from, message(tollbar_to, 3, 5)).way == tollbar_to_or_from);
    CHECK(tollbar_tag_in(tollbar_both_of(from, message(tollbar_from, 3, 6)).of) == -1);
    CHECK(tollbar_both_of(from, message(tollbar_from, 4, 5)).way == tollbar_no_way);
    CHECK(tollbar_both_of(from, pending(64, tollbar_of_all, 1)).way == tollbar_no_way);
    CHECK(tollbar_both_of(pending(64, tollbar_of_all, 1), pending(64, tollbar_of_all, 2)).way == tollbar_no_way);
    CHECK(tollbar_both_of(from, tollbar_not_known(64)).way == tollbar_no_way);
    tollbar_pending elsewhere = from;
    elsewhere.id = 9;
    CHECK(tollbar_both_of(from, elsewhere).index == 0);
    CHECK(tollbar_both_of(from, elsewhere).of == from.of);
}
