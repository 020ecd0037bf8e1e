// SPDX-License-Identifier: Apache-2.0
// One line of the tuning file: a word for the kind of situation, then KEY=VALUE pairs.
#pragma once

#include <charconv>
#include <cstdint>
#include <istream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tollbar {

inline constexpr const char* first_tuning_line = "tollbar-tuning 1";

inline std::string kind_of_tuning_line(const std::string& text) {
    std::string kind;
    std::istringstream(text) >> kind;
    return kind;
}

/// The pairs of a line. What is wrong with it throws std::invalid_argument that names the line; a pair that is missing
/// is noted for need(), and its value is empty.
class TuningLine {
public:
    TuningLine(std::size_t number, const std::string& text) : number_(number) {
        std::istringstream words(text);
        std::string word;
        for (words >> word; words >> word;) {
            const std::size_t equals = word.find('=');
            if (equals == std::string::npos) refuse("'" + word + "' is not KEY=VALUE");
            values_[word.substr(0, equals)] = word.substr(equals + 1);
        }
    }

    const std::string& text(const std::string& key) {
        const std::string& value = values_[key];
        complete_ = complete_ && !value.empty();
        return value;
    }

    /// At least 1.
    std::uint32_t number(const std::string& key) {
        const std::string& value = text(key);
        std::uint32_t number = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (!value.empty() && (error != std::errc{} || end != value.data() + value.size() || number == 0))
            refuse("'" + value + "' is not a number of at least 1");
        return number;
    }

    /// One of these two.
    const std::string& one_of(const std::string& key, std::string_view one, std::string_view other) {
        const std::string& value = text(key);
        if (!value.empty() && value != one && value != other)
            refuse("'" + value + "' is neither " + std::string(one) + " nor " + std::string(other));
        return value;
    }

    bool yes(const std::string& key) { return one_of(key, "no", "yes") == "yes"; }

    /// Refuses a line that lacks what was asked for.
    void need(const char* keys) const {
        if (!complete_) refuse(std::string("needs ") + keys);
    }

private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw std::invalid_argument("line " + std::to_string(number_) + ": " + why);
    }

    std::size_t number_;
    std::map<std::string, std::string> values_;
    bool complete_ = true;
};

/// Calls `take(number, text)` for every line. Throws std::invalid_argument for the first wrong one.
template <class Take>
void for_each_tuning_line(std::istream& file, Take take) {
    std::string text;
    if (!std::getline(file, text) || text != first_tuning_line)
        throw std::invalid_argument("line 1: expected '" + std::string(first_tuning_line) + "'");
    for (std::size_t number = 2; std::getline(file, text); ++number) take(number, text);
}

}  // namespace tollbar
