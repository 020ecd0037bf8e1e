// SPDX-License-Identifier: Apache-2.0
// Reads what the tuning file says of threads, and answers for their situations.
#include "tuning.hpp"

#include "tuning_file.hpp"

#include "algorithms/defaults.hpp"
#include "algorithms/processors.hpp"
#include "base/environment.hpp"
#include "base/once.hpp"
#include "base/say.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace tollbar::detail {

namespace {

std::vector<Tuned> read_tuning_once() {
    const std::string path = environment::tuning_file();
    try {
        std::ifstream file = open_tuning(path);
        return file ? read_tuning(file) : std::vector<Tuned>{};
    } catch (const std::invalid_argument& error) {
        tollbar_say("%s: %s; not using it (`tollbar tune` writes a new one)", path.c_str(), error.what());
        return {};
    }
}

}  // namespace

std::vector<Tuned> read_tuning(std::istream& file) {
    std::vector<Tuned> all;
    for (const TuningEntry& line : read_tuning_entries(file, "threads")) {
        if (!line.is("pinned") && roles_are_processors(line["plan"])) continue;
        all.push_back({{line.number("ranks"), line.number("cpus"), line.is("pinned")}, {line["plan"], line["wait"]}});
    }
    return all;
}

std::optional<Choice> tuned_choice(const Situation& situation) {
    static constinit Once<std::vector<Tuned>> read;
    const std::vector<Tuned>& all = read.get(read_tuning_once);
    const auto found = std::ranges::find(all, situation, &Tuned::situation);
    return found == all.end() ? std::nullopt : std::optional(found->choice);
}

namespace {

/// Up to this number of threads, one contended line or a line for each of them to write is still cheap.
constexpr Rank few = 8;

/// The ranks of each cluster when they fill the clusters in order: a rank a core, or a rank a CPU where there are too
/// few cores. Empty where there are too few CPUs as well.
std::vector<Rank> filled(Rank ranks, const Clusters& clusters) {
    for (const auto room : {&Cluster::cores, &Cluster::cpus}) {
        std::vector<Rank> found;
        Rank left = ranks;
        for (const Cluster& cluster : clusters.all)
            if (left > 0) left -= found.emplace_back(std::min(left, cluster.*room));
        if (left == 0) return found;
    }
    return {};
}

Choice choice_of_pinned(Rank ranks, const Clusters& clusters) {
    const std::vector<Rank> members = filled(ranks, clusters);
    if (members.size() < 2) return {ranks <= few ? defaults::in_ways(ranks - 1) : defaults::in_ways(2), "auto"};
    // A cache of many cores: its clusters are only groups.
    constexpr Rank two_rounds = 9;
    if (!clusters.caches && ranks <= two_rounds) return {defaults::exchange(ranks, few), "auto"};
    constexpr Rank at_once = 4;
    const auto [least, most] = std::ranges::minmax(members);
    if (most == 1) return {defaults::exchange(ranks, at_once), "auto"};
    const auto count = static_cast<Rank>(members.size());
    if (most - least <= 1)
        return {"combination:" + std::to_string(count) + '/' + defaults::exchange(count, at_once), "auto", count};
    const Rank groups = (ranks - 1) / most + 1;
    return {"turnstile@" + std::to_string(most) + '/' + defaults::exchange(groups, at_once), "auto", groups, most};
}

}  // namespace

Choice default_choice(const Situation& situation, const Clusters& clusters) {
    const bool crowded = situation.ranks > situation.cpus;
    if (crowded || situation.ranks <= 2) return {std::string(defaults::on_a_node), "auto"};
    if (situation.pinned) return choice_of_pinned(situation.ranks, clusters);
    return {situation.ranks <= few ? std::string(defaults::on_a_node) : defaults::in_ways(2), "auto"};
}

Choice default_choice(const Situation& situation) { return default_choice(situation, usable_clusters()); }

}  // namespace tollbar::detail
