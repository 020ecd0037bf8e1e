// SPDX-License-Identifier: Apache-2.0
// How the NIC timing model behaves beyond the golden rows: time lines, queues, other plans, lateness, seeds.
#include <tollbar/algorithms.hpp>
#include <tollbar/models/nic.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

using namespace tollbar;
using namespace tollbar::nic_model;

namespace {

const Parameters nic{
    .send_us = 1, .sdma_us = 10, .xmit_us = 30, .network_us = 20, .recv_us = 40, .rdma_us = 100, .hrecv_us = 2};

std::vector<Span> line_of_rank_0(Where where) {
    std::vector<Span> spans;
    for (const Span& span : simulate(make_plan("pairwise", 2), where, nic, {}, 100).history)
        if (span.rank == 0) spans.push_back(span);
    return spans;
}

bool is(const Span& span, Stage stage, double from_us, double until_us) {
    return span.stage == stage && span.from_us == from_us && span.until_us == until_us;
}

}  // namespace

TEST_CASE("the time line of a host-based step is that of Figure 2a") {
    const std::vector<Span> line = line_of_rank_0(Where::host);
    REQUIRE(line.size() == 6);
    CHECK(is(line[0], Stage::send, 0, 1));
    CHECK(is(line[1], Stage::sdma, 1, 11));
    CHECK(is(line[2], Stage::xmit, 11, 41));
    CHECK(is(line[3], Stage::recv, 31, 71));
    CHECK(is(line[4], Stage::rdma, 71, 171));
    CHECK(is(line[5], Stage::hrecv, 171, 173));
}

TEST_CASE("the time line of a NIC-based step is that of Figure 2b") {
    const std::vector<Span> line = line_of_rank_0(Where::nic);
    REQUIRE(line.size() == 5);
    CHECK(is(line[0], Stage::send, 0, 1));
    CHECK(is(line[1], Stage::xmit, 1, 31));
    CHECK(is(line[2], Stage::recv, 21, 61));
    CHECK(is(line[3], Stage::rdma, 61, 161));
    CHECK(is(line[4], Stage::hrecv, 161, 163));
}

TEST_CASE("messages to one node queue at its receive port, messages from one node at its send port") {
    const Outcome outcome = simulate(make_plan("central", 4), Where::nic, nic);
    // Three are received one after another from 21 on; then three leave, the last from 201 on.
    CHECK(outcome.last_us == 1 + 20 + 3 * 40 + 2 * 30 + 20 + 40 + 100 + 2);
    CHECK(outcome.first_us == 1 + 20 + 3 * 40 + 100 + 2);  // the root, whose last message may still be on its way
    CHECK(outcome.messages == 6);
}

TEST_CASE("a switch takes one message after the other and lets all go by one broadcast") {
    for (const char* name : {"switch", "card:gather"}) {
        const Outcome outcome = simulate(make_plan(name, 4), Where::nic, nic);
        CHECK(outcome.last_us == 1 + 20 + 4 * 40 + 20 + 40 + 100 + 2);
        CHECK(outcome.first_us == outcome.last_us);
        CHECK(outcome.messages == 8);
        CHECK(outcome.barriers == 1);
    }
    const Workload thrice{.compute_us = {0}, .runs = 3};
    CHECK(simulate(make_plan("switch", 4), Where::nic, nic, thrice).last_us == 3 * (1 + 20 + 4 * 40 + 20 + 40 + 102));
}

TEST_CASE("a counter has two steps") {
    const Steps counted = steps(make_plan("card:gather", 5));
    CHECK(counted.total == 2);
    CHECK(counted.of_rank == std::vector<std::uint32_t>(5, 2));
}

TEST_CASE("every plan of the catalogue ends at every size, on the host and on the NIC") {
    for (const Algorithm& algorithm : catalogue())
        for (Rank nodes = 1; nodes <= 20; ++nodes) {
            const Plan plan = make_plan(algorithm.name, nodes);
            CAPTURE(plan.name());
            CAPTURE(nodes);
            const Workload twice{.compute_us = {3, 5}, .variation = 0.5, .runs = 2};
            const double host_us = simulate(plan, Where::host, nic, twice).last_us;
            const double nic_us = simulate(plan, Where::nic, nic, twice).last_us;
            CHECK(nic_us <= host_us);
            if (nodes > 1) CHECK(nic_us > 8 + 2 * nic.nic_fixed_us());
            if (nodes == 1) CHECK(nic_us == host_us);  // nothing but computing
        }
}

TEST_CASE("nobody is through before the last has come") {
    const Plan plan = make_plan("dissemination", 5);
    for (const Where where : {Where::host, Where::nic})
        for (Rank late = 0; late < 5; ++late) {
            Workload workload;
            workload.late_us.assign(5, 0);
            workload.late_us[late] = 10000;
            CHECK(simulate(plan, where, nic, workload).first_us > 10000);
        }
}

TEST_CASE("one late node delays everybody by its lateness, host-based and NIC-based alike") {
    const Plan plan = make_plan("pairwise", 8);
    Workload workload;
    workload.late_us.assign(8, 0);
    workload.late_us[5] = 5000;
    for (const Where where : {Where::host, Where::nic})
        CHECK(simulate(plan, where, nic, workload).last_us ==
              doctest::Approx(5000 + simulate(plan, where, nic).last_us).epsilon(1e-12));
}

TEST_CASE("the same seed gives the same times, another seed others") {
    const Plan plan = make_plan("pairwise", 6);
    const auto last_us = [&](std::uint64_t seed) {
        const Workload loop{.compute_us = {100}, .variation = 0.2, .runs = 20, .seed = seed};
        return simulate(plan, Where::nic, nic, loop).last_us;
    };
    CHECK(last_us(1) == last_us(1));
    CHECK(last_us(1) != last_us(2));
}

TEST_CASE("a watcher is told how far it is and may end the simulation") {
    const Workload loop{.runs = 1000};
    std::uint64_t looks = 0;
    const Watch count = [&](const Progress& progress) {
        ++looks;
        CHECK(progress.total == 16000);
        CHECK(progress.passed < progress.total);
    };
    simulate(make_plan("pairwise", 16), Where::host, nic, loop, 0, count);
    CHECK(looks > 0);
    const Watch stop = [](const Progress&) { throw std::runtime_error("enough"); };
    CHECK_THROWS_WITH(simulate(make_plan("pairwise", 16), Where::host, nic, loop, 0, stop), "enough");
}
