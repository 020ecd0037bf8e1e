// SPDX-License-Identifier: Apache-2.0
// Participants: time-outs that name who is missing and can be resumed, split phase, moving, leaving, coming back.
#include "toll.hpp"

#include "base/environment.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <latch>
#include <thread>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;
using namespace std::chrono_literals;

namespace {

std::string plans_text(const std::vector<absent>& missing) {
    std::string text;
    for (const absent& one : missing) text += to_text(one) + "; ";
    return text;
}

std::string in_this_process() {
    return "(process " + std::to_string(getpid()) + ", thread " + std::to_string(gettid()) + ")";
}

}  // namespace

TEST_CASE("a timed wait tells who never came, who left and who is late") {
    for (const std::string& plan : spellings(4)) {
        CAPTURE(plan);
        group group(4, {.plan = plan});
        participant self = group.join(0);
        participant late = group.join(1);
        { const participant leaving = group.join(2); }
        self.arrive();
        const wait_result result = self.wait_for(0ms);
        CHECK_FALSE(result);
        CHECK(plans_text(result.missing) == "rank 1 " + in_this_process() + " has not arrived; rank 2 " +
                                                in_this_process() + " has left; rank 3 has not joined; ");
        CHECK(result.missing.front().behind == 1);
        CHECK(plans_text(late.missing()).empty());  // nobody is behind it
        CHECK(ranks_of(group.missing()) == std::vector<Rank>{1, 2, 3});
    }
}

TEST_CASE("nobody is missing before the first episode and after the last") {
    group group(2, {.plan = "turnstile"});
    CHECK(group.missing().empty());
    participant a = group.join(0);
    participant b = group.join(1);
    CHECK(a.missing().empty());
    CHECK(a.episode() == 0);
    a.arrive();
    b.arrive();
    CHECK(a.test());
    CHECK(b.test());
    CHECK(group.missing().empty());
    CHECK(a.episode() == 1);
}

TEST_CASE("a rank that is several episodes behind is told how many") {
    group group(2, {.plan = "dissemination"});
    participant a = group.join(0);
    participant b = group.join(1);
    for (int episode = 0; episode < 3; ++episode) {
        a.arrive();
        b.arrive();
        CHECK(a.test());
        CHECK(b.test());
    }
    a.arrive();
    CHECK(group.missing().front().behind == 1);
    CHECK(group.missing().front().rank == 1);
}

TEST_CASE("a participant keeps its place when it is moved, inside an episode too") {
    for (const std::string& plan : spellings(2)) {
        CAPTURE(plan);
        group group(2, {.plan = plan});
        participant a = group.join(0);
        participant b = group.join(1);
        a.arrive();
        participant moved(std::move(a));
        CHECK_FALSE(moved.test());
        b.arrive();
        participant other = std::move(b);
        for (bool first = false, second = false; !first || !second;) {
            first = moved.test();
            second = other.test();
        }
        CHECK(moved.rank() == 0);
        CHECK(moved.episode() == 1);
    }
}

TEST_CASE("assigning to a participant gives its own rank up first") {
    group group(3, {.plan = "turnstile"});
    participant a = group.join(0);
    a = group.join(1);
    CHECK(a.rank() == 1);
    const participant again = group.join(0);
    CHECK(thrown_by([&] { group.join(1); }).find("rank 1 of the group is taken by process") == 0);
    participant& same = a;
    a = std::move(same);
    CHECK(a.rank() == 1);
    CHECK(thrown_by([&] { group.join(1); }).find("is taken") != std::string::npos);
}

TEST_CASE("a rank given up between episodes goes on in another thread where it was") {
    for (const std::string& plan : spellings(2)) {
        CAPTURE(plan);
        group group(2, {.plan = plan, .wait = wait_policy::park});
        std::uint64_t passed_on = 0;  // plain: the rank's holders are ordered
        std::thread partner([&] {
            participant self = group.join(1);
            for (int episode = 0; episode < 30; ++episode) self.arrive_and_wait();
        });
        for (int holder = 0; holder < 3; ++holder) {
            std::thread([&] {
                participant self = group.join(0);
                CHECK(self.episode() == passed_on);
                for (int episode = 0; episode < 10; ++episode) self.arrive_and_wait();
                passed_on = self.episode();
            }).join();
        }
        partner.join();
        CHECK(passed_on == 30);
    }
}

TEST_CASE("a rank given up inside an episode is refused afterwards, and named") {
    group group(2, {.plan = "dissemination"});
    participant a = group.join(0);
    {
        participant b = group.join(1);
        b.arrive();
    }
    CHECK(thrown_by([&] { group.join(1); }) ==
          "rank 1 of the group was given up in the middle of an episode; the group must be made anew");
    CHECK(plans_text(group.missing()) ==
          "rank 0 " + in_this_process() + " has not arrived; rank 1 " + in_this_process() + " has left; ");
    a.arrive();
    CHECK(plans_text(a.missing()) == "rank 1 " + in_this_process() + " has left; ");
}

TEST_CASE("a rank that is taken, and one that does not exist, are refused by name") {
    group group(3, {.plan = "mcs"});
    const participant self = group.join(2);
    CHECK(thrown_by([&] { group.join(2); }) == "rank 2 of the group is taken by process " + std::to_string(getpid()));
    CHECK(thrown_by([&] { group.join(3); }) == "the group has ranks 0..2, no rank 3");
    CHECK(thrown_by([&] { group.join(~Rank{0}); }) == "the group has ranks 0..2, no rank 4294967295");
}

TEST_CASE("anybody may ask who is missing at any time, while others join, leave and pass") {
    constexpr Rank ranks = 3;
    group group(ranks, {.plan = "combination:2", .scope = Scope::process});
    std::atomic<bool> done{false};
    std::uint64_t asked = 0;
    std::thread asking([&] {
        for (; !done.load(std::memory_order_relaxed); ++asked)
            for (const absent& one : group.missing()) {
                CHECK(one.rank < ranks);
                CHECK(one.behind <= 1);
                CHECK(one.where != absent::state::dead);
            }
    });
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&group, rank] {
            for (int visit = 0; visit < 20; ++visit) {
                participant self = group.join(rank);
                for (int episode = 0; episode < 10; ++episode) self.arrive_and_wait();
            }
        });
    for (std::thread& thread : threads) thread.join();
    done = true;
    asking.join();
    CHECK(asked > 0);
}

TEST_CASE("a group may be destroyed as soon as everybody has left, and everybody may leave at once") {
    for (const std::string& plan : spellings(4))
        for (const wait_policy wait : all_policies) {
            CAPTURE(plan);
            CAPTURE(name_of(wait));
            std::vector<std::thread> threads;
            std::latch joined(5);  // outlives the group: a thread may still be inside it when the group is destroyed
            {
                group group(4, {.plan = plan, .wait = wait});
                for (Rank rank = 0; rank < 4; ++rank)
                    threads.emplace_back([&, rank] {
                        participant self = group.join(rank);
                        joined.arrive_and_wait();  // the last use of what is not the participant's own
                        self.arrive_and_wait();
                    });
                joined.arrive_and_wait();
            }
            for (std::thread& thread : threads) thread.join();
        }
}

TEST_CASE("a deadline on any clock, near or far, lets an episode end that is over") {
    group group(1, {.plan = "turnstile"});
    participant self = group.join(0);
    const auto ends = [&](auto wait) {
        self.arrive();
        return static_cast<bool>(wait());
    };
    CHECK(ends([&] { return self.wait_for(std::chrono::hours::min()); }));
    CHECK(ends([&] { return self.wait_for(std::chrono::hours::max()); }));
    CHECK(ends([&] { return self.wait_until(std::chrono::system_clock::time_point::max()); }));
    CHECK(ends([&] { return self.wait_until(std::chrono::steady_clock::time_point::min()); }));
}

TEST_CASE("a wait for ever with a deadline far away is a wait") {
    for (const wait_policy wait : all_policies) {
        group group(2, {.plan = "turnstile", .wait = wait});
        std::thread other([&] {
            participant self = group.join(1);
            self.arrive();
            CHECK(self.wait_for(std::chrono::hours::max()));
        });
        participant self = group.join(0);
        while (group.missing().empty()) std::this_thread::yield();  // until the other has arrived
        self.arrive();
        CHECK(self.wait_until(std::chrono::system_clock::time_point::max()));
        other.join();
    }
}
