// SPDX-License-Identifier: Apache-2.0
// Every row of nic_model.csv that needs no measurement. The file is prose with numbers, so each row is a test case
// named by its first words; one test makes sure that none is left out.
#include <tollbar/algorithms.hpp>
#include <tollbar/models/nic.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

using namespace tollbar;
using namespace tollbar::nic_model;

namespace {

double barrier_us(Where where, const Parameters& nic, Rank nodes) {
    return simulate(make_plan("pairwise", nodes), where, nic).last_us;
}

double factor(const Parameters& nic, Rank nodes) {
    return barrier_us(Where::host, nic, nodes) / barrier_us(Where::nic, nic, nodes);
}

bool near(double value, double wanted, double tolerance) { return std::abs(value - wanted) <= tolerance; }

bool is(const Range& range, double low, double high) {
    return near(range.low, low, 0.02) && near(range.high, high, 0.02);
}

/// The preset in the words of the golden file: a and b split evenly.
Parameters printed(double a, double b, double sdma) {
    return {.send_us = a / 3,
            .sdma_us = sdma,
            .xmit_us = b / 2,
            .network_us = b / 2,
            .recv_us = b / 2,
            .rdma_us = a / 3,
            .hrecv_us = a / 3};
}

}  // namespace

TEST_CASE("the golden file has the rows that are tested here, and one for the fit of measurements") {
    std::ifstream file(std::string(TOLLBAR_TESTS_DIR) + "/golden/nic_model.csv");
    std::vector<std::string> rows;
    for (std::string line; std::getline(file, line);) rows.push_back(line);
    const std::vector<std::string_view> begins{"test,",
                                               "\"closed form",
                                               "\"preset lanai4.3",
                                               "\"same preset",
                                               "\"preset lanai7.2",
                                               "MPI overhead",
                                               "monotone factor",
                                               "non-power-of-two",
                                               "\"efficiency as loop time",
                                               "efficiency by the text",
                                               "parameter ranges",
                                               "arrival skew",
                                               "apps 360/2100/9450",
                                               "measured XDP run"};
    REQUIRE(rows.size() == begins.size());
    for (std::size_t row = 0; row < rows.size(); ++row) CHECK(rows[row].starts_with(begins[row]));
}

TEST_CASE("closed form: HB = s H and NB = a + s b for any parameters") {
    std::uint64_t state = 1;
    const auto some_us = [&state] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(state >> 40) / 65536;
    };
    for (int trial = 0; trial < 6; ++trial) {
        Parameters nic{.send_us = some_us(),
                       .sdma_us = some_us(),
                       .network_us = some_us(),
                       .recv_us = some_us(),
                       .rdma_us = some_us(),
                       .hrecv_us = some_us()};
        nic.xmit_us = nic.nic_step_us() * trial / 5;
        for (Rank s = 1; s <= 10; ++s) {
            CAPTURE(s);
            const double host_us = barrier_us(Where::host, nic, Rank{1} << s);
            const double nic_us = barrier_us(Where::nic, nic, Rank{1} << s);
            CHECK(host_us == doctest::Approx(s * nic.host_step_us()).epsilon(1e-9));
            CHECK(nic_us == doctest::Approx(nic.nic_fixed_us() + s * nic.nic_step_us()).epsilon(1e-9));
        }
    }
}

TEST_CASE("lanai4.3 at 16 nodes: 216.70 and 105.37, a factor of 2.057 and not 2.09") {
    for (const Parameters& nic : {preset("lanai4.3"), printed(18.55, 21.70, 13.92)}) {
        CHECK(near(barrier_us(Where::host, nic, 16), 216.70, 0.05));
        CHECK(near(barrier_us(Where::nic, nic, 16), 105.37, 0.05));
        CHECK(near(factor(nic, 16), 2.057, 0.005));
    }
}

TEST_CASE("lanai7.2 at 8 nodes: 102.86 and 46.41, a factor of 2.216") {
    for (const Parameters& nic : {preset("lanai7.2"), printed(14.11, 10.77, 9.41)}) {
        CHECK(near(barrier_us(Where::host, nic, 8), 102.86, 0.05));
        CHECK(near(barrier_us(Where::nic, nic, 8), 46.41, 0.05));
        CHECK(near(factor(nic, 8), 2.216, 0.005));
    }
}

TEST_CASE("the presets are those of the golden file") {
    const Parameters slow = preset("lanai4.3"), fast = preset("lanai7.2");
    CHECK(near(slow.nic_fixed_us(), 18.55, 0.0051));
    CHECK(near(slow.nic_step_us(), 21.70, 0.005));
    CHECK(near(slow.sdma_us, 13.92, 0.005));
    CHECK(near(fast.nic_fixed_us(), 14.11, 0.005));
    CHECK(near(fast.nic_step_us(), 10.77, 0.005));
    CHECK(near(fast.sdma_us, 9.41, 0.005));
}

TEST_CASE("MPI overhead switch off: 102.15 and 45.25") {
    CHECK(near(barrier_us(Where::nic, preset("lanai4.3").without_mpi(), 16), 102.15, 0.02));
    CHECK(near(barrier_us(Where::nic, preset("lanai7.2").without_mpi(), 8), 45.25, 0.02));
}

TEST_CASE("monotone factor: it grows with the nodes if a > 0 and is constant if a = 0") {
    for (const char* name : {"lanai4.3", "lanai7.2"}) {
        for (const double share : {0.1, 0.5, 1.0})
            for (Rank nodes = 2; nodes < 16; nodes *= 2)
                CHECK(factor(preset(name, share), nodes) < factor(preset(name, share), 2 * nodes));
        for (Rank nodes = 2; nodes < 16; nodes *= 2)
            CHECK(factor(preset(name, 0), nodes) == doctest::Approx(factor(preset(name, 0), 2 * nodes)).epsilon(1e-12));
    }
}

TEST_CASE("non-power-of-two: 7 nodes take longer than 8") {
    for (const char* name : {"lanai4.3", "lanai7.2"})
        for (const Where where : {Where::host, Where::nic})
            CHECK(barrier_us(where, preset(name), 7) > barrier_us(where, preset(name), 8));
    const auto total = [](Rank nodes) { return steps(make_plan("pairwise", nodes)).total; };
    for (const Rank nodes : {5u, 6u, 7u}) CHECK(total(nodes) == 4);
    for (Rank nodes = 9; nodes < 16; ++nodes) CHECK(total(nodes) == 5);
    for (Rank s = 0; s < 8; ++s) CHECK(total(Rank{1} << s) == s);
    for (const Rank nodes : {3u, 5u, 7u, 15u, 100u}) {
        const Steps counted = steps(make_plan("pairwise", nodes));
        Rank inside = 1;
        while (2 * inside < nodes) inside *= 2;
        for (Rank rank = inside; rank < nodes; ++rank) CHECK(counted.of_rank[rank] == 2);
    }
}

TEST_CASE("efficiency as loop time T: the eight numbers that the paper prints") {
    const std::vector<double> barriers{183.20, 102.38, 89.59, 60.31};
    const std::vector<double> half{366.40, 204.76, 179.18, 120.62}, most{1831.98, 1023.82, 895.91, 603.11};
    for (std::size_t i = 0; i < barriers.size(); ++i) {
        CHECK(near(loop_for_efficiency_us(barriers[i], 0.5), half[i], 0.03));
        CHECK(near(loop_for_efficiency_us(barriers[i], 0.9), most[i], 0.03));
    }
}

TEST_CASE("efficiency by the text's definition: nine times as much computing at 0.9 as at 0.5") {
    CHECK(compute_for_efficiency_us(183.20, 0.5) == 183.20);
    CHECK(compute_for_efficiency_us(183.20, 0.9) / compute_for_efficiency_us(183.20, 0.5) ==
          doctest::Approx(9).epsilon(1e-12));
}

TEST_CASE("parameter ranges of one NIC, and of both when the faster NIC's terms are half") {
    const Measured slow = printed_nics()[0].at, fast = printed_nics()[1].at;
    const Ranges one = ranges(slow), other = ranges(fast), both = ranges(slow, fast, 2);
    CHECK(near(one.host_step_us, 54.175, 0.001));
    CHECK(is(one.nic_fixed_us, 0, 37.110));
    CHECK(is(one.nic_step_us, 17.065, 26.343));
    CHECK(is(one.sdma_us, 0, 27.833));
    CHECK(is(one.limit_factor, 2.057, 3.175));
    CHECK(is(other.nic_fixed_us, 0, 28.225));
    CHECK(is(other.nic_step_us, 6.062, 15.470));
    CHECK(is(other.sdma_us, 0, 18.817));
    CHECK(is(other.limit_factor, 2.216, 5.656));
    CHECK(is(both.nic_fixed_us, 11.034, 27.227));
    CHECK(is(both.nic_step_us, 19.536, 23.584));
    CHECK(is(both.sdma_us, 0, 16.193));
}

TEST_CASE("arrival skew: the difference never grows with it and is constant without variation") {
    const Plan plan = make_plan("pairwise", 16);
    for (const char* name : {"lanai4.3", "lanai7.2"}) {
        const auto saved_us = [&](double compute_us, double variation) {
            const Workload loop{.compute_us = {compute_us}, .variation = variation, .runs = 400, .seed = 7};
            const Parameters nic = preset(name);
            return simulate(plan, Where::host, nic, loop).per_barrier_us() -
                   simulate(plan, Where::nic, nic, loop).per_barrier_us();
        };
        const double still_us = saved_us(64, 0);
        for (const double compute_us : {256.0, 1024.0, 4096.0})
            CHECK(saved_us(compute_us, 0) == doctest::Approx(still_us).epsilon(1e-9));
        for (const double compute_us : {64.0, 1024.0, 4096.0}) {
            double before_us = still_us;
            for (const double variation : {0.05, 0.1, 0.2, 0.4}) {
                const double now_us = saved_us(compute_us, variation);
                CAPTURE(compute_us);
                CAPTURE(variation);
                CHECK(now_us <= before_us + 1e-9);
                CHECK(now_us > 0);
                before_us = now_us;
            }
        }
    }
}

TEST_CASE("apps: factors of 1.62, 1.37 and 1.06 on 8 nodes without skew") {
    const std::vector<double> sums{360, 2100, 9450}, factors{1.62, 1.37, 1.06};
    REQUIRE(applications().size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        const std::vector<double>& phases = applications()[i].compute_us;
        CHECK(std::accumulate(phases.begin(), phases.end(), 0.0) == sums[i]);
        const Workload once{.compute_us = phases};
        const Plan plan = make_plan("pairwise", 8);
        const double host_us = simulate(plan, Where::host, preset("lanai7.2"), once).last_us;
        const double nic_us = simulate(plan, Where::nic, preset("lanai7.2"), once).last_us;
        CHECK(near(host_us / nic_us, factors[i], 0.01));
    }
}
