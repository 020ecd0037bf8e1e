// SPDX-License-Identifier: Apache-2.0
// What a communicator keeps of a rank's memory grows with the logarithm of its ranks.
#include "communicator/participant.h"

#include "local_p2p.hpp"

#include <tollbar/plan.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<std::size_t> in_use{0};

/// Stands before what was asked for. malloc_usable_size would also count what malloc adds when a free piece is a little
/// larger, which depends on how the threads took turns.
union Size {
    std::size_t bytes;
    std::max_align_t aligned;
};

void* take(std::size_t bytes) {
    void* memory = std::malloc(sizeof(Size) + bytes);
    if (memory == nullptr) throw std::bad_alloc();
    in_use.fetch_add(bytes, std::memory_order_relaxed);
    return new (memory) Size{.bytes = bytes} + 1;
}

void give_back(void* memory) noexcept {
    if (memory == nullptr) return;
    Size* const size = static_cast<Size*>(memory) - 1;
    in_use.fetch_sub(size->bytes, std::memory_order_relaxed);
    std::free(size);
}

}  // namespace

void* operator new(std::size_t size) { return take(size); }
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }

using namespace tollbar;

namespace {

/// What each of so many ranks holds while its communicator lives, in bytes, without what the MPI keeps.
std::size_t bytes_of_a_rank(Rank ranks, const std::string& plan, tollbar_sharing sharing) {
    testing::LocalWorld world(ranks);
    std::barrier everybody(static_cast<std::ptrdiff_t>(ranks));
    std::size_t before = 0, while_joined = 0;
    const auto run = [&](Rank rank) {
        testing::LocalWorld::Seat seat{.world = &world, .rank = rank};
        const tollbar_p2p p2p = world.p2p(seat);
        tollbar_mpi_options options{};
        options.plan = plan.c_str();
        options.sharing = sharing;
        // The second time: what the world and the process make once is there by then.
        for (int time = 0; time < 2; ++time) {
            everybody.arrive_and_wait();
            if (rank == 0) before = in_use.load(std::memory_order_relaxed);
            everybody.arrive_and_wait();
            tollbar_mpi_participant* participant = nullptr;
            REQUIRE(tollbar_mpi_join(&p2p, &options, &participant) == 0);
            tollbar_mpi_arrive_and_wait(participant, nullptr);
            everybody.arrive_and_wait();
            if (rank == 0) while_joined = in_use.load(std::memory_order_relaxed);
            everybody.arrive_and_wait();
            tollbar_mpi_leave(participant);
        }
    };
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < ranks; ++rank) threads.emplace_back(run, rank);
    for (std::thread& thread : threads) thread.join();
    return (while_joined - before) / ranks;
}

}  // namespace

TEST_CASE("a rank keeps as much at a node's one word, however many ranks there are") {
    const std::size_t few = bytes_of_a_rank(8, "turnstile", TOLLBAR_SHARING_AUTO);
    const std::size_t many = bytes_of_a_rank(64, "turnstile", TOLLBAR_SHARING_AUTO);
    MESSAGE(few << " bytes with 8 ranks, " << many << " with 64");
    CHECK(many <= few);
}

TEST_CASE("a rank keeps its own steps of a plan and nothing of each other rank") {
    const std::size_t few = bytes_of_a_rank(8, "dissemination", TOLLBAR_SHARING_NEVER);
    const std::size_t many = bytes_of_a_rank(64, "dissemination", TOLLBAR_SHARING_NEVER);
    MESSAGE(few << " bytes with 8 ranks, " << many << " with 64");
    CHECK(many <= few * 2);  // log2 64 = 2 log2 8
}
