// SPDX-License-Identifier: Apache-2.0
#include "transports/shmem/slots.hpp"

#include <doctest/doctest.h>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::shmem;

TEST_CASE("a word is read by its signature and its episode, across the end of 32 bits") {
    const Signature mine = signature_of(1, 2);
    for (const Episode episode : {Episode{1}, Episode{7}, Episode{0xffffffff}, Episode{0x100000000},
                                  Episode{0x100000001}, Episode{0xffffffffffffffff}}) {
        CAPTURE(episode);
        const auto reading = [&](Episode written) {
            return read_slot(slot_word(mine, written), parity_of(written), mine, episode);
        };
        CHECK(read_slot(0, parity_of(episode), mine, episode) == Reading::past);
        CHECK(reading(episode - 2) == Reading::past);
        CHECK(reading(episode - 1) == Reading::past);
        CHECK(reading(episode) == Reading::received);
        CHECK(reading(episode + 1) == Reading::received);
        CHECK(reading(episode + 2) == Reading::impossible);
        CHECK(reading(episode + 3) == Reading::impossible);
        CHECK(read_slot(slot_word(mine, episode), parity_of(episode + 1), mine, episode) == Reading::impossible);
        CHECK(read_slot(slot_word(signature_of(3, 2), episode), parity_of(episode), mine, episode) == Reading::foreign);
    }
}

TEST_CASE("no signature makes a word that looks unwritten") {
    for (std::uint64_t tag = 0; tag < 300; ++tag)
        for (std::uint64_t plan = 0; plan < 300; ++plan) REQUIRE(slot_word(signature_of(tag, plan), 0) != 0);
}
