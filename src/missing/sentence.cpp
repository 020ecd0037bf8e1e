// SPDX-License-Identifier: Apache-2.0
// Facts travel behind their sentence: "missing VERSION SECONDS LACKING NAMED ARRIVED WAIT", a tab, and what it is
// about.
#include "sentence.hpp"

#include "listed.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <set>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tollbar::detail::missing {

namespace {

constexpr std::size_t most_told = 100;  ///< numbers of a list: a line is passed on at once where it is short

std::string seconds(double seconds) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", seconds);
    return text.data();
}

std::string numbers_of(const std::vector<int>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < std::min(numbers.size(), most_told); ++i)
        text.append(text.empty() ? "" : ",").append(std::to_string(numbers[i]));
    return text.empty() ? "-" : text;
}

/// Takes a word off the front of the text; false where it has no other behind it.
bool take(std::string_view& text, std::string_view& word) {
    const std::size_t end = text.find(' ');
    if (end == std::string_view::npos) return false;
    word = text.substr(0, end);
    text.remove_prefix(end + 1);
    return true;
}

template <class Number>
bool read(std::string_view text, Number& number) {
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && last == end && !text.empty();
}

bool read(std::string_view text, std::vector<int>& numbers) {
    if (text == "-") return true;
    for (;;) {
        const std::size_t end = std::min(text.find(','), text.size());
        if (!read(text.substr(0, end), numbers.emplace_back())) return false;
        if (end == text.size()) return true;
        text.remove_prefix(end + 1);
    }
}

}  // namespace

Sentence sentence_of(const Report& report) {
    std::set<int> named;
    for (const Clause& clause : report.clauses) named.insert(clause.ranks.begin(), clause.ranks.end());
    std::string text = report.about;
    if (!report.place.empty()) text.append(" at ").append(report.place);
    text.append(": ").append(report.waiter);
    if (report.waited_s >= 0) text.append(" has waited ").append(seconds(report.waited_s)).append(" s");
    text.append(report.how).append(": ");
    text += joined(report.clauses, "; ", [](const Clause& one) { return one.text; });
    const std::string own = "by " + std::to_string(getpid()) + " " + report.waiter + " " + report.about;
    return {.text = std::move(text),
            .about = report.about,
            .wait = report.wait.empty() ? own : report.wait,
            .named = {named.begin(), named.end()},
            .waited_s = std::max(report.waited_s, 0.0),
            .arrived = report.arrived,
            .lacking = report.lacking};
}

std::string facts_of(const Sentence& sentence) {
    std::string about = sentence.about;
    std::ranges::replace(about, '\t', ' ');
    std::string wait = sentence.wait;
    std::ranges::replace(wait, '\t', ' ');
    std::string facts = "missing " + std::to_string(sentence_version) + " " + seconds(sentence.waited_s) + " " +
                        std::to_string(sentence.lacking) + " " + numbers_of(sentence.named) + " " +
                        numbers_of(sentence.arrived) + " " + wait + "\t" + about;
    std::ranges::replace(facts, '\n', ' ');
    return facts;
}

bool read_sentence(const std::string& text, std::string_view facts, Sentence& sentence) {
    std::string_view kind, version, waited, lacking, named, arrived;
    int number = 0;
    sentence.text = text;
    for (std::string_view* const word : {&kind, &version, &waited, &lacking, &named, &arrived})
        if (!take(facts, *word)) return false;
    if (kind != "missing" || !read(version, number) || number != sentence_version) return false;
    const std::size_t tab = facts.find('\t');
    if (tab == std::string_view::npos) return false;
    sentence.wait = facts.substr(0, tab);
    sentence.about = facts.substr(tab + 1);
    return read(waited, sentence.waited_s) && read(lacking, sentence.lacking) && read(named, sentence.named) &&
           read(arrived, sentence.arrived);
}

Clause clause_of_arrived(const char* kind, const std::vector<int>& arrived, std::size_t lacking, std::size_t expected,
                         const char* whose) {
    const bool is_one = arrived.size() == 1;
    const std::string several = kind == std::string_view("process") ? "processes" : kind + std::string("s");
    return {.text = std::to_string(lacking) + " of " + std::to_string(expected) + " " + several +
                    " have not arrived, " + (is_one ? kind : several) + " " +
                    listed(arrived, [](int thread) { return std::to_string(thread); }) + whose +
                    (is_one ? " has" : " have"),
            .ranks = {}};
}

}  // namespace tollbar::detail::missing
