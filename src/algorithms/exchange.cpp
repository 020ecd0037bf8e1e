// SPDX-License-Identifier: Apache-2.0
// Barriers in which every rank signals and awaits until it knows of all: dissemination, pairwise, butterfly.
#include "programs.hpp"

#include <algorithm>
#include <bit>

namespace tollbar::detail {

/// Hensgen, Finkel, Manber 1988; with several ways a round, Hoefler et al. 2006.
Program dissemination(Rank self, Rank ranks, Rank ways) {
    const std::uint64_t all = ranks;
    Program program;
    for (std::uint64_t stride = 1; stride < all; stride *= ways + 1) {
        for (Rank w = 1; w <= ways && w * stride < all; ++w)
            program.push_back(signal(static_cast<Rank>((self + w * stride) % all)));
        for (Rank w = 1; w <= ways && w * stride < all; ++w)
            program.push_back(await(static_cast<Rank>((self + all - w * stride) % all)));
    }
    return program;
}

/// Recursive doubling on the largest power of two; the ranks above fold in before and out after it.
/// Buntinas, Panda, Sadayappan 2001, section 2.2 (the set S').
Program pairwise(Rank self, Rank ranks) {
    const Rank core = std::bit_floor(ranks);
    if (self >= core) return {signal(self - core), await(self - core)};

    const bool folds = core + self < ranks;
    Program program;
    if (folds) program.push_back(await(self + core));
    for (Rank distance = 1; distance < core; distance *= 2) {
        program.push_back(signal(self ^ distance));
        program.push_back(await(self ^ distance));
    }
    if (folds) program.push_back(signal(self + core));
    return program;
}

namespace {

/// The rank that plays virtual rank v of the butterfly: a missing one is played by v without its highest bit.
Rank player(Rank v, Rank ranks, Rank virtual_ranks) { return v < ranks ? v : v - virtual_ranks / 2; }

}  // namespace

/// Brooks 1986: in round k virtual ranks v and v xor 2^k signal each other; one message a pair of players and round.
Program butterfly(Rank self, Rank ranks) {
    const Rank virtual_ranks = std::bit_ceil(ranks);
    const Rank second = self + virtual_ranks / 2;
    const bool plays_two = ranks > 1 && self < virtual_ranks / 2 && second >= ranks;

    Program program;
    for (Rank distance = 1; distance < virtual_ranks; distance *= 2) {
        std::vector<Rank> peers;
        const auto meet = [&](Rank v) {
            const Rank peer = player(v ^ distance, ranks, virtual_ranks);
            if (peer != self && std::ranges::find(peers, peer) == peers.end()) peers.push_back(peer);
        };
        meet(self);
        if (plays_two) meet(second);
        for (const Rank peer : peers) program.push_back(signal(peer));
        for (const Rank peer : peers) program.push_back(await(peer));
    }
    return program;
}

}  // namespace tollbar::detail
