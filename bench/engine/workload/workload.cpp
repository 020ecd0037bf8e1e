// SPDX-License-Identifier: Apache-2.0
// Workloads, which ranks compute between barriers: drawn times, the applications of the NIC paper, and how workloads
// are spelled.
#include <tollbar/models/workload.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>

namespace tollbar {

namespace {

constexpr double most_us = 1e12;

std::optional<double> number(std::string_view text, double highest) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && value >= 0 && value <= highest ? std::optional(value) : std::nullopt;
}

}  // namespace

std::uint64_t mixed(std::uint64_t state) noexcept {
    state += 0x9e3779b97f4a7c15u;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
    state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
    return state ^ (state >> 31);
}

double Workload::drawn_us(double mean_us, double variation, std::uint64_t seed, std::uint64_t rank,
                          std::uint64_t episode) noexcept {
    if (variation <= 0) return mean_us;
    const std::uint64_t bits = mixed(mixed(mixed(seed) ^ rank) ^ episode);
    return mean_us * (1 + variation * (2 * static_cast<double>(bits >> 11) * 0x1p-53 - 1));
}

double Workload::sum_us() const noexcept { return std::accumulate(compute_us.begin(), compute_us.end(), 0.0); }

double Workload::longest_us(Rank ranks, std::uint64_t first, std::uint64_t last) const noexcept {
    double sum_us = 0;
    for (std::uint64_t episode = first; episode < last; ++episode) {
        double longest_us = 0;
        for (Rank rank = 0; rank < ranks; ++rank) longest_us = std::max(longest_us, before_us(rank, episode));
        sum_us += longest_us;
    }
    return sum_us;
}

const std::vector<Application>& applications() {
    static const std::vector<Application> all = [] {
        const auto tens = [](std::size_t phases) {
            std::vector<double> us(phases);
            for (std::size_t phase = 0; phase < phases; ++phase) us[phase] = 10.0 * static_cast<double>(phase + 1);
            return us;
        };
        return std::vector<Application>{{"360us", tens(8)},
                                        {"2100us", tens(20)},
                                        {"9450us", {100, 500, 1000, 2000, 3000, 500, 500, 250, 600, 1000}}};
    }();
    return all;
}

Workload parse_workload(std::string_view spelling) {
    const std::size_t tilde = spelling.find('~');
    const std::string_view what = spelling.substr(0, tilde);
    Workload workload;
    std::string names;
    const auto& all = applications();
    const auto known = std::ranges::find(all, what, &Application::name);
    if (known != all.end()) {
        workload.compute_us = known->compute_us;
        workload.variation = application_variation;
    } else if (const std::optional<double> us = number(what, most_us)) {
        workload.compute_us = {*us};
    } else {
        for (const Application& each : all) names += ", " + std::string(each.name);
        throw std::invalid_argument("the workload '" + std::string(spelling) +
                                    "' is not a computing time in microseconds, such as 64 or 64~0.2, nor one of" +
                                    names.substr(1));
    }
    if (tilde == std::string_view::npos) return workload;
    const std::optional<double> share = number(spelling.substr(tilde + 1), 1);
    if (!share)
        throw std::invalid_argument("the workload '" + std::string(spelling) +
                                    "': what follows ~ is by which share times vary, from 0 to 1");
    workload.variation = *share;
    return workload;
}

}  // namespace tollbar
