// SPDX-License-Identifier: Apache-2.0
// One line of JSON on stdout for everything a measuring program has to say.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tollbar::bench {

/// One record: fields in the order they are given.
///
///     Record("floor").field("round", 0).field("one_way_ns", 27.1).print();
///
/// Numbers that are not finite, and empty optionals, are written as null.
class Record {
public:
    explicit Record(std::string_view record);

    Record& field(std::string_view key, std::string_view text);
    Record& field(std::string_view key, const char* text) { return field(key, std::string_view(text)); }
    Record& field(std::string_view key, double number);
    Record& field(std::string_view key, std::optional<double> number);
    Record& field(std::string_view key, std::span<const double> numbers);
    Record& field(std::string_view key, std::integral auto number) { return raw(key, std::to_string(number)); }
    Record& field(std::string_view key, bool truth) { return raw(key, truth ? "true" : "false"); }

    /// Writes the line and flushes it, so that a reader at the other end of a pipe can show progress.
    void print() const;

private:
    Record& raw(std::string_view key, std::string_view value);

    std::string line_;
};

}  // namespace tollbar::bench
