// SPDX-License-Identifier: Apache-2.0
// Episodes of a few PEs across the end of a number's bits.
#pragma once

#include "transports/shmem/transport.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/detail/runner.hpp>

#include <cstdio>
#include <cstring>
#include <numeric>
#include <shmem.h>
#include <type_traits>
#include <vector>

namespace tollbar::testing {

using namespace detail;
using namespace detail::shmem;

inline constexpr int episodes = 12;

/// Runs a few episodes from `before` on, over what `wrap` makes of the transport; gives the number of complaints.
template <class Wrap>
int across(Episode before, const Plan& plan, Signals signals, bool shared, Wrap wrap) {
    const int count = shmem_n_pes();
    const int me = shmem_my_pe();
    std::vector<int> pes(static_cast<std::size_t>(count));
    std::iota(pes.begin(), pes.end(), 0);
    const std::uint32_t slots = slots_of(plan);
    void* memory = shmem_align(128, Block::bytes_for(slots));
    auto* tolls = static_cast<long*>(shmem_malloc(2 * static_cast<std::size_t>(count) * sizeof(long)));
    std::memset(memory, 0, Block::bytes_for(slots));
    std::memset(tolls, 0, 2 * static_cast<std::size_t>(count) * sizeof(long));
    shmem_barrier_all();

    const Block block(memory, slots);
    auto transport = wrap(
        ShmemTransport(block, pes, signals, shared, signature_of(1, 2),
                       wait_budget_for<NativeSync>(wait_policy::automatic, Occupancy::oversubscribed), before),
        block);
    const std::vector<ShmemTransport::Step> steps = transport.locate(steps_of(plan, static_cast<Rank>(me)));
    Runner runner(steps.data(), static_cast<std::uint32_t>(steps.size()), before, std::move(transport));
    int complaints = 0;
    for (long episode = 1; episode <= episodes; ++episode) {
        for (const int pe : pes) shmem_long_p(&tolls[2 * me + episode % 2], episode, pe);
        shmem_quiet();
        runner.start();
        runner.finish(Never{});
        for (const int pe : pes)
            if (tolls[2 * pe + episode % 2] != episode) ++complaints;
        if (std::is_same_v<decltype(transport), ShmemTransport> && runner.transport().fault()) ++complaints;
    }
    if (runner.episode() != before + episodes) ++complaints;
    shmem_barrier_all();
    shmem_free(tolls);
    shmem_free(memory);
    return complaints;
}

/// A job that complains in as many cases as `all(before)` gives where the episode before is shortly before each end.
template <class All>
void run_across(All all) {
    shmem_init();
    int complaints = 0;
    for (const Episode end : {Episode{1} << 31, Episode{1} << 32, Episode{0}}) complaints += all(end - episodes / 2);
    if (complaints != 0) {
        std::fprintf(stderr, "PE %d: %d complaints\n", shmem_my_pe(), complaints);
        shmem_global_exit(1);
    }
    shmem_finalize();
}

}  // namespace tollbar::testing
