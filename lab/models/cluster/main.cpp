// SPDX-License-Identifier: Apache-2.0
// tollbar-simulate-cluster: what barriers take between the hosts of a platform that SimGrid simulates. Prints JSON
// records, one a line: the platform, each plan, and in between how far it has come; refusals are a line on stderr.
//
// usage: tollbar-simulate-cluster PLATFORM RANKS GAP_US PLAN... [NAME:VALUE...]
//
// GAP_US is what LogP's g has over its o. NAME:VALUE is a setting of SimGrid's, such as network/model:CM02;
// `tollbar simulate cluster` gives those that make a network LogP's.
#include "hosts.hpp"
#include "ranks.hpp"

#include <tollbar/algorithms.hpp>

#include <smpi/smpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace tollbar::models {

namespace {

struct Arguments {
    std::string platform;
    Rank ranks = 0;
    double gap_s = 0;
    std::vector<Plan> plans;
    std::vector<std::string> settings;
};

/// A plan has a slash behind an '@' or a colon only.
bool is_setting(const std::string& word) { return word.find('/') < word.find_first_of(":@"); }

Arguments read(int count, char** words) {
    if (count < 5) throw std::invalid_argument("usage: tollbar-simulate-cluster PLATFORM RANKS GAP_US PLAN...");
    Arguments asked{.platform = words[1],
                    .ranks = static_cast<Rank>(std::stoul(words[2])),
                    .gap_s = std::stod(words[3]) * 1e-6,
                    .plans = {},
                    .settings = {}};
    for (const std::string word : std::span(words, static_cast<std::size_t>(count)).subspan(4)) {
        if (is_setting(word)) {
            asked.settings.push_back(word);
        } else {
            asked.plans.push_back(make_plan(word, asked.ranks));
        }
    }
    return asked;
}

Hosts take_hosts(const simgrid::s4u::Engine& engine, Rank ranks) {
    Hosts hosts = in_order(engine.get_all_hosts());
    if (hosts.size() < ranks)
        throw std::invalid_argument("the platform has " + std::to_string(hosts.size()) + " hosts, a rank on each; " +
                                    std::to_string(ranks) + " ranks are too many");
    hosts.resize(ranks);
    return hosts;
}

/// Prints how far a plan has come, a few times a second at most.
class Progress {
public:
    explicit Progress(const std::vector<Plan>& plans) : plans_(plans) {}

    void stepped(std::size_t plan, std::uint64_t done) {
        constexpr std::uint64_t steps_between_looks = 256;
        constexpr std::chrono::milliseconds between_lines{250};
        if (done % steps_between_looks != 0) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - printed_ < between_lines) return;
        printed_ = now;
        std::printf("{\"kind\": \"progress\", \"plan\": \"%s\", \"done\": %.4f}\n", plans_[plan].name().c_str(),
                    static_cast<double>(done) / static_cast<double>(steps_of(plan)));
        std::fflush(stdout);
    }

private:
    std::uint64_t steps_of(std::size_t plan) {
        if (plan != counted_) {
            counted_ = plan;
            steps_ = 0;
            for (Rank rank = 0; rank < plans_[plan].ranks(); ++rank) steps_ += plans_[plan].program(rank).size();
        }
        return steps_;
    }

    const std::vector<Plan>& plans_;
    std::chrono::steady_clock::time_point printed_ = std::chrono::steady_clock::now();
    std::size_t counted_ = static_cast<std::size_t>(-1);
    std::uint64_t steps_ = 0;
};

/// The most memory of this program, in MiB. getrusage() counts the parent's too, from before exec().
double peak_memory_mb() {
    std::ifstream status("/proc/self/status");
    std::string word;
    double kib = 0;
    while (status >> word)
        if (word == "VmHWM:") status >> kib;
    return kib / 1024;
}

void print(const Plan& plan, const EpisodeTimes& times) {
    const auto [first, last] = std::ranges::minmax(times.left_s);
    const double sum = std::accumulate(times.left_s.begin(), times.left_s.end(), 0.0);
    std::printf(
        "{\"kind\": \"plan\", \"plan\": \"%s\", \"last_us\": %.17g, \"first_us\": %.17g, \"mean_us\": %.17g, "
        "\"cpu_s\": %.6f, \"memory_mb\": %.3f}\n",
        plan.name().c_str(), last * 1e6, first * 1e6, sum / plan.ranks() * 1e6, times.cpu_s, peak_memory_mb());
    std::fflush(stdout);
}

void simulate(int count, char** words) {
    const Arguments asked = read(count, words);
    std::string quiet = "--log=root.thresh:warning";
    std::array arguments{words[0], quiet.data()};
    int number = arguments.size();
    const simgrid::s4u::Engine engine(&number, arguments.data());
    SMPI_init();  // only then are its settings known
    for (const std::string& setting : asked.settings) simgrid::s4u::Engine::set_config(setting);
    engine.load_platform(asked.platform);
    const Hosts hosts = take_hosts(engine, asked.ranks);
    std::printf("{\"kind\": \"platform\", \"latency_us\": %.17g}\n", mean_latency_s(hosts) * 1e6);
    Progress progress(asked.plans);
    run_all(asked.plans, hosts, asked.gap_s,
            {.stepped = [&](std::size_t plan, std::uint64_t done) { progress.stepped(plan, done); },
             .finished = [&](std::size_t plan, const EpisodeTimes& times) { print(asked.plans[plan], times); }});
    SMPI_finalize();
}

}  // namespace

}  // namespace tollbar::models

int main(int count, char** words) {
    try {
        tollbar::models::simulate(count, words);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
    return 0;
}
