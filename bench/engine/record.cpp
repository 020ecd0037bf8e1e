// SPDX-License-Identifier: Apache-2.0
// How a record becomes a line of JSON.
#include "record.hpp"

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

JsonLine::JsonLine(std::string_view record) : line_("{\"record\":" + quoted(record)) {}

void JsonLine::add_raw(std::string_view key, std::string_view value) {
    line_ += ',';
    line_ += quoted(key);
    line_ += ':';
    line_ += value;
}

void JsonLine::add(std::string_view key, std::string_view text) { add_raw(key, quoted(text)); }
void JsonLine::add(std::string_view key, double number) { add_raw(key, spelled(number)); }

void JsonLine::add(std::string_view key, std::optional<double> number) {
    add_raw(key, number ? spelled(*number) : "null");
}

void JsonLine::add(std::string_view key, std::span<const double> numbers) {
    std::string list = "[";
    for (const double number : numbers) {
        if (list.size() > 1) list += ',';
        list += spelled(number);
    }
    add_raw(key, list + ']');
}

void JsonLine::print() const {
    std::fputs((line_ + "}\n").c_str(), stdout);
    std::fflush(stdout);
}

void print_skipped(const std::string& name, const std::string& why, const std::string& wait) {
    Record<"skipped">().field("name", name).field("wait", wait).field("why", why).print();
}

void print_done(std::uint32_t rounds, double elapsed_ns) {
    Record<"done">().field("rounds", rounds).field("elapsed_ms", elapsed_ns / 1e6).print();
}

}  // namespace tollbar::bench
