// SPDX-License-Identifier: Apache-2.0
// Waiters sleep and stay asleep, and are all woken.
#include "toll.hpp"

#include "base/environment.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <fstream>
#include <pthread.h>
#include <sys/time.h>
#include <thread>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;
using namespace std::chrono_literals;

namespace {

struct ThreadLife {
    char state;            ///< as proc(5) calls it; 'S' sleeps
    std::uint64_t cpu_ns;  ///< time on a CPU so far
};

ThreadLife life_of_thread(pid_t thread) {
    const std::string folder = "/proc/self/task/" + std::to_string(thread);
    std::string stat;
    std::getline(std::ifstream(folder + "/stat"), stat);
    ThreadLife life{stat.at(stat.rfind(')') + 2), 0};
    std::ifstream(folder + "/schedstat") >> life.cpu_ns;
    return life;
}

/// Waiters in threads of their own; rank 0 is the test's to be late with.
class Waiters {
public:
    Waiters(Rank ranks, const std::string& plan, wait_policy wait)
        : group_(ranks, {.plan = plan, .wait = wait}), late_(group_.join(0)), numbers_(ranks) {
        for (Rank rank = 1; rank < ranks; ++rank)
            threads_.emplace_back([this, rank] {
                participant self = group_.join(rank);
                numbers_[rank].store(gettid(), std::memory_order_release);
                self.arrive_and_wait();
            });
    }

    void all_are_asleep() const {
        for (Rank rank = 1; rank < numbers_.size(); ++rank) {
            while (numbers_[rank].load(std::memory_order_acquire) == 0) std::this_thread::sleep_for(1ms);
            while (life_of_thread(numbers_[rank]).state != 'S') std::this_thread::sleep_for(1ms);
        }
    }

    std::uint64_t cpu_ns() const {
        std::uint64_t sum = 0;
        for (Rank rank = 1; rank < numbers_.size(); ++rank) sum += life_of_thread(numbers_[rank]).cpu_ns;
        return sum;
    }

    void wake() {
        late_.arrive_and_wait();
        for (std::thread& thread : threads_) thread.join();
    }

private:
    group group_;
    participant late_;
    std::vector<std::atomic<pid_t>> numbers_;
    std::vector<std::thread> threads_;
};

std::atomic<int> interruptions{0};

}  // namespace

TEST_CASE("waiters fall asleep, and the late rank wakes them all") {
    for (const wait_policy wait : {wait_policy::automatic, wait_policy::park})
        for (const std::string& plan : spellings(8)) {
            CAPTURE(plan);
            CAPTURE(name_of(wait));
            Waiters waiters(8, plan, wait);
            waiters.all_are_asleep();  // or this test never ends
            waiters.wake();
        }
}

TEST_CASE("64 waiters need next to no CPU while they wait for half a second") {
    for (const wait_policy wait : {wait_policy::automatic, wait_policy::park})
        for (const char* plan : {"turnstile", "combination", "dissemination", "mcs"}) {
            CAPTURE(plan);
            Waiters waiters(65, plan, wait);
            waiters.all_are_asleep();
            const std::uint64_t before = waiters.cpu_ns();
            std::this_thread::sleep_for(500ms);
            CHECK(waiters.cpu_ns() - before <= 50'000'000);
            waiters.wake();
        }
}

TEST_CASE("sleepers survive a storm of signals") {
    struct sigaction handler {};
    handler.sa_handler = [](int) { interruptions.fetch_add(1, std::memory_order_relaxed); };
    struct sigaction before {};
    sigaction(SIGALRM, &handler, &before);  // without SA_RESTART: sleeps end with EINTR
    const itimerval storm{.it_interval = {0, 200}, .it_value = {0, 200}};
    setitimer(ITIMER_REAL, &storm, nullptr);
    for (const char* plan : {"turnstile", "combination:2", "dissemination", "mcs"})
        for (const wait_policy wait : {wait_policy::automatic, wait_policy::park}) {
            CAPTURE(plan);
            const int at_least = interruptions.load() + 50;
            ThreadHarness harness(group(5, {.plan = plan, .wait = wait}));
            do CHECK(complaints(harness, {0, 4}, {.episodes = 20, .late_every = 1, .mixed = true}).empty());
            while (interruptions.load() < at_least);
        }
    const itimerval calm{};
    setitimer(ITIMER_REAL, &calm, nullptr);
    sigaction(SIGALRM, &before, nullptr);
}

TEST_CASE("1500 threads meet") {
    constexpr Rank ranks = 1500;
    for (const char* plan : {"turnstile", "combination", "dissemination", "mcs"}) {
        CAPTURE(plan);
        group group(ranks, {.plan = plan});
        struct Visit {
            tollbar::group* group;
            Rank rank;
            std::vector<std::uint8_t>* tolls;
            std::uint64_t unpaid;
        };
        std::vector<std::uint8_t> tolls(ranks, 0);
        std::vector<Visit> visits;
        for (Rank rank = 0; rank < ranks; ++rank) visits.push_back({&group, rank, &tolls, 0});
        pthread_attr_t small;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 128 << 10);
        std::vector<pthread_t> threads(ranks);
        for (Rank rank = 0; rank < ranks; ++rank)
            REQUIRE(pthread_create(
                        &threads[rank], &small,
                        [](void* argument) -> void* {
                            Visit& visit = *static_cast<Visit*>(argument);
                            participant self = visit.group->join(visit.rank);
                            (*visit.tolls)[visit.rank] = 1;
                            self.arrive_and_wait();
                            for (const std::uint8_t toll : *visit.tolls) visit.unpaid += toll == 1 ? 0 : 1;
                            self.arrive_and_wait();
                            return nullptr;
                        },
                        &visits[rank]) == 0);
        for (const pthread_t thread : threads) pthread_join(thread, nullptr);
        pthread_attr_destroy(&small);
        CHECK(std::ranges::all_of(visits, [](const Visit& visit) { return visit.unpaid == 0; }));
    }
}
