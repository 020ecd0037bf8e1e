// SPDX-License-Identifier: Apache-2.0
// The work of a measuring program, read from its command line.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/models/workload.hpp>
#include <tollbar/detail/deadline.hpp>  // declares namespace detail

#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollbar::bench {

using namespace detail;

enum class Placement : std::uint8_t { pinned, free };
/// How a rank passes the time of a workload: it keeps a CPU busy, or leaves it to others.
enum class Computing : std::uint8_t { busy, away };
/// Others that want the CPUs while a program measures.
enum class Neighbours : std::uint8_t { alone, neighbour, neighbours, session, cgroup, quota };
enum class Depth : std::uint8_t { full, quick };

/// Wrong use: one line that says what was wrong and what is accepted.
struct WrongUse : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The check of every barrier (tolls.hpp).
struct Tolls {
    std::uint64_t episodes = 0;  ///< 0: barriers are measured, not checked
    bool late = false;           ///< in each episode one rank, chosen in turn, comes when all others have
    double limit_ns = 10e9;      ///< without anybody entering or leaving; then whoever waits is taken for stuck
};

/// The computing of ranks between barriers, with its spelling.
struct Work {
    std::string spelling;
    Workload workload;
};

struct Options {
    Rank ranks = 2;
    Rank threads = 1;  ///< of each rank; more only in bench/hybrid
    Placement placement = Placement::free;
    std::uint32_t rounds = 10;
    std::uint64_t seed = 1;
    double batch_ns = 0;   ///< 0: 1 ms with a CPU for every rank, 12 ms otherwise
    double budget_ns = 0;  ///< 0: no limit
    Depth depth = Depth::full;
    std::string only;            ///< empty: everything
    std::vector<Work> work;      ///< measured in place of bare episodes; empty: those are
    std::uint64_t runs = 0;      ///< of each workload; 0: as many as batch_ns has
    std::uint64_t episodes = 0;  ///< stamped of each barrier, however long they take; 0: as many as the pace has
    std::string profile;         ///< the file of what each rank did between stamped episodes; empty: none
    Computing computing = Computing::busy;
    double turns_ns = 0;      ///< turns are timed for so long in place of counted episodes or runs; 0: those are
    bool scheduling = false;  ///< with turns: the switches and quanta of the first CPU are measured in each round
    Neighbours neighbours = Neighbours::alone;
    Tolls tolls;
    bool list = false;
    bool help = false;

    bool checks() const noexcept { return tolls.episodes != 0; }
};

inline constexpr Rank most_ranks = 1024;

std::string_view spelled(Placement placement) noexcept;
std::string_view spelled(Computing computing) noexcept;
std::string_view spelled(Neighbours neighbours) noexcept;

/// Takes the value of a flag. Throws WrongUse.
using Take = std::function<void(std::string_view flag, std::string_view text)>;

struct Flag {
    std::string_view name;
    std::string_view value;  ///< what follows, in words; empty when nothing does
    std::string_view help;
    Take take;
};

[[noreturn]] void refuse(std::string_view flag, std::string_view text, const std::string& accepted);

/// Takes a whole number within bounds.
template <std::integral Number>
Take number(Number& into, std::type_identity_t<Number> lowest, std::type_identity_t<Number> highest) {
    return [=, &into](std::string_view flag, std::string_view text) {
        Number value{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size() || value < lowest || value > highest)
            refuse(flag, text, "whole numbers from " + std::to_string(lowest) + " to " + std::to_string(highest));
        into = value;
    };
}

/// Takes a whole number of units.
Take amount(double& into, double unit, std::uint64_t lowest, std::uint64_t highest);

/// Takes one of some words.
template <class Value>
Take one_of(Value& into, std::vector<std::pair<std::string_view, std::type_identity_t<Value>>> words) {
    return [=, &into](std::string_view flag, std::string_view text) {
        std::string accepted;
        for (const auto& [word, value] : words) {
            if (word == text) return void(into = value);
            accepted += (accepted.empty() ? "" : ", ") + std::string(word);
        }
        refuse(flag, text, accepted);
    };
}

/// Takes whatever is there.
inline Take text(std::string& into) {
    return [&into](std::string_view, std::string_view given) { into = given; };
}

/// The flags that all programs have, and those of one program. Throws WrongUse.
Options parse_options(int count, const char* const* words, std::span<const Flag> own = {});

/// The text behind --help.
std::string usage(std::string_view program, std::span<const Flag> own = {});

}  // namespace tollbar::bench
