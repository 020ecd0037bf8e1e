// SPDX-License-Identifier: Apache-2.0
// A queue whose first barrier is the meeting of two ranks of one thread.
#include "ended.hpp"

#include "communicator/local_p2p.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstdint>
#include <thread>

using namespace tollbar::testing;

namespace {

struct Two {
    Two() {
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            seats[rank] = {.world = &world, .rank = rank};
            tollbar_p2p p2p = world.p2p(seats[rank]);
            p2p.error = [](void*) { return breaks ? 1 : 0; };
            tollbar_mpi_options options{};
            options.plan = "turnstile";
            REQUIRE(tollbar_mpi_begin_to_join(&p2p, &options, rank == 0 ? &queue.joining : &other) == 0);
        }
        queue.joined = [](tollbar_queue*, int failed) { result = failed; };
        ended = 0;
        result = -1;
        breaks = false;
    }
    ~Two() {
        tollbar_mpi_leave(queue.participant);
        tollbar_mpi_leave(others);
    }
    Two(const Two&) = delete;
    Two& operator=(const Two&) = delete;

    void begin(Barrier& barrier) {
        tollbar_take_lock();
        barrier.end = end;
        tollbar_pending_put_on(&barrier, &queue);
        tollbar_release_lock();
    }

    void other_goes_on(tollbar_patience patience = TOLLBAR_NEVER_BLOCKS) {
        if (other != nullptr && tollbar_mpi_go_on_joining(other, patience, &others_result, &others) != 0)
            other = nullptr;
    }

    /// Both go on until the meeting is over; how many barriers of the queue are.
    int meet() {
        int over = 0;
        for (int call = 0; call < 1000; ++call) {
            other_goes_on();
            over += tollbar_pending_advance();
        }
        return over;
    }

    static inline int result;   ///< of rank 0's meeting
    static inline bool breaks;  ///< the messages of both
    LocalWorld world{2};
    LocalWorld::Seat seats[2];
    tollbar_queue queue{};
    tollbar_mpi_joining* other = nullptr;
    tollbar_mpi_participant* others = nullptr;
    int others_result = -1;
};

}  // namespace

TEST_CASE("barriers behind the meeting arrive when it is over, in their order") {
    Two two;
    Barrier first{}, second{}, third{};
    for (Barrier* each : {&first, &second, &third}) two.begin(*each);
    for (int call = 0; call < 100; ++call) CHECK(tollbar_pending_advance() == 0);
    CHECK(Two::result == -1);
    CHECK(two.meet() == 1);
    CHECK(Two::result == 0);
    CHECK(first.number == 1);
    CHECK(first.failed == 0);
    tollbar_mpi_arrive(two.others, nullptr);
    CHECK(tollbar_pending_advance() == 1);
    CHECK(second.number == 2);
    tollbar_mpi_arrive(two.others, nullptr);
    CHECK(tollbar_pending_advance() == 1);
    CHECK(third.number == 3);
    CHECK(tollbar_queue_is_pending(&two.queue) == 0);
}

TEST_CASE("whoever waits for a barrier behind the meeting waits for both") {
    Two two;
    Barrier first{}, second{};
    for (Barrier* each : {&first, &second}) two.begin(*each);
    tollbar_pending_advance();
    std::thread thread([&] {
        two.other_goes_on(TOLLBAR_BLOCKS);
        tollbar_mpi_arrive(two.others, nullptr);
    });
    tollbar_queue_finish(&two.queue, &second);
    thread.join();
    CHECK(second.number == 2);
    CHECK(second.failed == 0);
}

TEST_CASE("nothing behind a meeting that fails stays pending") {
    Two two;
    Barrier first{}, second{};
    for (Barrier* each : {&first, &second}) two.begin(*each);
    CHECK(tollbar_pending_advance() == 0);
    Two::breaks = true;
    CHECK(tollbar_pending_advance() == 2);
    CHECK(Two::result == EIO);
    CHECK(first.failed == EIO);
    CHECK(second.failed == EIO);
    while (two.other != nullptr) two.other_goes_on();
    CHECK(two.others_result == EIO);
}
