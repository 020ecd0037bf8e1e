// SPDX-License-Identifier: Apache-2.0
// One line of JSON on stdout for everything a measuring program has to say, as python/tollbar/data/schema.json has it.
#pragma once

#include "schema.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tollbar::bench {

/// Whether a waiting thread ever gives its CPU away.
enum class Manners : bool { gives_way, spins };

/// The fields of every record about a candidate.
struct Label {
    std::string name;
    std::string kind;           ///< plan, turnstile, combination, barrier, peer, ...
    std::string wait = "auto";  ///< auto, spin, yield or park
    Manners manners = Manners::gives_way;
};

/// The name of a record, as a template argument.
template <std::size_t size>
struct RecordName {
    consteval RecordName(const char (&from)[size]) { std::copy_n(from, size, text); }
    constexpr std::string_view view() const { return {text, size - 1}; }
    constexpr operator std::string_view() const { return view(); }

    char text[size]{};
};

/// Whether a field of that type, spelled as in the schema, holds such a value.
template <class T>
constexpr bool holds(std::string_view type) {
    const std::string_view plain = type.substr(0, type.find_first_of("+|?"));
    if constexpr (std::same_as<T, bool>)
        return plain == "bool";
    else if constexpr (std::integral<T>)
        return plain == "int";
    else if constexpr (std::floating_point<T>)
        return plain == "float";
    else if constexpr (std::same_as<T, std::optional<double>>)
        return type.starts_with("float|null");
    else if constexpr (std::convertible_to<const T&, std::string_view>)
        return plain == "str";
    else
        return plain == "floats" && std::convertible_to<const T&, std::span<const double>>;
}

/// The name of a field of that record whose values are of type T. A field that the schema does not have does not
/// compile.
template <RecordName record, class T>
class FieldName {
public:
    consteval FieldName(const char* name) : name_(name) {
        for (const schema::Field& field : schema::fields)
            if (field.record == record.view() && field.name == name_ && holds<T>(field.type)) return;
        throw "python/tollbar/data/schema.json has no such field of such a type";
    }
    constexpr std::string_view view() const noexcept { return name_; }

private:
    std::string_view name_;
};

/// A line in the making; Record is what programs use.
class JsonLine {
public:
    explicit JsonLine(std::string_view record);

    void add(std::string_view key, std::string_view text);
    void add(std::string_view key, double number);
    void add(std::string_view key, std::optional<double> number);
    void add(std::string_view key, std::span<const double> numbers);
    void add(std::string_view key, std::integral auto number) { add_raw(key, std::to_string(number)); }
    void add(std::string_view key, bool truth) { add_raw(key, truth ? "true" : "false"); }

    /// Writes the line and flushes it, so that a reader at the other end of a pipe can show progress.
    void print() const;

private:
    void add_raw(std::string_view key, std::string_view value);

    std::string line_;
};

/// One record: fields in the order they are given.
///
///     Record<"floor">().field("round", 0).field("one_way_ns", 27.1).print();
///
/// Numbers that are not finite, and empty optionals, are written as null.
template <RecordName record>
class Record {
public:
    Record() : line_(record.view()) {}

    /// Begins as every record about a candidate does.
    Record(const Label& label, std::uint32_t round) : Record() {
        field("round", round).field("name", label.name).field("kind", label.kind).field("wait", label.wait);
    }

    template <class T>
    Record& field(std::type_identity_t<FieldName<record, T>> name, const T& value) {
        if constexpr (std::convertible_to<const T&, std::string_view>)
            line_.add(name.view(), std::string_view(value));
        else if constexpr (holds<T>("floats"))
            line_.add(name.view(), std::span<const double>(value));
        else
            line_.add(name.view(), value);
        return *this;
    }

    void print() const { line_.print(); }

private:
    JsonLine line_;
};

/// Prints that something is not measured, and why, in words.
void print_skipped(const std::string& name, const std::string& why, const std::string& wait = "auto");

/// Prints the record that closes a launch.
void print_done(std::uint32_t rounds, double elapsed_ns);

}  // namespace tollbar::bench
