// SPDX-License-Identifier: Apache-2.0
// What a participant over UDP promises beyond the suite of all transports.
#include "harness.hpp"
#include "refusal.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <latch>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;
using namespace std::chrono_literals;

namespace {

/// One thread destroys them one after the other, so nobody lingers for long.
constexpr udp_options brief{.key = a_key, .linger = 5ms};

std::vector<udp_participant> group_of(const Plan& plan, udp_options options = brief) {
    Endpoints endpoints(plan.ranks());
    std::vector<udp_participant> all;
    for (Rank rank = 0; rank < plan.ranks(); ++rank) all.push_back(endpoints.join(plan, rank, options));
    return all;
}

/// One thread looks at each of them until all have left.
void all_leave(std::vector<udp_participant>& all) {
    std::size_t left = 0;
    for (std::vector<bool> out(all.size()); left < all.size();)
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (out[i] || !all[i].test()) continue;
            out[i] = true;
            ++left;
        }
}

}  // namespace

TEST_CASE("who waits names exactly who has not arrived, whatever the plan") {
    for (const char* plan : {"central", "mcs", "dissemination", "pairwise"}) {
        CAPTURE(plan);
        auto all = group_of(make_plan(plan, 5));
        std::vector<std::vector<Rank>> named(5);
        {
            std::vector<std::jthread> waiting;
            for (const Rank rank : {0U, 1U, 3U, 4U})
                waiting.emplace_back([&, rank] {
                    all[rank].arrive();
                    while (named[rank] != std::vector<Rank>{2}) named[rank] = all[rank].wait_for(20ms).missing;
                });
        }
        std::vector<std::jthread> leaving;
        for (udp_participant& one : all)
            leaving.emplace_back([&] {
                if (one.rank() == 2) one.arrive();
                one.wait();
                CHECK(one.missing().empty());
            });
    }
}

TEST_CASE("whoever waits for a process that was killed names its rank") {
    const Plan plan = make_plan("dissemination", 3);
    Endpoints endpoints(3);
    const pid_t process = fork();
    if (process == 0) {
        udp_participant self = endpoints.join(plan, 2, brief);
        self.arrive_and_wait();
        pause();
        _exit(0);
    }
    std::vector<std::jthread> waiting;
    std::latch met(2);
    for (const Rank rank : {0U, 1U})
        waiting.emplace_back([&, rank] {
            udp_participant self = endpoints.join(plan, rank, brief);
            self.arrive_and_wait();
            met.arrive_and_wait();
            kill(process, SIGKILL);
            self.arrive();
            while (self.wait_for(20ms).missing != std::vector<Rank>{2}) continue;
        });
    waiting.clear();
    waitpid(process, nullptr, 0);
}

TEST_CASE("a rank that computes answers who has lost a frame of its") {
    const Plan plan = make_plan("pairwise", 2);
    Endpoints endpoints(2);
    udp_participant here = endpoints.join(plan, 0, brief);
    {
        // Nobody is at this rank's address yet: what the other tells it is lost.
        const udp_endpoint taken = std::exchange(endpoints.endpoints[1], udp_endpoint("127.0.0.1:0"));
        here.arrive();
        CHECK_FALSE(here.test());
    }
    udp_participant there(udp_endpoint(endpoints.addresses[1]), plan, 1, endpoints.addresses, brief);
    there.arrive();
    there.wait();  // rank 0 is in no call
    here.wait();
}

TEST_CASE("a rank that leaves has answered for the last episode") {
    for (int i = 0; i < 20; ++i) {
        const Plan plan = make_plan("mcs", 3);
        Endpoints endpoints(3);
        std::vector<std::jthread> threads;
        for (Rank rank = 0; rank < 3; ++rank)
            threads.emplace_back([&endpoints, &plan, rank] { endpoints.join(plan, rank).arrive_and_wait(); });
    }
}

TEST_CASE("groups of one process do not meet each other's ranks") {
    const Plan plan = make_plan("dissemination", 3);
    auto one = group_of(plan, {.key = a_key, .group = 1, .linger = 5ms});
    auto other = group_of(plan, {.key = a_key, .group = 2, .linger = 5ms});
    for (Episode episode = 0; episode < 3; ++episode) {
        for (udp_participant& each : one) each.arrive();
        all_leave(one);
        for (udp_participant& each : other) {
            CHECK(each.episode() == episode);
            each.arrive();
        }
        all_leave(other);
    }
}

TEST_CASE("what does not fit is refused") {
    const Plan plan = make_plan("central", 2);
    const auto refused = [&](Rank rank, std::vector<std::string> addresses) {
        return refusal([&] { udp_participant(udp_endpoint("127.0.0.1:0"), plan, rank, addresses, {.key = 1}); });
    };
    CHECK(refused(0, {"127.0.0.1:1"}) == "there are 1 addresses for 2 ranks");
    CHECK(refused(2, {"127.0.0.1:1", "127.0.0.1:2"}) == "there is no rank 2 of 2");
    CHECK(refused(0, {"127.0.0.1:1", "127.0.0.1:1"}) == "two ranks have the address 127.0.0.1:1");
    CHECK(refused(0, {"127.0.0.1", "127.0.0.1:1"}) == "'127.0.0.1' is not an address of the form HOST:PORT");
    CHECK(refusal([] { udp_endpoint("127.0.0.1:65536"); }) != "accepted");
}
