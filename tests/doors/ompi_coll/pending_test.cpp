// SPDX-License-Identifier: Apache-2.0
// Two ranks of one thread, which meet by messages: rank 0's barriers are pending until rank 1 has arrived too.
#include "ended.hpp"

#include "communicator/local_p2p.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

using namespace tollbar::testing;

namespace {

struct Two {
    Two() {
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            seats[rank] = {.world = &world, .rank = rank};
            const tollbar_p2p p2p = world.p2p(seats[rank]);
            const tollbar_mpi_options options{};
            REQUIRE(tollbar_mpi_join_by_messages(&p2p, &options, &participants[rank]) == 0);
        }
        queue.participant = participants[0];
        ended = 0;
    }
    ~Two() {
        for (tollbar_mpi_participant* each : participants) tollbar_mpi_leave(each);
    }
    Two(const Two&) = delete;
    Two& operator=(const Two&) = delete;

    void begin(Barrier& barrier) {
        tollbar_take_lock();
        barrier.end = end;
        barrier.episode = tollbar_mpi_arrive(queue.participant, nullptr);
        tollbar_pending_put_on(&barrier, &queue);
        tollbar_release_lock();
    }

    void other_arrives() { others = tollbar_mpi_arrive(participants[1], nullptr); }
    void other_goes_on() { tollbar_mpi_test(participants[1], others); }

    LocalWorld world{2};
    LocalWorld::Seat seats[2];
    tollbar_mpi_participant* participants[2];
    tollbar_queue queue{};
    std::uint64_t others = 0;  ///< episodes that rank 1 has entered
};

}  // namespace

TEST_CASE("A barrier is pending until every rank has arrived") {
    Two two;
    Barrier barrier{};
    two.begin(barrier);
    CHECK(tollbar_pending_advance() == 0);
    CHECK(tollbar_queue_is_pending(&two.queue) != 0);
    two.other_arrives();
    CHECK(tollbar_pending_advance() == 1);
    CHECK(tollbar_queue_is_pending(&two.queue) == 0);
    CHECK(barrier.failed == 0);
}

TEST_CASE("Barriers of a queue end in the order they were begun in") {
    Two two;
    Barrier first{}, second{}, third{};
    for (Barrier* each : {&first, &second, &third}) two.begin(*each);
    two.other_arrives();
    two.other_arrives();
    CHECK(tollbar_pending_advance() == 2);
    CHECK(first.number == 1);
    CHECK(second.number == 2);
    CHECK(third.number == 0);
    two.other_arrives();
    CHECK(tollbar_pending_advance() == 1);
}

TEST_CASE("Progress does not look into a participant that is held") {
    Two two;
    Barrier barrier{};
    two.begin(barrier);
    two.other_arrives();
    two.queue.held = 1;
    CHECK(tollbar_pending_advance() == 0);
    two.queue.held = 0;
    CHECK(tollbar_pending_advance() == 1);
}

TEST_CASE("Progress passes by while another call has the lock") {
    Two two;
    Barrier barrier{};
    two.begin(barrier);
    two.other_arrives();
    tollbar_take_lock();
    CHECK(tollbar_pending_advance() == 0);
    tollbar_release_lock();
    CHECK(tollbar_pending_advance() == 1);
}

TEST_CASE("A queue is finished up to the barrier that is waited for") {
    Two two;
    Barrier first{}, second{}, third{};
    for (Barrier* each : {&first, &second, &third}) two.begin(*each);
    for (int i = 0; i < 3; ++i) two.other_arrives();
    tollbar_queue_finish(&two.queue, &second);
    CHECK(second.number == 2);
    CHECK(third.number == 0);
    two.other_goes_on();
    tollbar_queue_finish(&two.queue, nullptr);
    CHECK(third.number == 3);
    CHECK(two.queue.held == 0);
}

TEST_CASE("A watcher is called when the first barrier becomes pending and when the last one is over") {
    static int some, none;
    some = none = 0;
    tollbar_pending_watch([] { ++some; }, [] { ++none; });
    Two two;
    Barrier first{}, second{};
    two.begin(first);
    two.begin(second);
    CHECK(some == 1);
    two.other_arrives();
    tollbar_pending_advance();
    CHECK(none == 0);
    two.other_arrives();
    tollbar_pending_advance();
    CHECK(none == 1);
    tollbar_pending_watch([] {}, [] {});
}

TEST_CASE("Several threads may make progress at once") {
    constexpr int rounds = 200;
    Two two;
    std::vector<Barrier> barriers(rounds);
    std::atomic<bool> done = false;
    std::thread other([&] {
        while (!done.load()) tollbar_pending_advance();
    });
    for (Barrier& barrier : barriers) {
        two.begin(barrier);
        two.other_arrives();
        while (tollbar_queue_is_pending(&two.queue) != 0) tollbar_pending_advance();
    }
    done = true;
    other.join();
    CHECK(ended == rounds);
}
