// SPDX-License-Identifier: Apache-2.0
// Reads what the tuning file says of threads, and answers for their situations.
#include <tollbar/detail/tuning.hpp>

#include "tuning_file.hpp"

#include "algorithms/processors.hpp"
#include "runtime/environment.hpp"
#include "runtime/say.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace tollbar {

namespace {

std::vector<Tuned> read_tuning_once() {
    const std::string path = environment::tuning_file();
    std::ifstream file(path);
    if (!file) return {};
    try {
        return read_tuning(file);
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
    static const std::vector<Tuned> all = read_tuning_once();
    const auto found = std::ranges::find(all, situation, &Tuned::situation);
    return found == all.end() ? std::nullopt : std::optional(found->choice);
}

Choice default_choice(const Situation& situation) {
    constexpr Rank ranks_one_line_serves = 8;
    const bool crowded = situation.ranks > situation.cpus;
    if (crowded || situation.ranks <= ranks_one_line_serves) return {"turnstile", "auto"};
    return {"dissemination", "auto"};
}

}  // namespace tollbar
