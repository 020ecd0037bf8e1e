// SPDX-License-Identifier: Apache-2.0
// Waits that end only with what they wait for, and the lines by which they name who is missing meanwhile.
#pragma once

#include "environment.hpp"
#include "not_cancelled.hpp"
#include "once.hpp"
#include "say.h"

#include <tollbar/detail/deadline.hpp>
#include <tollbar/plan.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::detail {

/// After how long a wait reports who is missing, and again; nothing: never.
using Timeout = std::optional<std::chrono::duration<double>>;

/// That of TOLLBAR_TIMEOUT, which is read once.
inline const Timeout& own_timeout() noexcept {
    static constinit Once<Timeout> timeout;
    return timeout.get(environment::timeout);
}

/// Runs `report`, in which nothing is a cancellation point. A report that finds no memory is left out: the wait that it
/// belongs to matters more.
template <class Report>
void report_if_possible(Report&& report) noexcept {
    const NotCancelled not_cancelled;
    try {
        report();
    } catch (const std::exception&) {
    }
}

/// Calls `finish(deadline)` until it is true; each time that another timeout has passed in vain calls
/// `report(waited)`, which returns whether the wait goes on. False when it does not.
///
///     wait_reporting(own_timeout(), [&](auto deadline) { return runner.finish(deadline); },
///                    [&](auto waited) { return tollbar_report("rank 1 is missing"), true; });
template <class Finish, class Report>
bool wait_reporting(const Timeout& timeout, Finish&& finish, Report&& report) noexcept {
    if (!timeout) return finish(Never{});
    bool goes_on = true;
    for (auto waited = *timeout; !finish(deadline_after(*timeout)); waited += *timeout) {
        report_if_possible([&] { goes_on = report(waited); });
        if (!goes_on) return false;
    }
    return true;
}

/// For a wait that looks again and again: whether the next report is due. `at_s` is the time of that report, which
/// moves on by the timeout (0: no reports).
inline bool report_is_due(double now_s, double timeout_s, double& at_s) noexcept {
    if (timeout_s <= 0 || now_s < at_s) return false;
    at_s = now_s + timeout_s;
    return true;
}

/// The texts of all members, one after the other.
template <class Members, class Text = std::identity>
std::string joined(const Members& members, std::string_view between, Text text_of = {}) {
    std::string text;
    for (const auto& member : members) text.append(text.empty() ? "" : between).append(text_of(member));
    return text;
}

/// "3", "3 and 5", "3, 5 and 7"; of more than sixteen members the first ones and the number of the others, of which one
/// may be several.
template <class Members, class Text, class Number>
std::string listed(const Members& members, Text text_of, Number number_of) {
    constexpr std::size_t most = 16;
    const std::size_t all = members.size(), shown = std::min(all, most);
    std::string text;
    for (std::size_t i = 0; i < shown; ++i)
        text.append(i == 0 ? "" : i + 1 == all ? " and " : ", ").append(text_of(members[i]));
    std::size_t others = 0;
    for (std::size_t i = shown; i < all; ++i) others += std::invoke(number_of, members[i]);
    if (others != 0) text.append(" and ").append(std::to_string(others)).append(" more");
    return text;
}

template <class Members, class Text>
std::string listed(const Members& members, Text text_of) {
    return listed(members, text_of, [](const auto&) { return std::size_t{1}; });
}

/// Ranks, which ascend; where they are more than eight, three and more that follow each other together: "0-16 and 20".
template <class Ranks>
std::string listed(const Ranks& ranks) {
    struct Range {
        std::uint64_t first, last;
        std::size_t size() const { return last - first + 1; }
    };
    constexpr std::size_t most_apart = 8, fewest = 3;
    std::vector<Range> ranges;
    for (const std::uint64_t rank : ranks) {
        const std::size_t before = ranges.size();
        const auto follows = [&](std::size_t back) {
            return before >= back && ranges[before - back].last + back == rank;
        };
        if (ranks.size() > most_apart && follows(1) && ranges.back().size() >= fewest) {
            ranges.back().last = rank;
        } else if (ranks.size() > most_apart && follows(1) && follows(2)) {
            ranges.pop_back();
            ranges.back().last = rank;
        } else {
            ranges.push_back({rank, rank});
        }
    }
    const auto text_of = [](const Range& range) {
        const std::string first = std::to_string(range.first);
        return range.size() == 1 ? first : first + "-" + std::to_string(range.last);
    };
    return listed(ranges, text_of, &Range::size);
}

/// Waits for the end of the episode of a participant between hosts, with reports where TOLLBAR_TIMEOUT asks for them.
/// False when the participant is gone.
template <class Participant>
bool wait_reporting(Participant& self) noexcept {
    return wait_reporting(
        own_timeout(), [&](Deadline deadline) { return self.finish(deadline); },
        [&](std::chrono::duration<double> waited) {
            if (self.gone()) return false;
            const std::vector<Rank> missing = self.missing();
            const std::string awaited = missing.empty() ? "a message that is on its way" : "rank " + listed(missing);
            tollbar_report("rank %u has waited %.1f s in episode %llu for %s", static_cast<unsigned>(self.rank()),
                           waited.count(), static_cast<unsigned long long>(self.episode()), awaited.c_str());
            return true;
        });
}

}  // namespace tollbar::detail
