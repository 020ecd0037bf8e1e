// SPDX-License-Identifier: Apache-2.0
// Reads the tuning file and answers for situations.
#include <tollbar/tuning.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tollbar {

namespace {

constexpr const char* first_line = "tollbar-tuning 1";

class Line {
public:
    Line(std::size_t number, const std::string& text) : number_(number), words_(text) { words_ >> kind_; }

    const std::string& kind() const { return kind_; }

    Tuned parse() {
        Tuned tuned{};
        bool ranks = false, cpus = false, pinned = false, plan = false, wait = false;
        for (std::string word; words_ >> word;) {
            const std::size_t equals = word.find('=');
            if (equals == std::string::npos) refuse("'" + word + "' is not KEY=VALUE");
            const std::string key = word.substr(0, equals);
            const std::string value = word.substr(equals + 1);
            if (key == "ranks") ranks = number(value, tuned.situation.ranks);
            if (key == "cpus") cpus = number(value, tuned.situation.cpus);
            if (key == "pinned") pinned = one_of(value, "no", "yes"), tuned.situation.pinned = value == "yes";
            if (key == "plan") plan = !value.empty(), tuned.choice.plan = value;
            if (key == "wait") wait = one_of(value, "auto", "park"), tuned.choice.wait = value;
        }
        if (!(ranks && cpus && pinned && plan && wait)) refuse("needs ranks, cpus, pinned, plan and wait");
        return tuned;
    }

private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw std::invalid_argument("line " + std::to_string(number_) + ": " + why);
    }

    bool number(const std::string& text, std::uint32_t& number) const {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{} || end != text.data() + text.size() || number == 0)
            refuse("'" + text + "' is not a number of at least 1");
        return true;
    }

    bool one_of(const std::string& value, const char* one, const char* other) const {
        if (value != one && value != other) refuse("'" + value + "' is neither " + one + " nor " + other);
        return true;
    }

    std::size_t number_;
    std::istringstream words_;
    std::string kind_;
};

std::vector<Tuned> read_tuning_once() {
    const std::string path = tuning_file();
    std::ifstream file(path);
    if (!file) return {};
    try {
        return read_tuning(file);
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "tollbar: %s: %s; not using it (`tollbar tune` writes a new one)\n", path.c_str(),
                     error.what());
        return {};
    }
}

}  // namespace

std::vector<Tuned> read_tuning(std::istream& file) {
    std::string text;
    if (!std::getline(file, text) || text != first_line)
        throw std::invalid_argument("line 1: expected '" + std::string(first_line) + "'");
    std::vector<Tuned> all;
    for (std::size_t number = 2; std::getline(file, text); ++number) {
        Line line(number, text);
        if (line.kind() == "threads") all.push_back(line.parse());
    }
    return all;
}

std::string tuning_file() {
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    if (std::string named = variable("TOLLBAR_TUNING"); !named.empty()) return named;
    if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache + "/tollbar/tuning";
    if (const std::string home = variable("HOME"); !home.empty()) return home + "/.cache/tollbar/tuning";
    return "";
}

std::optional<Choice> tuned_choice(const Situation& situation) {
    static const std::vector<Tuned> all = read_tuning_once();
    const auto found = std::ranges::find(all, situation, &Tuned::situation);
    return found == all.end() ? std::nullopt : std::optional(found->choice);
}

Choice default_choice(const Situation& situation) {
    constexpr Rank ranks_one_line_serves = 8;
    const bool crowded = situation.ranks > situation.cpus;
    if (crowded && situation.pinned) return {"combination", "auto"};
    if (crowded || situation.ranks <= ranks_one_line_serves) return {"turnstile", "auto"};
    return {"dissemination", "auto"};
}

}  // namespace tollbar
