// SPDX-License-Identifier: Apache-2.0
// Checked builds name the wrong call and stop.
#include <tollbar/barrier.hpp>
#include <tollbar/participant.hpp>

#include "child.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

using tollbar::testing::in_child;
using tollbar::testing::Outcome;

namespace {

#ifdef TOLLBAR_CHECKED
constexpr bool checked = true;
#else
constexpr bool checked = false;
#endif

/// How a program ends that does that with one rank of a group of two.
template <class Action>
Outcome with_participant(Action action) {
    return in_child([&] {
        tollbar::group pair(2, {.plan = "turnstile"});
        tollbar::participant self = pair.join(1);
        action(self);
    });
}

template <class Action>
Outcome with_barrier(Action action) {
    return in_child([&] {
        int completions = 0;
        tollbar::barrier barrier(2, [&]() noexcept { ++completions; });
        action(barrier);
    });
}

void check_named(const Outcome& outcome, const std::string& line) {
    CHECK(outcome.aborted());
    CHECK(outcome.said == "tollbar: " + line + "\n");
}

}  // namespace

TEST_SUITE("checked builds" * doctest::skip(!checked)) {
    TEST_CASE("arriving twice in one episode is named") {
        check_named(with_participant([](auto& self) {
                        self.arrive();
                        self.arrive();
                    }),
                    "rank 1: arrive twice in one episode");
        check_named(with_participant([](auto& self) {
                        self.arrive();
                        self.arrive_and_wait();
                    }),
                    "rank 1: arrive twice in one episode");
    }

    TEST_CASE("waiting or testing without having arrived is named") {
        check_named(with_participant([](auto& self) { self.wait(); }), "rank 1: wait without arrive");
        check_named(with_participant([](auto& self) { static_cast<void>(self.test()); }),
                    "rank 1: test without arrive");
        check_named(with_participant([](auto& self) { static_cast<void>(self.wait_for(std::chrono::seconds(0))); }),
                    "rank 1: timed wait without arrive");
    }

    TEST_CASE("arriving at a barrier more often than its phase expects is named") {
        check_named(with_barrier([](auto& barrier) { static_cast<void>(barrier.arrive(3)); }),
                    "barrier: arrive(3) where the phase expects 2 more");
        check_named(with_barrier([](auto& barrier) {
                        static_cast<void>(barrier.arrive());
                        static_cast<void>(barrier.arrive(2));
                    }),
                    "barrier: arrive(2) where the phase expects 1 more");
        check_named(with_barrier([](auto& barrier) { static_cast<void>(barrier.arrive(0)); }),
                    "barrier: arrive(0) where the phase expects 2 more");
        check_named(with_barrier([](auto& barrier) { static_cast<void>(barrier.arrive(-1)); }),
                    "barrier: arrive(-1) where the phase expects 2 more");
    }

    TEST_CASE("a barrier that cannot be is named") {
        check_named(in_child([] { tollbar::barrier barrier(-1); }),
                    "barrier: expects -1 arrivals a phase, where 0 to 2147483647 are possible");
    }

    TEST_CASE("arriving from inside the completion is named") {
        const Outcome outcome = in_child([] {
            tollbar::barrier<void (*)()>* self = nullptr;
            static auto arrive_again = [&self] { static_cast<void>(self->arrive()); };
            tollbar::barrier<void (*)()> barrier(1, [] { arrive_again(); });
            self = &barrier;
            static_cast<void>(barrier.arrive());
        });
        check_named(outcome, "barrier: arrive(1) where the phase expects 0 more");
    }
}

TEST_CASE("right use is left alone") {
    tollbar::group alone(1, {.plan = "turnstile"});
    tollbar::participant self = alone.join(0);
    for (int i = 0; i < 3; ++i) {
        self.arrive();
        CHECK(self.test());
        CHECK(self.test());  // again does no harm
        self.arrive();
        CHECK(self.wait_for(std::chrono::seconds(0)));
        self.wait();
        self.arrive();
        self.wait();
        self.arrive_and_wait();
    }
    tollbar::barrier barrier(4);
    static_cast<void>(barrier.arrive(3));
    static_cast<void>(barrier.arrive());
    static_cast<void>(barrier.arrive(4));
}
