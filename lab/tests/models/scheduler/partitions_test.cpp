// SPDX-License-Identifier: Apache-2.0
// Partitions that are divided anew when an application arrives or completes: shares, moves and times, derived by hand.
#include "crowd.hpp"
#include "refusal.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

using namespace crowd;

namespace {

/// 4 threads, 40 barriers with 1 ms between them: 40 ms on 4 processors, 80 ms on 2.
Application small(double arrival_us = 0) {
    Application application = blocking("centralized", 1000);
    application.threads = 4;
    application.barriers = 40;
    application.arrival_us = arrival_us;
    return application;
}

Machine dynamic(std::uint32_t processors, double move_us = 0) {
    Machine on = free_switches(processors);
    on.policy = Policy::dynamic;
    on.move_us = move_us;
    return on;
}

std::vector<double> completed_ms(const Outcome& outcome) {
    std::vector<double> ms;
    for (const Completion& completion : outcome.applications) ms.push_back(completion.completed_us / 1000);
    return ms;
}

/// How many processors each application of so many threads has while all are there.
std::vector<std::uint32_t> shares(std::uint32_t processors, const std::vector<std::uint32_t>& threads) {
    std::vector<Application> applications;
    for (const std::uint32_t count : threads) {
        applications.push_back(small());
        applications.back().threads = count;
    }
    const Outcome outcome = simulate(dynamic(processors), applications, {.from_us = 0, .until_us = 500});
    std::vector<std::set<std::uint32_t>> had(threads.size());
    for (const Span& span : outcome.history)
        if (span.activity != Activity::idle) had[span.application].insert(span.processor);
    std::vector<std::uint32_t> sizes;
    for (const auto& of_one : had) sizes.push_back(static_cast<std::uint32_t>(of_one.size()));
    return sizes;
}

}  // namespace

TEST_CASE("a partition shrinks when another application arrives and grows when it has completed") {
    // Alone the first passes 10 barriers by 10 ms, then 30 at 2 ms each: 70 ms. By then the second has passed 30; the
    // last 10 take 1 ms each.
    const Outcome outcome = simulate(dynamic(4), {small(), small(10000)});
    CHECK(completed_ms(outcome) == std::vector<double>{70, 80});
    for (const Completion& each : outcome.applications) {
        CHECK(each.fewest_processors == 2);
        CHECK(each.most_processors == 4);
        CHECK(each.most_threads == 2);
        CHECK(each.moves == 2);
        CHECK(each.floor_us == 40000);
    }
}

TEST_CASE("a thread whose processor is taken goes on with what is left of its computing") {
    // At 10.5 ms each has 0.5 ms left: two go on until 11, then the two that moved until 11.5; 29 barriers take 2 ms.
    CHECK(completed_ms(simulate(dynamic(4), {small(), small(10500)})).front() == 69.5);
}

TEST_CASE("a thread that has moved takes longer to be switched to, once") {
    // At 10 ms two threads move and cost 0.5 ms each, side by side: the first completes at 70.5. Two threads of the
    // second have half of their computing left then; they are switched to until 71 and compute until 71.5, as the two
    // that stay do. 9 barriers of 1 ms are left.
    const Outcome outcome = simulate(dynamic(4, 500), {small(), small(10000)});
    CHECK(completed_ms(outcome) == std::vector<double>{70.5, 80.5});
    CHECK(outcome.switching_us == 4 * 500);
}

TEST_CASE("shares are equal, who came first has one more, and nobody has more processors than threads") {
    CHECK(shares(8, {16, 16}) == std::vector<std::uint32_t>{4, 4});
    CHECK(shares(8, {16, 16, 16}) == std::vector<std::uint32_t>{3, 3, 2});
    CHECK(shares(8, {2, 16, 16}) == std::vector<std::uint32_t>{2, 3, 3});
    CHECK(shares(8, {16, 1, 2}) == std::vector<std::uint32_t>{5, 1, 2});
    CHECK(shares(3, {16, 16, 16}) == std::vector<std::uint32_t>{1, 1, 1});
    CHECK(shares(8, {4, 2, 2}) == std::vector<std::uint32_t>{4, 2, 2});
}

TEST_CASE("while nobody comes or goes changing partitions are fixed ones") {
    for (const char* const barrier : {"centralized", "tree", "combination"})
        for (const Waiting waiting : {Waiting::spin, Waiting::smart, Waiting::naive}) {
            Application application = small();
            application.barrier = barrier;
            application.waiting = waiting;
            const auto history = [&](Policy policy) {
                Machine on = machine(4);
                on.policy = policy;
                std::vector<std::tuple<std::uint32_t, Activity, std::uint32_t, std::uint32_t, double>> all;
                for (const Span& span :
                     simulate(on, {application, application}, {.from_us = 0, .until_us = 50000}).history)
                    all.emplace_back(span.processor, span.activity, span.application, span.thread, span.until_us);
                return all;
            };
            CHECK(history(Policy::dynamic).size() > 20);
            CHECK((history(Policy::dynamic) == history(Policy::partition)));
        }
}

TEST_CASE("threads are spread evenly after each change") {
    for (const std::uint32_t processors : {3u, 5u, 8u})
        for (const std::uint32_t threads : {5u, 8u, 16u}) {
            Application first = small();
            first.threads = threads;
            first.barriers = 200;
            const Outcome outcome = simulate(dynamic(processors), {first, small(9000), small(15300)});
            CAPTURE(processors);
            CAPTURE(threads);
            const Completion& of_first = outcome.applications[0];
            const std::uint32_t least = of_first.fewest_processors;
            CHECK(of_first.most_threads == (threads + least - 1) / least);
            CHECK(of_first.computing_us == doctest::Approx(threads * 200 * 1000.0));
            CHECK(of_first.most_processors == std::min(threads, processors));
        }
}

TEST_CASE("applications that cannot have a processor each are refused, as are placements and neighbours") {
    const auto refused = [](const Machine& on, const std::vector<Application>& applications) {
        return refusal([&] { simulate(on, applications); });
    };
    CHECK(refused(dynamic(2), {small(), small(), small()}) ==
          "3 applications need a processor each, the machine has 2");
    Application given = small();
    given.placement = Placement::given;
    given.processor_of = {0, 0, 1, 1};
    CHECK(refused(dynamic(2), {given}) == "where partitions change no placement can be given; it is cyclic or block");
    Application sized = small();
    sized.processors = 2;
    CHECK(refused(dynamic(2), {sized}) == "only the policy partition gives an application processors of its own");
    Machine beside = dynamic(2);
    beside.neighbours = 1;
    CHECK(refused(beside, {small()}) == "neighbours live on processors; partitions that change have none of their own");
    Machine fixed = machine(2);
    fixed.move_us = 1;
    CHECK(refused(fixed, {small()}) == "only the policy dynamic moves threads to other processors");
    CHECK(refused(dynamic(2, -1), {small()}) == "moving a thread is a time from 0 to 1e12 us, not -1");
}
