// SPDX-License-Identifier: Apache-2.0
// Sorts hosts as people number them, and asks SimGrid for the latency of routes.
#include "hosts.hpp"

#include <algorithm>
#include <cctype>
#include <random>
#include <string>
#include <tuple>

namespace tollbar::simulation {

namespace {

/// A name cut into words and numbers; a number sorts by its length, without leading zeros, then by its digits.
using Key = std::vector<std::tuple<bool, std::size_t, std::string>>;

Key key_of(const std::string& name) {
    const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    Key key;
    for (auto begin = name.begin(); begin != name.end();) {
        const bool number = is_digit(*begin);
        const auto end = std::find_if(begin, name.end(), [&](char c) { return is_digit(c) != number; });
        if (number) begin = std::find_if(begin, end, [](char c) { return c != '0'; });
        key.emplace_back(!number, number ? static_cast<std::size_t>(end - begin) : 0, std::string(begin, end));
        begin = end;
    }
    return key;
}

double latency_s(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) {
    std::vector<simgrid::s4u::Link*> links;
    double latency = 0;
    from->route_to(to, links, &latency);
    return latency;
}

}  // namespace

Hosts in_order(Hosts hosts) {
    std::vector<std::pair<Key, simgrid::s4u::Host*>> keyed;
    keyed.reserve(hosts.size());
    for (auto* host : hosts) keyed.emplace_back(key_of(host->get_name()), host);
    std::ranges::sort(keyed);
    std::ranges::transform(keyed, hosts.begin(), [](const auto& each) { return each.second; });
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

}  // namespace tollbar::simulation
