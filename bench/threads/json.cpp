// SPDX-License-Identifier: Apache-2.0
// One line of JSON on stdout for everything a measuring program has to say.
#include "json.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace tollbar::bench {

namespace {

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += ' ';
        } else {
            out += c;
        }
    }
    return out + '"';
}

/// A tenth of a nanosecond is below every clock used here.
std::string spelled(double number) {
    if (!std::isfinite(number)) return "null";
    std::array<char, 64> text{};
    const int length = std::snprintf(text.data(), text.size(), "%.1f", number);
    return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

Record::Record(std::string_view record) : line_("{\"record\":" + quoted(record)) {}

Record& Record::raw(std::string_view key, std::string_view value) {
    line_ += ',';
    line_ += quoted(key);
    line_ += ':';
    line_ += value;
    return *this;
}

Record& Record::field(std::string_view key, std::string_view text) { return raw(key, quoted(text)); }
Record& Record::field(std::string_view key, double number) { return raw(key, spelled(number)); }

Record& Record::field(std::string_view key, std::optional<double> number) {
    return raw(key, number ? spelled(*number) : "null");
}

Record& Record::field(std::string_view key, std::span<const double> numbers) {
    std::string list = "[";
    for (const double number : numbers) {
        if (list.size() > 1) list += ',';
        list += spelled(number);
    }
    return raw(key, list + ']');
}

void Record::print() const {
    std::fputs((line_ + "}\n").c_str(), stdout);
    std::fflush(stdout);
}

}  // namespace tollbar::bench
