// SPDX-License-Identifier: Apache-2.0
// What the frame's header promises of one frame: each byte of it is authenticated, and episodes are compared across a
// wrap.
#include "wire/frame.h"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstring>
#include <random>

namespace {

constexpr toll_key key{0x0123456789abcdefULL, 0xfedcba9876543210ULL};
constexpr toll_u64 incarnation = 0x1111;

const toll_identity who = toll_identity_of(key, 7, 0x2222);

toll_u64 mac_of(const toll_frame& frame) {
    const toll_sip sealing = toll_sealing(&who, frame.incarnation, frame.digest);
    return toll_mac_of(&sealing, &frame);
}

toll_frame sealed() {
    toll_frame frame = toll_unsealed(&who, incarnation, toll_signal, 3, 5, 9, 41);
    frame.mac = mac_of(frame);
    return frame;
}

/// As whoever has the key sees it.
bool is_sound(const toll_frame& frame) {
    return frame.magic == toll_net32(toll_magic) && frame.group == who.group && frame.name == who.name &&
           frame.mac == mac_of(frame);
}

}  // namespace

TEST_CASE("a frame is big-endian on the wire, and its MAC is SipHash of its first 47 bytes") {
    const toll_frame frame = sealed();
    CHECK(std::memcmp(&frame, "tol2\0\0\0\x07", 8) == 0);
    constexpr std::array<unsigned char, 16> behind{0, 0, 0, 0, 0, 0, 0, 41, 0, 5, 0, 9, 0, 3, toll_signal, toll_signed};
    CHECK(std::memcmp(reinterpret_cast<const char*>(&frame) + 32, behind.data(), behind.size()) == 0);
    CHECK(frame.mac == toll_little64(toll_siphash(key, &frame, toll_signed)));
    CHECK(is_sound(frame));
}

TEST_CASE("each single bit matters") {
    for (std::size_t bit = 0; bit < 8 * sizeof(toll_frame); ++bit) {
        auto bytes = std::bit_cast<std::array<unsigned char, sizeof(toll_frame)>>(sealed());
        bytes[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
        CAPTURE(bit);
        CHECK(!is_sound(std::bit_cast<toll_frame>(bytes)));
    }
}

TEST_CASE("of a million altered frames none is sound") {
    std::mt19937_64 random(1);
    const toll_frame frame = sealed();
    int passed = 0;
    for (int i = 0; i < 1000000; ++i) {
        auto bytes = std::bit_cast<std::array<unsigned char, sizeof frame>>(frame);
        for (auto bits = 1 + random() % 16; bits > 0; --bits)
            bytes[16 + random() % (sizeof frame - 16)] ^= static_cast<unsigned char>(1U << random() % 8);
        const auto other = std::bit_cast<toll_frame>(bytes);
        passed += is_sound(other) && std::memcmp(&other, &frame, sizeof frame) != 0;
    }
    CHECK(passed == 0);
}

TEST_CASE("another key, group, incarnation or digest gives another MAC, and the name another key or group") {
    const toll_frame frame = sealed();
    const auto mac = [&](toll_key other_key, toll_u32 group, toll_u64 use, toll_u64 digest) {
        const toll_identity other = toll_identity_of(other_key, group, digest);
        const toll_sip sealing = toll_sealing(&other, use, digest);
        return toll_mac_of(&sealing, &frame);
    };
    CHECK(mac(key, 7, incarnation, 0x2222) == frame.mac);
    CHECK(mac({key.low, key.high + 1}, 7, incarnation, 0x2222) != frame.mac);
    CHECK(mac(key, 8, incarnation, 0x2222) != frame.mac);
    CHECK(mac(key, 7, incarnation + 1, 0x2222) != frame.mac);
    CHECK(mac(key, 7, incarnation, 0x2223) != frame.mac);
    CHECK(toll_name_of(key, 8) != who.name);
    CHECK(toll_name_of({key.low + 1, key.high}, 7) != who.name);
}

TEST_CASE("each rank but the first is admitted by exactly one other, of a lower number") {
    for (toll_u32 rank = 1; rank < 20000; ++rank) {
        const toll_u32 by = toll_admits_of(rank);
        REQUIRE(by < rank);
        REQUIRE(toll_admitted_as(by, rank) < toll_admits);
        REQUIRE(toll_admitted_as(by + 1, rank) == toll_admits);
    }
}

TEST_CASE("the later episode is newer, also where the count wraps") {
    CHECK(toll_newer(2, 1) != 0);
    CHECK(toll_newer(1, 2) == 0);
    CHECK(toll_newer(1, 1) == 0);
    CHECK(toll_newer(0, ~toll_u64{0}) != 0);
    CHECK(toll_newer(~toll_u64{0}, 1) == 0);
}
