// SPDX-License-Identifier: Apache-2.0
// States are in the order of tollbar_absence.
#include "members.hpp"

#include "listed.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace tollbar::detail::missing {

namespace {

constexpr std::size_t most_apart = 3;  ///< of which the same is known

struct State {
    const char* name;
    const char* is;   ///< of one member
    const char* are;  ///< of several
};

constexpr State states[] = {{"never joined", " has not joined", " have not joined"},
                            {"left", " has left", " have left"},
                            {"running", " has not arrived", " have not arrived"},
                            {"dead", " is dead", " are dead"},
                            {"unknown", "", ""}};

const State& state_of(tollbar_absence state) { return states[std::min<std::size_t>(state, TOLLBAR_UNKNOWN)]; }

bool are_alike(const Member& one, const Member& other) {
    return one.state == other.state && one.last == other.last && one.of == other.of &&
           std::string_view(one.kind) == other.kind;
}

Clause clause_of(const Member& member) {
    const State& state = state_of(member.state);
    std::string text = member.state == TOLLBAR_UNKNOWN
                           ? "nothing heard from " + named(member)
                           : named(member) + (member.numbers.size() == 1 ? state.is : state.are);
    if (!member.last.empty()) text.append(", ").append(member.last);
    return {.text = std::move(text), .ranks = member.numbers};
}

}  // namespace

tollbar_missing unknown_member(std::uint32_t rank, std::int64_t waited_ns, std::string_view host) {
    tollbar_missing one{};
    one.rank = rank;
    one.thread_number = -1;
    one.state = TOLLBAR_UNKNOWN;
    one.waited_ns = waited_ns;
    host.copy(one.host, sizeof one.host - 1);  // zero behind it
    return one;
}

Member member_of(const tollbar_missing& one, const char* kind) {
    Member member{.kind = kind, .numbers = {static_cast<int>(one.rank)}, .state = one.state};
    if (one.thread_number >= 0) {
        member.kind = "thread";
        member.numbers = {one.thread_number};
        member.of = " of " + std::string(kind) + " " + std::to_string(one.rank);
    }
    member.host = one.host;
    if (!member.host.empty()) member.known_as = "host " + member.host;
    const auto add = [&](const char* what, std::int64_t number) {
        if (number == 0) return;
        member.known_as.append(member.known_as.empty() ? "" : ", ").append(what).append(std::to_string(number));
    };
    if (one.state == TOLLBAR_NEVER_JOINED) return member;
    add("process ", one.process);
    add("thread ", one.thread);
    return member;
}

std::vector<Member> members_of(const std::vector<tollbar_missing>& missing, const char* kind) {
    std::vector<Member> members;
    std::ranges::transform(missing, std::back_inserter(members),
                           [&](const tollbar_missing& one) { return member_of(one, kind); });
    return members;
}

std::string named(const Member& member) {
    std::string text = member.kind + std::string(member.numbers.size() == 1 ? " " : "s ") + listed(member.numbers);
    text += member.of;
    if (!member.known_as.empty()) text.append(" (").append(member.known_as).append(")");
    return text;
}

std::vector<Clause> clauses_of(std::vector<Member> members, const char* otherwise) {
    std::vector<Clause> clauses;
    if (members.empty() && *otherwise != '\0') clauses.push_back({.text = otherwise, .ranks = {}});
    while (!members.empty()) {
        const Member first = members.front();
        const auto alike = [&](const Member& other) { return are_alike(first, other); };
        if (static_cast<std::size_t>(std::ranges::count_if(members, alike)) > most_apart) {
            Member together = first;
            std::set<std::string> hosts;
            together.numbers.clear();
            for (const Member& one : members) {
                if (!alike(one)) continue;
                together.numbers.insert(together.numbers.end(), one.numbers.begin(), one.numbers.end());
                hosts.insert(one.host);
            }
            together.known_as = hosts.contains("") ? "" : listed_hosts(hosts);
            std::ranges::sort(together.numbers);
            std::erase_if(members, alike);
            clauses.push_back(clause_of(together));
        } else {
            clauses.push_back(clause_of(first));
            members.erase(members.begin());
        }
    }
    return clauses;
}

std::string text_of(const std::vector<Member>& members, const char* otherwise) {
    return joined(clauses_of(members, otherwise), "; ", [](const Clause& one) { return one.text; });
}

const char* name_of(tollbar_absence state) noexcept { return state_of(state).name; }

}  // namespace tollbar::detail::missing
