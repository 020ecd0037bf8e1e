// SPDX-License-Identifier: Apache-2.0
// The arguments that the NIC timing model refuses, and in which words.
#include "refusal.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/models/nic.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace tollbar;
using namespace tollbar::nic_model;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string refused(const Parameters& nic, const Workload& workload = {}) {
    return refusal([&] { simulate(make_plan("pairwise", 4), Where::host, nic, workload); });
}

}  // namespace

TEST_CASE("every part takes a finite time of at least 0") {
    CHECK(refused({.send_us = -1}) == "Send is a time from 0 to 1e12 us, not -1");
    CHECK(refused({.rdma_us = nan}) == "RDMA is a time from 0 to 1e12 us, not nan");
    CHECK(refused({.hrecv_us = std::numeric_limits<double>::infinity()}) ==
          "HRecv is a time from 0 to 1e12 us, not inf");
}

TEST_CASE("Xmit lies within Network and Recv, and what MPI adds within HRecv") {
    CHECK(refused({.xmit_us = 5, .network_us = 1, .recv_us = 2}) ==
          "Xmit of 5 us is longer than Network + Recv of 3 us; it lies within them");
    CHECK(refused({.hrecv_us = 1, .mpi_us = 2}) == "MPI's part of 2 us is longer than HRecv of 1 us, which holds it");
}

TEST_CASE("a workload has phases, runs, and a lateness for each node") {
    CHECK(refused({}, {.compute_us = {}}) == "a workload has at least 1 phase, not 0");
    CHECK(refused({}, {.compute_us = {1, -2}}) == "a computing time is a time from 0 to 1e12 us, not -2");
    CHECK(refused({}, {.variation = 1.5}) == "the variation of a computing time is from 0 to 1, not 1.5");
    CHECK(refused({}, {.runs = 0}) == "a workload has 1 to 1000000000 barriers, not 0 runs of 1");
    CHECK(refused({}, {.late_us = {1}}) == "the lateness is given of 1 nodes, there are 4");
    CHECK(refused({}, {.late_us = {0, 0, 0, -1}}) == "a node's lateness is a time from 0 to 1e12 us, not -1");
}

TEST_CASE("a plan that cannot end is refused with the verifier's words") {
    const Plan stuck = parse_plan("stuck", "0: ?1 !1\n1: ?0 !0\n");
    for (const Where where : {Where::host, Where::nic}) {
        const std::string said = refusal([&] { simulate(stuck, where, {}); });
        CHECK(said.starts_with("plan 'stuck' never ends: "));
    }
    CHECK(refusal([&] { steps(stuck); }).starts_with("plan 'stuck' never ends: "));
    CHECK(refusal([&] { steps(parse_plan("lost", "0: !1\n1:\n")); }).starts_with("plan 'lost' never ends: "));
}

TEST_CASE("cards are known by name") {
    CHECK(refusal([] { preset("lanai9"); }) == "a NIC is one of lanai4.3, lanai7.2, not 'lanai9'");
    CHECK(refusal([] { preset("lanai4.3", 2); }) ==
          "the share of the range of Send + RDMA + HRecv is from 0 to 1, not 2");
}

TEST_CASE("latencies that no parameters give are refused") {
    CHECK(refusal([] { ranges({1, 5, 5}); }) == "latencies of at least 2 nodes are needed, not of 1");
    CHECK(refusal([] { ranges({8, -1, 5}); }) == "the host-based latency is a time from 0 to 1e12 us, not -1");
    CHECK(refusal([] {
              ranges({8, 10, 20});
          }) == "no non-negative parameters give these latencies: NIC-based is slower");
    CHECK(refusal([] {
              ranges({8, 20, 10}, {8, 15, 8}, 1);
          }) == "the faster NIC's terms are shorter by a ratio above 1, up to 1e6");
    CHECK(refusal([] {
              ranges({8, 100, 90}, {8, 1, 0.1}, 2);
          }) == "no non-negative parameters give the latencies of both NICs at this ratio");
}

TEST_CASE("an efficiency is below 1") {
    CHECK(refusal([] { loop_for_efficiency_us(10, 1); }) == "an efficiency is below 1: a barrier takes some time");
    CHECK(refusal([] { compute_for_efficiency_us(10, -0.5); }) == "an efficiency is from 0 to 1, not -0.5");
}
