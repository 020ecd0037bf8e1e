// SPDX-License-Identifier: Apache-2.0
// One line of the tuning file: a word for the kind of situation, then KEY=VALUE pairs.
#pragma once

#include <charconv>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>

namespace tollbar {

inline constexpr const char* first_tuning_line = "tollbar-tuning 1";

/// Takes a line apart; what is wrong with it throws std::invalid_argument that names the line.
class TuningLine {
public:
    TuningLine(std::size_t number, const std::string& text) : number_(number), words_(text) { words_ >> kind_; }

    const std::string& kind() const { return kind_; }

    /// The next pair; false after the last.
    bool next(std::string& key, std::string& value) {
        std::string word;
        if (!(words_ >> word)) return false;
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) refuse("'" + word + "' is not KEY=VALUE");
        key = word.substr(0, equals);
        value = word.substr(equals + 1);
        return true;
    }

    [[noreturn]] void refuse(const std::string& why) const {
        throw std::invalid_argument("line " + std::to_string(number_) + ": " + why);
    }

    /// True, with the number; refuses what is none.
    bool number(const std::string& text, std::uint32_t& number) const {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{} || end != text.data() + text.size() || number == 0)
            refuse("'" + text + "' is not a number of at least 1");
        return true;
    }

    /// True; refuses any other value.
    bool one_of(const std::string& value, const char* one, const char* other) const {
        if (value != one && value != other) refuse("'" + value + "' is neither " + one + " nor " + other);
        return true;
    }

private:
    std::size_t number_;
    std::istringstream words_;
    std::string kind_;
};

/// Calls `take(line)` for every line of that kind. Throws std::invalid_argument for the first wrong one.
template <class Take>
void for_each_tuning_line(std::istream& file, const std::string& kind, Take take) {
    std::string text;
    if (!std::getline(file, text) || text != first_tuning_line)
        throw std::invalid_argument("line 1: expected '" + std::string(first_tuning_line) + "'");
    for (std::size_t number = 2; std::getline(file, text); ++number) {
        TuningLine line(number, text);
        if (line.kind() == kind) take(line);
    }
}

}  // namespace tollbar
