// SPDX-License-Identifier: Apache-2.0
// The door under the sanitizers, called by its own names.
#include "doors/pthread/door.hpp"

#include "waiting/gate.hpp"
#include "doors/pthread/questions.hpp"
#include "doors/pthread/visits.hpp"

#include <tollbar/detail/cpus.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tollbar::detail;

namespace {

constexpr int rounds = TOLLBAR_SANITIZED ? 300 : 3000;

bool passes_as_serial(pthread_barrier_t* barrier) {
    const int result = pthread_door::wait(barrier, nullptr);
    if (result != 0 && result != PTHREAD_BARRIER_SERIAL_THREAD) FAIL("wait returned " << result);
    return result == PTHREAD_BARRIER_SERIAL_THREAD;
}

template <class Body>
void in_threads(unsigned threads, Body body) {
    std::vector<std::jthread> running;
    for (unsigned rank = 0; rank < threads; ++rank) running.emplace_back([=] { body(rank); });
}

std::set<const VisitSlot*> slots() {
    std::set<const VisitSlot*> all;
    for (const VisitSlot* slot = visits::newest(); slot != nullptr; slot = slot->next) all.insert(slot);
    return all;
}

/// The slot that a destructor finds that runs after its thread's slot was given back.
struct Farewell {
    std::atomic<int> times{0};
    std::atomic<int> own{0};
};

pthread_key_t key;

void look_at_slot(void* farewell) {
    auto& found = *static_cast<Farewell*>(farewell);
    if (visits::mine().thread() == gettid()) ++found.own;
    if (++found.times < 3) pthread_setspecific(key, farewell);
}

void wait_to_the_last(void* again) {
    visits::mine();
    pthread_setspecific(key, again);
}

}  // namespace

TEST_CASE("barriers are destroyed and their memory freed by the serial thread, again and again") {
    for (const unsigned threads : {2U, 3U, 5U}) {
        auto meeting = std::make_unique<pthread_barrier_t>();
        pthread_barrier_t apart;
        REQUIRE(pthread_door::init(meeting.get(), nullptr, threads) == 0);
        REQUIRE(pthread_door::init(&apart, nullptr, threads) == 0);
        in_threads(threads, [&](unsigned) {
            for (int round = 0; round < rounds; ++round) {
                if (passes_as_serial(meeting.get())) {
                    pthread_door::destroy(meeting.get());
                    meeting = std::make_unique<pthread_barrier_t>();
                    pthread_door::init(meeting.get(), nullptr, threads);
                }
                passes_as_serial(&apart);
            }
        });
        pthread_door::destroy(meeting.get());
        pthread_door::destroy(&apart);
    }
}

TEST_CASE("what is written before a wait is seen after it, and one thread of each phase is the serial one") {
    constexpr unsigned threads = 4;
    pthread_barrier_t barrier;
    REQUIRE(pthread_door::init(&barrier, nullptr, threads) == 0);
    std::array<std::array<int, threads>, 2> paid{};
    std::atomic<int> unpaid{0}, serial{0};
    in_threads(threads, [&](unsigned rank) {
        for (int round = 1; round <= rounds; ++round) {
            auto& tolls = paid[static_cast<std::size_t>(round % 2)];
            tolls[rank] = round;
            if (passes_as_serial(&barrier)) ++serial;
            for (const int toll : tolls)
                if (toll != round) ++unpaid;
        }
    });
    CHECK(unpaid == 0);
    CHECK(serial == rounds);
    pthread_door::destroy(&barrier);
}

TEST_CASE("threads that come one after the other use the same slot") {
    std::jthread([] { visits::mine(); }).join();
    const auto before = slots();
    for (int life = 0; life < 20; ++life) std::jthread([] { visits::mine(); }).join();
    CHECK(slots() == before);
}

TEST_CASE("a thread has a slot of its own in destructors that run after the slot was given back") {
    Farewell farewell;
    std::jthread([&] {
        visits::mine();
        REQUIRE(pthread_key_create(&key, look_at_slot) == 0);  // later than the door's, so its destructor runs later
        pthread_setspecific(key, &farewell);
    }).join();
    pthread_key_delete(key);
    CHECK(farewell.times == 3);
    CHECK(farewell.own == 3);
}

TEST_CASE("threads whose destructors wait to the very last use the same few slots") {
    REQUIRE(pthread_key_create(&key, wait_to_the_last) == 0);
    const auto life = [] {
        std::jthread([] {
            visits::mine();
            pthread_setspecific(key, &key);
        }).join();
    };
    for (int one = 0; one < 3; ++one) life();
    const auto before = slots();
    for (int one = 0; one < 50; ++one) life();
    pthread_key_delete(key);
    CHECK(slots() == before);
}

TEST_CASE("a gate takes the place of an object of glibc's, and is told apart from one") {
    pthread_barrier_t object;
    REQUIRE(pthread_barrier_init(&object, nullptr, 3) == 0);
    std::uint32_t kind = 0;
    std::memcpy(&kind, reinterpret_cast<const char*>(&object) + 12, sizeof kind);
    CHECK(kind != gate_kind(tollbar::Scope::process));
    CHECK(kind != gate_kind(tollbar::Scope::shared));
    pthread_barrier_destroy(&object);
    REQUIRE(pthread_door::init(&object, nullptr, 3) == 0);
    std::memcpy(&kind, reinterpret_cast<const char*>(&object) + 12, sizeof kind);
    CHECK(kind == gate_kind(tollbar::Scope::process));
    pthread_door::destroy(&object);
}

TEST_CASE("a gate is at leaves where several threads run on each CPU, and without them once it is destroyed") {
    const auto cpus = tollbar::detail::masked_cpus();
    pthread_barrier_t object;
    const auto kind = [&] {
        std::uint32_t found = 0;
        std::memcpy(&found, reinterpret_cast<const char*>(&object) + 12, sizeof found);
        return found;
    };
    REQUIRE(pthread_door::init(&object, nullptr, 2 * cpus) == 0);
    CHECK(kind() == (cpus > 1 ? kind_at_leaves : gate_kind(tollbar::Scope::process)));
    for (int times = 0; times < 2; ++times) {  // some programs destroy twice
        CHECK(pthread_door::destroy(&object) == 0);
        CHECK(kind() == gate_kind(tollbar::Scope::process));
    }
}

TEST_CASE("only children share private and anonymous memory; a file may be mapped by others") {
    int here = 0;
    CHECK(pthread_door::only_children_share(&here));
    CHECK(pthread_door::only_children_share(std::make_unique<int>().get()));
    void* anonymous = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(pthread_door::only_children_share(anonymous));
    const int file = memfd_create("shared", 0);
    REQUIRE(ftruncate(file, 4096) == 0);
    void* named = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK_FALSE(pthread_door::only_children_share(named));
    munmap(anonymous, 4096);
    CHECK_FALSE(pthread_door::only_children_share(anonymous));
    munmap(named, 4096);
    close(file);
}
