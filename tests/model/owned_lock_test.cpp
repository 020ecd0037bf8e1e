// SPDX-License-Identifier: Apache-2.0
// The lock with an owner under the model checker: threads count in a variable that is no atomic.
#include <doctest/doctest.h>

#include "waiting/owned_lock.hpp"
#include "relacy_sync.hpp"

#include <cstdint>
#include <memory>
#include <string>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::model;

namespace {

struct LockSync : RelacySync {
    static void nap_until(Deadline) noexcept {}
};

/// Each thread takes the lock so often: which of them comes first and owns it is the checker's choice.
class Counting : public Scenario {
public:
    Counting(unsigned threads, std::uint64_t times, bool shared) : threads_(threads), times_(times) {
        counted_(RL_INFO) = 0;
        if (shared) lock_.share();
    }

    void run(unsigned self) override {
        for (std::uint64_t i = 0; i < times_; ++i) {
            const bool owned = lock_.lock(self + 1);
            const std::uint64_t seen = counted_(RL_INFO);
            counted_(RL_INFO) = seen + 1;
            if (seen + 1 > threads_ * times_) RL_ASSERT(false);
            lock_.unlock(owned);
        }
    }

private:
    std::uint64_t threads_, times_;
    OwnedLock<LockSync> lock_;
    rl::var<std::uint64_t> counted_;
};

MakeScenario make_counting(unsigned threads, std::uint64_t times, bool shared = false) {
    return [=]() -> std::unique_ptr<Scenario> { return std::make_unique<Counting>(threads, times, shared); };
}

}  // namespace

TEST_CASE("one thread at a time has the lock, whoever owned it") {
    for (unsigned threads = 2; threads <= max_threads; ++threads)
        for (const bool shared : {false, true})
            CHECK(finds(Finding::clean, "lock, " + std::to_string(threads) + " threads" + (shared ? ", shared" : ""),
                        threads, make_counting(threads, 3, shared), {Search::random, 20'000}));
}

TEST_CASE("no interleaving with few switches breaks it") {
    CHECK(finds(Finding::clean, "lock, 2 threads, 3 switches", 2, make_counting(2, 3), {Search::bounded, 3}));
}

TEST_CASE("a lock without one of its fences is broken") {
    for (const Weakening& weaker : {Weakening{.light_fence = true}, Weakening{.heavy_fence = true},
                                    Weakening{.load_acquire = true}, Weakening{.store_release = true}})
        CHECK(finds(Finding::unpaid, "mutant: lock", 2, make_counting(2, 3), {Search::random, 100'000}, weaker));
}
