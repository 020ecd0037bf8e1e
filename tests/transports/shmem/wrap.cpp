// SPDX-License-Identifier: Apache-2.0
// Episodes across the end of 32 and of 64 bits, by puts, stores and the counter: every toll is paid, no slot is blamed.
#include "transports/shmem/course.hpp"
#include "transports/shmem/open_mpi.hpp"

#include <tollbar/algorithms.hpp>

#include <cstdio>
#include <cstring>
#include <numeric>
#include <sched.h>

using namespace tollbar;
using namespace tollbar::shmem;

namespace {

constexpr int episodes = 12;

/// Runs a few episodes from `before` on; gives the number of complaints.
int across(Episode before, std::optional<Plan> plan, Signals signals) {
    const int count = shmem_n_pes();
    const int me = shmem_my_pe();
    std::vector<int> pes(static_cast<std::size_t>(count));
    std::iota(pes.begin(), pes.end(), 0);
    const std::uint32_t slots = plan ? slots_of(*plan) : 1;
    void* memory = shmem_align(128, Block::bytes_for(slots));
    auto* tolls = static_cast<long*>(shmem_malloc(2 * static_cast<std::size_t>(count) * sizeof(long)));
    std::memset(memory, 0, Block::bytes_for(slots));
    std::memset(tolls, 0, 2 * static_cast<std::size_t>(count) * sizeof(long));
    shmem_barrier_all();

    const Course::Task task{
        .plan = std::move(plan), .signals = signals, .signature = signature_of(1, 2), .before = before};
    Course course(Block(memory, slots), pes, static_cast<Rank>(me), task);
    int complaints = 0;
    for (long episode = 1; episode <= episodes; ++episode) {
        for (const int pe : pes) shmem_long_p(&tolls[2 * me + episode % 2], episode, pe);
        shmem_quiet();
        course.start();
        for (int looks = 1; !course.advance(); ++looks)
            if (looks % 4 == 0) sched_yield();
        for (const int pe : pes)
            if (tolls[2 * pe + episode % 2] != episode) ++complaints;
        if (course.fault()) ++complaints;
    }
    if (course.episode() != before + episodes) ++complaints;
    shmem_barrier_all();
    shmem_free(tolls);
    shmem_free(memory);
    return complaints;
}

}  // namespace

int main() {
    shmem_init();
    const auto ranks = static_cast<Rank>(shmem_n_pes());
    int complaints = 0;
    for (const Episode end : {Episode{1} << 31, Episode{1} << 32, Episode{0}}) {
        const Episode before = end - episodes / 2;
        complaints += across(before, make_plan("dissemination", ranks), Signals::puts);
        complaints += across(before, make_plan("mcs", ranks), Signals::stores);
        complaints += across(before, make_plan("dissemination", ranks), Signals::amo32);
        complaints += across(before, std::nullopt, Signals::puts);
    }
    if (complaints != 0) {
        std::fprintf(stderr, "PE %d: %d complaints\n", shmem_my_pe(), complaints);
        shmem_global_exit(1);
    }
    shmem_finalize();
}
