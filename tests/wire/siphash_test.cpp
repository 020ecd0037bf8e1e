// SPDX-License-Identifier: Apache-2.0
// The vectors that the authors of SipHash publish (vectors.h of the reference implementation; the paper's appendix A
// prints the one of 15 bytes).
#include "wire/siphash.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <numeric>

namespace {

constexpr toll_key key{0x0706050403020100, 0x0f0e0d0c0b0a0908};

/// Of the bytes 0, 1, 2, ..., as many as the index says.
constexpr std::array<std::uint64_t, 16> published{
    0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d,
    0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137,
    0x93f5f5799a932462, 0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7,
    0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee, 0xa129ca6149be45e5};

}  // namespace

TEST_CASE("SipHash-2-4 gives the published values") {
    std::array<std::uint8_t, 64> bytes;
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    for (std::size_t length = 0; length < published.size(); ++length) {
        CAPTURE(length);
        CHECK(toll_siphash(key, bytes.data(), length) == published[length]);
    }
    CHECK(toll_siphash(key, bytes.data(), 63) == 0x958a324ceb064572);
}

TEST_CASE("a state that is kept goes on as if the message were one") {
    const std::array<std::uint64_t, 3> words{0x0706050403020100, 0x0f0e0d0c0b0a0908, 0x0016151413121110};
    toll_sip state = toll_sip_begun(key);
    toll_sip_word(&state, words[0]);
    const toll_sip kept = state;
    state.v0 = 0;
    toll_sip again = kept;
    toll_sip_word(&again, words[1]);
    CHECK(toll_sip_ended(again, words[2] | 23ULL << 56) == toll_siphash(key, words.data(), 23));
}
