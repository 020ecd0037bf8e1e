// SPDX-License-Identifier: Apache-2.0
#include "transports/shmem/slots.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

using namespace tollbar;
using namespace tollbar::shmem;

TEST_CASE("a signal is sent into the slot that its receiver listens at") {
    for (const char* plan : {"dissemination", "dissemination:7", "mcs", "central", "pairwise", "tournament"})
        for (const Rank ranks : {1U, 2U, 3U, 5U, 8U, 16U}) {
            CAPTURE(plan);
            CAPTURE(ranks);
            const Plan made = make_plan(plan, ranks);
            const std::uint32_t most = slots_of(made);
            for (Rank self = 0; self < ranks; ++self)
                for (const Wire& one : wire(made, self)) {
                    REQUIRE(one.slot < most);
                    bool met = false;
                    for (const Wire& other : wire(made, one.peer))
                        met = met || (other.sends != one.sends && other.peer == self && other.slot == one.slot);
                    REQUIRE(met);
                }
        }
}

TEST_CASE("a slot has one writer") {
    const Plan plan = make_plan("dissemination:3", 11);
    std::vector<std::vector<int>> writers(11, std::vector<int>(slots_of(plan)));
    for (Rank self = 0; self < 11; ++self)
        for (const Wire& one : wire(plan, self))
            if (one.sends) ++writers[one.peer][one.slot];
    for (const auto& of_rank : writers)
        for (const int count : of_rank) CHECK(count == 1);
}

TEST_CASE("a word is read by its signature and its episode, across the end of 32 bits") {
    const Signature mine = signature_of(1, 2);
    for (const Episode episode : {Episode{1}, Episode{7}, Episode{0xffffffff}, Episode{0x100000000},
                                  Episode{0x100000001}, Episode{0xffffffffffffffff}}) {
        CAPTURE(episode);
        const auto reading = [&](Episode written) {
            return read_slot(slot_word(mine, written), phase_of(written), mine, episode);
        };
        CHECK(read_slot(0, phase_of(episode), mine, episode) == Reading::past);
        CHECK(reading(episode - 2) == Reading::past);
        CHECK(reading(episode - 1) == Reading::past);
        CHECK(reading(episode) == Reading::heard);
        CHECK(reading(episode + 1) == Reading::heard);
        CHECK(reading(episode + 2) == Reading::impossible);
        CHECK(reading(episode + 3) == Reading::impossible);
        CHECK(read_slot(slot_word(mine, episode), phase_of(episode + 1), mine, episode) == Reading::impossible);
        CHECK(read_slot(slot_word(signature_of(3, 2), episode), phase_of(episode), mine, episode) == Reading::foreign);
    }
}

TEST_CASE("no signature makes a word that looks unwritten") {
    for (std::uint64_t tag = 0; tag < 300; ++tag)
        for (std::uint64_t plan = 0; plan < 300; ++plan) REQUIRE(slot_word(signature_of(tag, plan), 0) != 0);
}
