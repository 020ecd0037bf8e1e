// SPDX-License-Identifier: Apache-2.0
// The written form of programs and plans: "0: !1 ?3 !2 ?2".
#include "wording.hpp"

#include <tollbar/plan.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <utility>

namespace tollbar {

using namespace detail;

namespace {

constexpr std::string_view blank = " \t\r";

std::string_view next_word(std::string_view& line) {
    const std::size_t begin = std::min(line.find_first_not_of(blank), line.size());
    const std::size_t end = std::min(line.find_first_of(blank, begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return word;
}

std::invalid_argument bad_word(std::size_t line, std::string_view word) {
    return std::invalid_argument(
        worded({"line ", line, ": '", word, "' is not a step; steps are written !RANK, ?RANK, !ROLE and ?ROLE"}));
}

/// "a" .. "z", "aa", ...: a role; nothing for other words.
std::optional<Rank> parse_role(std::string_view letters) {
    std::uint64_t number = 0;
    for (const char letter : letters) {
        if (letter < 'a' || letter > 'z' || number > max_ranks) return std::nullopt;
        number = number * 26 + static_cast<std::uint64_t>(letter - 'a') + 1;
    }
    if (number == 0 || number > max_ranks) return std::nullopt;
    return role(static_cast<Rank>(number - 1));
}

Rank parse_rank(std::string_view digits, std::size_t line, std::string_view word) {
    Rank rank = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
    if (error != std::errc{} || end != digits.data() + digits.size() || is_role(rank)) throw bad_word(line, word);
    return rank;
}

Rank parse_member(std::string_view text, std::size_t line, std::string_view word) {
    const auto played = parse_role(text);
    return played ? *played : parse_rank(text, line, word);
}

/// Whether the line is that of a role: only they must say whose.
bool is_of_a_role(std::string_view line) {
    const std::string_view word = next_word(line);
    return !word.empty() && word.back() == ':' && parse_role(word.substr(0, word.size() - 1));
}

/// `self` is the member whose line is expected.
Program parse_program(std::string_view words, std::size_t line, Rank self) {
    Program program;
    bool labelled = false;
    for (std::string_view word = next_word(words); !word.empty(); word = next_word(words)) {
        if (word.back() == ':' && program.empty() && !std::exchange(labelled, true)) {
            if (parse_member(word.substr(0, word.size() - 1), line, word) != self)
                throw std::invalid_argument(
                    worded({"line ", line, ": '", word, "' stands where ", named(self), " was expected"}));
            continue;
        }
        if (word.front() != '!' && word.front() != '?') throw bad_word(line, word);
        const Rank peer = parse_member(word.substr(1), line, word);
        program.push_back(word.front() == '!' ? signal(peer) : await(peer));
    }
    return program;
}

}  // namespace

std::string member_text(Rank member) {
    if (!is_role(member)) return std::to_string(member);
    std::string letters;
    for (Rank number = role_number(member) + 1; number != 0; number = (number - 1) / 26)
        letters.insert(letters.begin(), static_cast<char>('a' + (number - 1) % 26));
    return letters;
}

std::string to_text(const Program& program) {
    std::string text;
    for (const Step step : program) {
        if (!text.empty()) text += ' ';
        text += is_signal(step) ? '!' : '?';
        text += member_text(step.peer);
    }
    return text;
}

std::string to_text(const Plan& plan) {
    std::string text;
    for (Rank index = 0; index < plan.members(); ++index) {
        const Rank self = plan.member_at(index);
        const std::string words = to_text(plan.program(self));
        text += member_text(self) + (words.empty() ? ":" : ": ") + words + '\n';
    }
    return text;
}

Plan parse_plan(std::string name, std::string_view words) {
    std::vector<Program> programs, roles;
    for (std::size_t number = 1; !words.empty(); ++number) {
        const std::size_t end = std::min(words.find('\n'), words.size());
        const std::string_view line = words.substr(0, end);
        words.remove_prefix(std::min(end + 1, words.size()));
        if (line.find_first_not_of(blank) == std::string_view::npos) continue;
        if (is_of_a_role(line)) {
            roles.push_back(parse_program(line, number, role(static_cast<Rank>(roles.size()))));
        } else {
            programs.push_back(parse_program(line, number, static_cast<Rank>(programs.size())));
        }
    }
    return {std::move(name), std::move(programs), roles};
}

}  // namespace tollbar
