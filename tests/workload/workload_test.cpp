// SPDX-License-Identifier: Apache-2.0
// What ranks compute between barriers: spelled, drawn, summed up.
#include <tollbar/models/workload.hpp>

#include <doctest/doctest.h>

#include "refusal.hpp"

#include <algorithm>
#include <vector>

using namespace tollbar;

TEST_CASE("a workload is a time, an application, and how far times vary") {
    CHECK(parse_workload("1.5").compute_us == std::vector{1.5});
    CHECK(parse_workload("1.5").variation == 0);
    CHECK(parse_workload("64~0.2").variation == 0.2);
    CHECK(parse_workload("360us").compute_us == std::vector<double>{10, 20, 30, 40, 50, 60, 70, 80});
    CHECK(parse_workload("2100us").compute_us.size() == 20);
    CHECK(parse_workload("9450us").variation == application_variation);
    CHECK(parse_workload("9450us~0").variation == 0);
}

TEST_CASE("the applications compute what they are named by") {
    for (const Application& each : applications())
        CHECK(std::to_string(static_cast<int>(parse_workload(each.name).sum_us())) + "us" == each.name);
}

TEST_CASE("what is no workload is told what is one") {
    CHECK(refusal([] { parse_workload("long"); }) ==
          "the workload 'long' is not a computing time in microseconds, such as 64 or 64~0.2, nor one of 360us, "
          "2100us, 9450us");
    CHECK(refusal([] { parse_workload("64~2"); }) ==
          "the workload '64~2': what follows ~ is by which share times vary, from 0 to 1");
    for (const char* wrong : {"", "-1", "nan", "inf", "64~", "64~x", "~0.2", "64 "}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(parse_workload(wrong), std::invalid_argument);
    }
}

TEST_CASE("drawn times fill their range, and depend on seed, rank and episode alone") {
    Workload work = parse_workload("100~0.2");
    double least = 1e9, most = 0, sum = 0;
    constexpr std::uint64_t episodes = 4000;
    for (std::uint64_t episode = 0; episode < episodes; ++episode) {
        const double us = work.before_us(3, episode);
        least = std::min(least, us);
        most = std::max(most, us);
        sum += us;
    }
    CHECK((least >= 80 && least < 80.2));
    CHECK((most <= 120 && most > 119.8));
    CHECK(sum / episodes == doctest::Approx(100).epsilon(0.01));

    const double here = work.before_us(3, 17);
    CHECK(work.before_us(3, 17) == here);
    CHECK(work.before_us(2, 17) != here);
    CHECK(work.before_us(3, 18) != here);
    work.seed = 2;
    CHECK(work.before_us(3, 17) != here);
}

TEST_CASE("no barrier is faster than the longest computing of each episode") {
    const Workload even = parse_workload("2100us~0");
    CHECK(even.longest_us(8, 0, 20) == 2100);
    CHECK(even.longest_us(8, 20, 40) == 2100);
    const Workload uneven = parse_workload("2100us");
    double sum = 0;
    for (std::uint64_t episode = 0; episode < 20; ++episode)
        sum += std::max(uneven.before_us(0, episode), uneven.before_us(1, episode));
    CHECK(uneven.longest_us(2, 0, 20) == sum);
    CHECK(uneven.longest_us(8, 0, 20) > sum);
}
