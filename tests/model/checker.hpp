// SPDX-License-Identifier: Apache-2.0
// Runs a small concurrent program under the model checker in many interleavings and says what went wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tollbar::model {

inline constexpr unsigned max_threads = 4;

/// A program of a few threads; made afresh for every interleaving.
class Scenario {
public:
    virtual ~Scenario() = default;
    virtual void run(unsigned self) = 0;
};

using MakeScenario = std::function<std::unique_ptr<Scenario>()>;

/// How the interleavings (and the old values that loads may still see) are chosen.
enum class Search : std::uint8_t {
    full,     ///< every interleaving; a load sees the newest value or the one before
    bounded,  ///< every interleaving with at most `limit` switches away from a thread that could go on; one fewer where
              ///< nothing is to be found and the variable SEARCH_FACTOR is below 1
    random,   ///< `limit` interleavings, or a multiple of it (the variable SEARCH_FACTOR), by a seeded scheduler;
              ///< a load sees one of the newest three values
};

struct Effort {
    Search search;
    std::uint64_t limit = 0;
};

/// Faults of the machine under the program: the mutants that need no other source.
struct Weakening {
    bool store_release = false;  ///< release stores are relaxed
    bool load_acquire = false;   ///< acquire loads are relaxed
    bool add_all = false;        ///< sequentially consistent additions are relaxed
    bool add_release = false;    ///< they lose their release
    bool add_acquire = false;    ///< they lose their acquire
    bool add_fence = false;      ///< they are acquire-release only
    bool look_fence = false;     ///< sequentially consistent loads are relaxed
    bool light_fence = false;    ///< the waker's asymmetric fence does nothing
    bool heavy_fence = false;    ///< the sleeper's asymmetric fence does nothing
    bool full_fence = false;     ///< neither symmetric fence does anything
};

enum class Finding : std::uint8_t {
    clean,   ///< nothing
    unpaid,  ///< somebody left although another's toll was not there to see: data race, wrong or missing value
    stuck,   ///< deadlock, or a thread that polls for ever
    broken,  ///< anything else: the test itself is wrong
};

std::string_view name(Finding finding) noexcept;

struct Outcome {
    Finding finding = Finding::clean;
    std::uint64_t interleavings = 0;  ///< until the finding
    std::string history;              ///< the interleaving at fault, as the checker tells it
};

/// Explores a scenario of 2 to max_threads threads.
Outcome explore(unsigned threads, const MakeScenario& make, Effort effort, Weakening weakening = {});

/// Explores, prints one line (title, search, interleavings, finding; the history when the finding is not the
/// expected one) and says whether the finding is the expected one.
bool finds(Finding expected, const std::string& title, unsigned threads, const MakeScenario& make, Effort effort,
           Weakening weakening = {});

}  // namespace tollbar::model
