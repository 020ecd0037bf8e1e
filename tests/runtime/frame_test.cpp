// SPDX-License-Identifier: Apache-2.0
// What the frame's header promises of one frame: no altered one is sound, and episodes are compared across a wrap.
#include "runtime/frame.h"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstring>
#include <random>

namespace {

constexpr toll_u64 key = 0x0123456789abcdefULL;
constexpr toll_u32 group = 7;

toll_frame sound_frame() { return toll_sealed(toll_signal, 3, toll_net64(key), toll_net32(group), 5, 41, 0); }

toll_flaw inspect(const toll_frame& frame) { return toll_inspect(&frame, toll_net64(key), toll_net32(group)); }

/// The frame with some bits turned over, of those that nothing but the check guards.
toll_frame altered(toll_frame frame, std::mt19937_64& random, int bits) {
    auto bytes = std::bit_cast<std::array<unsigned char, sizeof frame>>(frame);
    for (int i = 0; i < bits; ++i) {
        const auto at = random() % 24;
        bytes[at < 4 ? 4 + at : 16 + at] ^= static_cast<unsigned char>(1U << random() % 8);
    }
    return std::bit_cast<toll_frame>(bytes);
}

}  // namespace

TEST_CASE("a frame is big-endian on the wire") {
    const auto frame = sound_frame();
    constexpr char expected[] =
        "tol1\x01\0\0\x03\x01\x23\x45\x67\x89\xab\xcd\xef\0\0\0\x07\0\0\0\x05\0\0\0\0\0\0\0\x29";
    CHECK(std::memcmp(&frame, expected, 32) == 0);
    CHECK(inspect(frame) == toll_sound);
}

TEST_CASE("each single bit matters") {
    for (std::size_t bit = 0; bit < 8 * sizeof(toll_frame); ++bit) {
        auto bytes = std::bit_cast<std::array<unsigned char, sizeof(toll_frame)>>(sound_frame());
        bytes[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
        CAPTURE(bit);
        CHECK(inspect(std::bit_cast<toll_frame>(bytes)) != toll_sound);
    }
}

TEST_CASE("of a million altered frames none is sound") {
    std::mt19937_64 random(1);
    const auto frame = sound_frame();
    int passed = 0;
    for (int i = 0; i < 1000000; ++i) {
        const auto other = altered(frame, random, 1 + static_cast<int>(random() % 16));
        passed += inspect(other) == toll_sound && std::memcmp(&other, &frame, sizeof frame) != 0;
    }
    CHECK(passed == 0);
}

TEST_CASE("another job's and another group's frames are told apart from damaged ones") {
    const auto flaw = [](auto&& change) {
        auto frame = sound_frame();
        change(frame);
        frame.check = toll_net32(toll_check(&frame));
        return inspect(frame);
    };
    CHECK(flaw([](toll_frame& frame) { frame.magic = 0; }) == toll_not_ours);
    CHECK(flaw([](toll_frame& frame) { ++frame.key; }) == toll_other_key);
    CHECK(flaw([](toll_frame& frame) { ++frame.group; }) == toll_other_group);
    auto damaged = sound_frame();
    ++damaged.episode;
    CHECK(inspect(damaged) == toll_damaged);
}

TEST_CASE("the later episode is newer, also where the count wraps") {
    CHECK(toll_newer(2, 1) != 0);
    CHECK(toll_newer(1, 2) == 0);
    CHECK(toll_newer(1, 1) == 0);
    CHECK(toll_newer(0, ~toll_u64{0}) != 0);
    CHECK(toll_newer(~toll_u64{0}, 1) == 0);
}
