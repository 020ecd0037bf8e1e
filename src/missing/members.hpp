// SPDX-License-Identifier: Apache-2.0
// Members of a barrier that have not come, and the words for them: the one place that has these.
#pragma once

#include <tollbar/tollbar.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::detail::missing {

/// Part of a sentence, and the numbers of the members that it is about.
struct Clause {
    std::string text;
    std::vector<int> ranks;
};

/// A member that has not come, as its transport knows it; or several of which the same is known.
struct Member {
    const char* kind = "rank";   ///< "rank", "PE" or "thread"
    std::vector<int> numbers{};  ///< in ascending order
    std::string of{};            ///< behind the numbers: " of rank 1"
    std::string known_as{};      ///< "host a, process 7"; empty: nothing
    std::string host{};          ///< what is said of several together; empty: not known
    tollbar_absence state = TOLLBAR_RUNNING;
    std::string last{};  ///< the last thing it did: "its last barrier was ..."; empty: not known
};

/// A missing member, as the functions named `missing` list it, of which only its number and host are known.
tollbar_missing unknown_member(std::uint32_t rank, std::int64_t waited_ns, std::string_view host);

/// A member whose state is in memory that the caller shares, an `absent` of a group.
template <class Absent>
tollbar_missing shared_member(const Absent& one, std::int64_t waited_ns = 0) {
    tollbar_missing made = unknown_member(one.rank, waited_ns, "");
    made.state = static_cast<tollbar_absence>(one.where);
    made.process = one.process;
    made.thread = one.thread;
    made.behind = one.behind;
    return made;
}

/// Throws std::bad_alloc, as all below.
Member member_of(const tollbar_missing& one, const char* kind = "rank");
std::vector<Member> members_of(const std::vector<tollbar_missing>& missing, const char* kind = "rank");

/// The same of each `absent` of a group.
template <class Absent>
requires requires(const Absent& one) { one.where; }
std::vector<Member> members_of(const std::vector<Absent>& missing) {
    std::vector<Member> members;
    members.reserve(missing.size());
    for (const Absent& one : missing) members.push_back(member_of(shared_member(one)));
    return members;
}

/// Ranks of which nothing has been heard.
template <class Number>
std::vector<Member> unheard_members(const std::vector<Number>& ranks) {
    std::vector<Member> members;
    members.reserve(ranks.size());
    for (const Number rank : ranks) members.push_back({.numbers = {static_cast<int>(rank)}, .state = TOLLBAR_UNKNOWN});
    return members;
}

/// "rank 3 (host a, process 7)", "ranks 3 and 5".
std::string named(const Member& member);

/// "rank 3 (process 7) has not arrived", "nothing heard from ranks 3 and 5": a clause for each; more than a few of
/// which the same is known have one clause together. `otherwise` where there are none.
std::vector<Clause> clauses_of(std::vector<Member> members, const char* otherwise = "");

/// These clauses in one text.
std::string text_of(const std::vector<Member>& members, const char* otherwise = "");

/// "never joined", "left", "running", "dead" or "unknown".
const char* name_of(tollbar_absence state) noexcept;

}  // namespace tollbar::detail::missing
