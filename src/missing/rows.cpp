// SPDX-License-Identifier: Apache-2.0
// A number is in hexadecimal digits, and "-" where all its bits are set, as of bytes that are not known; in a text all
// but letters, digits and some marks are "%" and two digits, and "%" alone is the empty one.
#include "rows.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>

namespace tollbar::detail::missing {

namespace {

constexpr std::uint64_t all_ones = ~std::uint64_t{0};
constexpr std::size_t most_texts = 1 << 16;
constexpr double most_us = 1e18;

class Writing {
public:
    void add(std::uint64_t number) {
        std::array<char, 20> text{'-'};
        int length = 1;
        if (number != all_ones)
            length = std::snprintf(text.data(), text.size(), "%llx", static_cast<unsigned long long>(number));
        add_word({text.data(), static_cast<std::size_t>(length)});
    }

    void add_signed(std::int32_t number) { add(static_cast<std::uint32_t>(number)); }

    void add_text(std::string_view text) {
        constexpr std::string_view marks = "_./:+()-,'~<>=*&#@!";
        std::string word;
        for (const char letter : text) {
            const auto code = static_cast<unsigned char>(letter);
            const bool plain = (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') ||
                               (code >= '0' && code <= '9') || marks.find(letter) != std::string_view::npos;
            std::array<char, 4> coded{letter};
            if (!plain) std::snprintf(coded.data(), coded.size(), "%%%02x", code);
            word += coded.data();
        }
        add_word(word.empty() ? "%" : word);
    }

    std::string words;

private:
    void add_word(std::string_view word) { words.append(words.empty() ? "" : " ").append(word); }
};

class Reading {
public:
    explicit Reading(std::string_view words) : rest_(words) {}

    bool is_right() const { return is_right_; }
    bool is_over() const { return rest_.empty(); }

    /// 0 from the first word on that is none.
    std::uint64_t number() {
        const std::string_view word = next();
        if (word == "-") return all_ones;
        std::uint64_t read = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), read, 16);
        if (error != std::errc() || end != word.data() + word.size()) is_right_ = false;
        return is_right_ ? read : 0;
    }

    std::int32_t signed_number() {
        const std::uint64_t read = number();
        if (read > std::numeric_limits<std::uint32_t>::max()) is_right_ = false;
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(read));
    }

    /// Less than `limit`; else nothing more is right.
    std::size_t below(std::size_t limit) {
        const std::uint64_t read = number();
        if (read >= limit) is_right_ = false;
        return is_right_ ? static_cast<std::size_t>(read) : 0;
    }

    std::string text() {
        const std::string_view word = next();
        std::string read;
        if (word == "%") return read;
        for (std::size_t at = 0; at < word.size(); ++at) {
            unsigned code = static_cast<unsigned char>(word[at]);
            if (word[at] == '%') {
                const std::string_view digits = word.substr(at + 1, 2);
                const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
                if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2) is_right_ = false;
                at += 2;
            }
            read.push_back(static_cast<char>(code));
        }
        return read;
    }

private:
    std::string_view next() {
        const std::size_t length = std::min(rest_.find(' '), rest_.size());
        const std::string_view word = rest_.substr(0, length);
        rest_.remove_prefix(std::min(length + 1, rest_.size()));
        if (word.empty()) is_right_ = false;
        return word;
    }

    std::string_view rest_;
    bool is_right_ = true;
};

/// Texts of a host, each of them once.
class Texts {
public:
    std::uint64_t place_of(std::string text) {
        const auto [found, is_new] = places_.try_emplace(std::move(text), all_.size());
        if (is_new) all_.push_back(found->first);
        return found->second;
    }

    const std::vector<std::string>& all() const { return all_; }

private:
    std::map<std::string, std::size_t> places_;
    std::vector<std::string> all_;
};

bool is_told(const Rank& rank, const tollbar_comm& comm) {
    const auto is_meant = [&](const tollbar_seat& seat) {
        return seat.last == comm.id || rank.comm(tollbar_comm_of(seat.at)) == &comm;
    };
    return comm.id != 0 && (comm.size > 1 || rank.row.last == comm.id || std::ranges::any_of(rank.row.seats, is_meant));
}

void write_comm(std::size_t index, const Rank& rank, const HostAnswers& asked, Texts& texts, Writing& to) {
    const tollbar_comm& comm = rank.row.comms[index];
    to.add(index);
    to.add(comm.id);
    to.add(comm.count);
    to.add(comm.size);
    to.add(comm.freed);
    to.add(texts.place_of(std::string(comm.name, strnlen(comm.name, sizeof comm.name))));
    const std::uint64_t kept = std::min<std::uint64_t>(comm.count, tollbar_kept);
    to.add(kept);
    for (std::uint64_t left = kept; left != 0; --left) {
        const tollbar_counted& one = comm.last[(comm.count - left + 1) % tollbar_kept];
        to.add(one.what);
        to.add(one.gives);
        to.add(one.gets);
        to.add(texts.place_of(asked.site(rank, one.site)));
    }
}

void read_comm(Reading& from, std::size_t texts, const KnownHost& host, Row& row) {
    const std::size_t index = from.below(tollbar_comms);
    if (row.comms.size() <= index) row.comms.resize(index + 1);
    tollbar_comm& comm = row.comms[index];
    comm.id = from.number();
    comm.count = from.number();
    comm.size = from.number();
    comm.freed = from.number();
    const std::size_t name = from.below(texts);
    if (from.is_right()) std::snprintf(comm.name, sizeof comm.name, "%s", host.texts[name].c_str());
    const std::uint64_t kept = from.below(tollbar_kept + 1);
    if (kept > comm.count) comm.count = kept;
    for (std::uint64_t left = kept; left != 0 && from.is_right(); --left) {
        tollbar_counted& one = comm.last[(comm.count - left + 1) % tollbar_kept];
        one.what = from.number();
        one.gives = from.number();
        one.gets = from.number();
        one.site = from.below(texts);
    }
}

void write_seat(std::size_t index, const Rank& rank, double timeout_s, const HostAnswers& asked, Texts& texts,
                Writing& to) {
    const tollbar_seat& seat = rank.row.seats[index];
    const bool waits = rank.waited_s[index] >= timeout_s;
    to.add(index);
    to.add(seat.at);
    to.add(seat.number);
    to.add_signed(seat.peer);
    to.add_signed(seat.tag);
    to.add(seat.last);
    to.add(seat.last_number);
    to.add_signed(seat.way);
    to.add(static_cast<std::uint64_t>(waits ? std::clamp(rank.waited_s[index] * 1e6, 1.0, most_us) : 0.0));
    to.add(texts.place_of(asked.site(rank, seat.site)));
}

void read_seat(Reading& from, std::size_t texts, Rank& rank) {
    const std::size_t index = from.below(tollbar_seats);
    tollbar_seat& seat = rank.row.seats[index];
    seat.at = from.number();
    seat.number = from.number();
    seat.peer = from.signed_number();
    seat.tag = from.signed_number();
    seat.last = from.number();
    seat.last_number = from.number();
    seat.way = from.signed_number();
    rank.waited_s[index] = static_cast<double>(from.number()) / 1e6;
    seat.site = from.below(texts);
}

void write_rank(const Rank& rank, double timeout_s, const HostAnswers& asked, Texts& texts, Writing& to) {
    const Row& row = rank.row;
    to.add_signed(row.rank);
    to.add_signed(row.process);
    to.add(row.state);
    to.add(row.unseen);
    to.add(row.last);
    to.add(row.last_number);
    to.add(texts.place_of(asked.doing(rank)));
    const auto is_used = [](const tollbar_seat& seat) { return seat.at != 0; };
    to.add(static_cast<std::uint64_t>(std::ranges::count_if(row.seats, is_used)));
    for (std::size_t i = 0; i < row.seats.size(); ++i)
        if (is_used(row.seats[i])) write_seat(i, rank, timeout_s, asked, texts, to);
    const auto tells = [&](const tollbar_comm& comm) { return is_told(rank, comm); };
    to.add(static_cast<std::uint64_t>(std::ranges::count_if(row.comms, tells)));
    for (std::size_t i = 0; i < row.comms.size(); ++i)
        if (tells(row.comms[i])) write_comm(i, rank, asked, texts, to);
    const auto is_made = [](const tollbar_started& one) { return one.number != 0; };
    to.add(static_cast<std::uint64_t>(std::ranges::count_if(row.started, is_made)));
    for (const tollbar_started& one : row.started)
        if (is_made(one))
            for (const std::uint64_t word : {one.id, one.number, one.times}) to.add(word);
}

void read_rank(Reading& from, const KnownHost& host, Rank& rank) {
    const std::size_t texts = host.texts.size();
    Row& row = rank.row;
    rank.host = &host;
    row.rank = from.signed_number();
    row.process = from.signed_number();
    row.state = from.number();
    row.unseen = from.number();
    row.last = from.number();
    row.last_number = from.number();
    rank.doing = from.below(texts);
    for (std::size_t left = from.below(tollbar_seats + 1); left > 0 && from.is_right(); --left)
        read_seat(from, texts, rank);
    for (std::size_t left = from.below(tollbar_comms + 1); left > 0 && from.is_right(); --left)
        read_comm(from, texts, host, row);
    const std::size_t started = from.below(tollbar_persistent + 1);
    for (std::size_t i = 0; i < started; ++i)
        row.started[i] = {.id = from.number(), .number = from.number(), .times = from.number()};
}

}  // namespace

std::string rows_of(const KnownHost& host, const std::vector<Rank>& ranks, double timeout_s, const HostAnswers& asked) {
    Texts texts;
    Writing of_ranks, all;
    for (const Rank& rank : ranks) write_rank(rank, timeout_s, asked, texts, of_ranks);
    all.add_text(host.name);
    all.add(texts.all().size());
    for (const std::string& text : texts.all()) all.add_text(text);
    all.add(ranks.size());
    return all.words + " " + of_ranks.words;
}

bool read_rows(std::string_view text, Rows& rows) {
    if (text.size() > most_bytes_of_rows) return false;
    Reading from(text);
    rows.host.name = from.text();
    const std::size_t texts = from.below(most_texts);
    for (std::size_t i = 0; i < texts && from.is_right(); ++i) rows.host.texts.push_back(from.text());
    const std::size_t ranks = from.below(tollbar_rows + 1);
    rows.ranks.reserve(ranks);
    for (std::size_t i = 0; i < ranks && from.is_right(); ++i) read_rank(from, rows.host, rows.ranks.emplace_back());
    const auto number = [](const Rank& rank) { return rank.row.rank; };
    const bool ascend = std::ranges::adjacent_find(rows.ranks, std::greater_equal<>(), number) == rows.ranks.end();
    return from.is_right() && from.is_over() && ascend && !rows.ranks.empty();
}

std::vector<Sentence> conclude_of_hosts(const Ranks& ranks, bool tells_time) {
    const auto is_elsewhere = [&](const Rank* rank) { return rank->host->name != ranks.front()->host->name; };
    const HostAnswers told = {.site = [](const Rank& rank, std::uint64_t place) { return rank.host->texts.at(place); },
                              .doing = [](const Rank& rank) { return rank.host->texts.at(rank.doing); },
                              .names_hosts = std::ranges::any_of(ranks, is_elsewhere),
                              .of_hosts = true,
                              .tells_time = tells_time};
    return conclude(ranks, std::numeric_limits<double>::min(), told);
}

}  // namespace tollbar::detail::missing
