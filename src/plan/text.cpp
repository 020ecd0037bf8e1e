// SPDX-License-Identifier: Apache-2.0
// The written form of programs and plans: "0: !1 ?3 !2 ?2".
#include <tollbar/plan.hpp>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace tollbar {

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
    return std::invalid_argument("line " + std::to_string(line) + ": '" + std::string(word) +
                                 "' is not a step; steps are written !RANK and ?RANK");
}

Rank parse_rank(std::string_view digits, std::size_t line, std::string_view word) {
    Rank rank = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
    if (error != std::errc{} || end != digits.data() + digits.size()) throw bad_word(line, word);
    return rank;
}

Program parse_program(std::string_view words, std::size_t line, std::size_t rank) {
    Program program;
    bool labelled = false;
    for (std::string_view word = next_word(words); !word.empty(); word = next_word(words)) {
        if (word.back() == ':' && program.empty() && !std::exchange(labelled, true)) {
            if (parse_rank(word.substr(0, word.size() - 1), line, word) != rank)
                throw std::invalid_argument("line " + std::to_string(line) + ": '" + std::string(word) +
                                            "' stands where rank " + std::to_string(rank) + " was expected");
            continue;
        }
        if (word.front() != '!' && word.front() != '?') throw bad_word(line, word);
        const Rank peer = parse_rank(word.substr(1), line, word);
        program.push_back(word.front() == '!' ? signal(peer) : await(peer));
    }
    return program;
}

}  // namespace

std::string to_text(const Program& program) {
    std::string text;
    for (const Step step : program) {
        if (!text.empty()) text += ' ';
        text += is_signal(step) ? '!' : '?';
        text += std::to_string(step.peer);
    }
    return text;
}

std::string to_text(const Plan& plan) {
    std::string text;
    for (Rank rank = 0; rank < plan.ranks(); ++rank) {
        const std::string words = to_text(plan.program(rank));
        text += std::to_string(rank) + (words.empty() ? ":" : ": ") + words + '\n';
    }
    return text;
}

Plan parse_plan(std::string name, std::string_view words) {
    std::vector<Program> programs;
    for (std::size_t number = 1; !words.empty(); ++number) {
        const std::size_t end = std::min(words.find('\n'), words.size());
        const std::string_view line = words.substr(0, end);
        words.remove_prefix(std::min(end + 1, words.size()));
        if (line.find_first_not_of(blank) == std::string_view::npos) continue;
        programs.push_back(parse_program(line, number, programs.size()));
    }
    return {std::move(name), std::move(programs)};
}

}  // namespace tollbar
