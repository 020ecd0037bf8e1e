// SPDX-License-Identifier: Apache-2.0
// Sorts hosts as people number them, and asks SimGrid for the latency of routes.
#include "hosts.hpp"

#include <algorithm>
#include <cstring>
#include <random>

namespace tollbar::models {

namespace {

double latency_s(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) {
    std::vector<simgrid::s4u::Link*> links;
    double latency = 0;
    from->route_to(to, links, &latency);
    return latency;
}

}  // namespace

Hosts in_order(Hosts hosts) {
    std::ranges::sort(
        hosts, [](const auto* one, const auto* other) { return strverscmp(one->get_cname(), other->get_cname()) < 0; });
    return hosts;
}

double mean_latency_s(const Hosts& hosts) {
    constexpr std::size_t few = 64;
    constexpr std::size_t drawn = 4096;
    const std::size_t number = hosts.size();
    double sum = 0;
    std::size_t pairs = 0;
    const auto add = [&](std::size_t from, std::size_t to) {
        if (from == to) return;
        sum += latency_s(hosts[from], hosts[to]);
        ++pairs;
    };
    if (number <= few) {
        for (std::size_t from = 0; from < number; ++from)
            for (std::size_t to = 0; to < number; ++to) add(from, to);
    } else {
        std::mt19937_64 draw;  // the same pairs in every run
        while (pairs < drawn) add(draw() % number, draw() % number);
    }
    return pairs == 0 ? 0 : sum / static_cast<double>(pairs);
}

}  // namespace tollbar::models
