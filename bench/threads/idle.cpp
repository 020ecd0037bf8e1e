// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-idle: the CPU time that many waiters take together while one thread is half a second late.
#include "barriers.hpp"
#include "candidate.hpp"
#include "json.hpp"
#include "rounds.hpp"

#include <chrono>
#include <thread>

namespace tollbar::bench {

namespace {

constexpr std::chrono::milliseconds late{500};

struct Idled {
    double waited_ns = 0;
    Usage usage;
};

/// Rank 0 is late. What it costs the others to get from their meeting into the barrier, and from there to the next
/// meeting, counts as well.
template <class Barrier>
Idled idle(Crew& crew, Barrier& barrier) {
    Idled found;
    Meeting meeting(crew.ranks());
    crew.run([&](Rank rank) {
        auto seat = barrier.seat(rank);
        seat.episode();
        meeting.meet();
        if (rank == 0) {
            const Usage before = Usage::of_process();
            const Ticks start = ticks();
            std::this_thread::sleep_for(late);
            found.waited_ns = nanoseconds(ticks() - start);
            seat.episode();
            meeting.meet();
            found.usage = Usage::of_process() - before;
        } else {
            seat.episode();
            meeting.meet();
        }
        meeting.meet();  // nobody goes before rank 0 has counted
    });
    return found;
}

void print(std::uint32_t round, const char* name, const char* kind, Rank waiters, const Idled& found) {
    Record("idle")
        .field("round", round)
        .field("name", name)
        .field("kind", kind)
        .field("wait", "auto")
        .field("waiters", waiters)
        .field("waited_ns", found.waited_ns)
        .field("cpu_ns", found.usage.cpu_ns)
        .field("voluntary", found.usage.voluntary)
        .field("involuntary", found.usage.involuntary)
        .print();
}

Round prepare(const Options& options, const std::vector<int>& cpus, const Pace&) {
    const Rank waiters = options.ranks;
    const auto crew = std::make_shared<ThreadCrew>(waiters + 1, Places(options.placement, cpus));
    return [crew, waiters](std::uint32_t round) {
        const Rank ranks = waiters + 1;
        GroupBarrier turnstile(ranks, "turnstile", wait_policy::automatic);
        print(round, "turnstile", "turnstile", waiters, idle(*crew, turnstile));
        Everywhere<OwnBarrier> own(ranks);
        print(round, "tollbar::barrier", "barrier", waiters, idle(*crew, own));
        Everywhere<StandardBarrier> standard(ranks);
        print(round, "std::barrier", "peer", waiters, idle(*crew, standard));
        Everywhere<PthreadBarrier> pthread(ranks);
        print(round, "pthread_barrier", "peer", waiters, idle(*crew, pthread));
    };
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run_single("tollbar-bench-idle", count, words, prepare);
}
