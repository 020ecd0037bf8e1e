// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-idle: the CPU time that many waiters take together while one thread is half a second late.
#include "barriers.hpp"
#include "launch.hpp"

#include <chrono>
#include <thread>

namespace tollbar::bench {

namespace {

constexpr std::chrono::milliseconds late{500};

/// Rank 0 is late. The cost to the others of getting from their meeting into the barrier, and from there to the next
/// meeting, counts as well.
template <class Barrier>
void idle(Crew& crew, Barrier&& barrier, const Label& label, std::uint32_t round) {
    double waited_ns = 0;
    Usage usage;
    Meeting meeting(crew.ranks());
    crew.run([&](Rank rank) {
        auto seat = barrier.seat(rank);
        seat.episode();
        meeting.meet();
        const Usage before = rank == 0 ? Usage::of_process() : Usage{};
        if (rank == 0) {
            const Ticks start = ticks();
            std::this_thread::sleep_for(late);
            waited_ns = nanoseconds(ticks() - start);
        }
        seat.episode();
        meeting.meet();
        if (rank == 0) usage = Usage::of_process() - before;
        meeting.meet();  // nobody goes before rank 0 has counted
    });
    Record<"idle">(label, round)
        .field("waiters", crew.ranks() - 1)
        .field("waited_ns", waited_ns)
        .field("cpu_ns", usage.cpu_ns)
        .field("voluntary", usage.voluntary)
        .field("involuntary", usage.involuntary)
        .print();
}

int measure(Launch& launch) {
    launch.refuse_names();
    launch.begin();
    const Rank ranks = launch.options.ranks + 1;
    ThreadCrew crew(ranks, launch.places());
    return Rounds(launch, crew).run([&](std::uint32_t round) {
        idle(crew, GroupBarrier(ranks, "turnstile", wait_policy::automatic), {"turnstile", "turnstile"}, round);
        idle(crew, Everywhere<OwnBarrier>(ranks), {"tollbar::barrier", "barrier"}, round);
        idle(crew, Everywhere<StandardBarrier>(ranks), {"std::barrier", "peer"}, round);
        idle(crew, Everywhere<Meeting>(ranks), {"pthread_barrier", "peer"}, round);
        return true;
    });
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run({.name = "tollbar-bench-idle", .measure = measure}, count, words);
}
