// SPDX-License-Identifier: Apache-2.0
// Several members in words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::detail {

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

/// "host a", "hosts a, b and c", "12 hosts" of more than a few.
inline std::string listed_hosts(const std::set<std::string>& hosts) {
    constexpr std::size_t most = 4;
    if (hosts.size() > most) return std::to_string(hosts.size()) + " hosts";
    return (hosts.size() == 1 ? "host " : "hosts ") + listed(std::vector(hosts.begin(), hosts.end()), std::identity());
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
    for (const auto number : ranks) {
        const auto rank = static_cast<std::uint64_t>(number);
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

}  // namespace tollbar::detail
