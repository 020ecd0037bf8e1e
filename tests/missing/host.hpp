// SPDX-License-Identifier: Apache-2.0
// Rows of a host, as a look at them gives, for tests of what is concluded from them.
#pragma once

#include "missing/rows.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::testing {

using namespace tollbar::detail::missing;

inline unsigned line_of(std::string_view name) {
    for (unsigned line = 0; line < tollbar_number_of_calls; ++line)
        if (name == tollbar_calls[line].name) return line;
    FAIL("no such call");
    return 0;
}

/// The start of a process that is stopped.
constexpr std::uint64_t stopped = 1;

inline const KnownHost& own_host() {
    static const KnownHost only{.name = "h", .texts = {}};
    return only;
}

/// The line as it is where all hosts are known that tell something.
inline std::string of_hosts(std::string line) {
    for (const auto& [here, everywhere] :
         {std::pair(" is not watched on this host, or in", " has told nothing meanwhile, or is in"),
          std::pair(" are not watched on this host, or in", " have told nothing meanwhile, or are in"),
          std::pair(" is not watched on this host", " has told nothing meanwhile"),
          std::pair(" are not watched on this host", " have told nothing meanwhile"),
          std::pair("no other rank is watched on this host", "no other rank is known"),
          std::pair("all of its ranks on this host have", "all of its ranks that are known have")})
        if (const std::size_t at = line.find(here); at != std::string::npos)
            line.replace(at, std::string_view(here).size(), everywhere);
    return line;
}

/// Ranks of one host, each of which is in communicator 1 of `size` ranks.
class Host {
public:
    explicit Host(int ranks, std::uint64_t size = 0) {
        for (int rank = 0; rank < ranks; ++rank) {
            Rank& one = ranks_.emplace_back();
            one.row.comms.resize(tollbar_comms);
            one.row.state = tollbar_row_used;
            one.row.rank = rank;
            one.row.process = 100 + rank;
            one.host = &own_host();
            add(rank, 0, 7, "world", size == 0 ? static_cast<std::uint64_t>(ranks) : size);
        }
    }

    void add(int rank, unsigned index, std::uint64_t id, const char* name, std::uint64_t size) {
        tollbar_comm& comm = at(rank).row.comms[index];
        comm.id = id;
        comm.size = size;
        std::snprintf(comm.name, sizeof comm.name, "%s", name);
    }

    /// Makes its next collective call, and waits in it.
    void call(int rank, std::string_view name, std::uint64_t root = 0, std::uint64_t op = 0, std::uint64_t bytes = 8,
              unsigned index = 0) {
        tollbar_comm& comm = at(rank).row.comms[index];
        const unsigned line = line_of(name);
        comm.last[++comm.count % tollbar_kept] = {.what = root << 32 | op << 16 | line,
                                                  .gives = bytes,
                                                  .gets = ~std::uint64_t{0},
                                                  .site = 1,
                                                  .entered_ns = 0};
        tollbar_seat& seat = at(rank).row.seats[0];
        seat.number = comm.count;
        seat.last = comm.id;
        seat.last_number = comm.count;
        enter(rank, line, index + 1);
    }

    /// Sets the bytes that its newest call gives to each and gets of each.
    void of_bytes(int rank, std::uint64_t gives, std::uint64_t gets) {
        tollbar_comm& comm = at(rank).row.comms[0];
        comm.last[comm.count % tollbar_kept].gives = gives;
        comm.last[comm.count % tollbar_kept].gets = gets;
    }

    void message(int rank, std::string_view name, int peer, int tag) {
        at(rank).row.seats[0].number = 0;
        at(rank).row.seats[0].peer = peer;
        at(rank).row.seats[0].tag = tag;
        enter(rank, line_of(name), 1);
    }

    /// In MPI_Wait, for a message.
    void wait_for_message(int rank, tollbar_purpose way, int peer, int tag) {
        at(rank).row.seats[0].way = way;
        message(rank, "MPI_Wait", peer, tag);
    }

    /// In MPI_Wait, for that collective call of the communicator.
    void wait_for_call(int rank, std::uint64_t number, tollbar_purpose way = tollbar_of_all, unsigned index = 0) {
        at(rank).row.seats[0].way = way;
        at(rank).row.seats[0].number = number;
        enter(rank, line_of("MPI_Wait"), index + 1);
    }

    /// So often has it started the persistent call of that number.
    void start(int rank, std::uint64_t number, std::uint64_t times, std::uint64_t id = 7) {
        at(rank).row.started[0] = {.id = id, .number = number, .times = times};
    }

    void enter(int rank, unsigned line, unsigned comm) {
        at(rank).row.seats[0].at = tollbar_at(++serial_, comm, line, tollbar_inside);
        at(rank).waited_s[0] = 2;
    }

    void leave(int rank) {
        at(rank).row.seats[0].at &= ~std::uint64_t{3};
        at(rank).waited_s[0] = 0;
    }

    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

    static HostAnswers asked() {
        return {.site = [](const Rank&, std::uint64_t address) { return "f+" + std::to_string(address); },
                .doing =
                    [](const Rank& rank) {
                        if (rank.row.start == stopped) return "stopped";
                        return rank.row.process == 0 ? "dead" : "running";
                    }};
    }

    /// The ranks from `first` to before `last` have travelled.
    void tell(Rows& rows, int first, int last, double age_s = 0, bool is_news = true) const {
        std::vector<Rank> ranks(ranks_.begin() + first, ranks_.begin() + last);
        leave_out_stopped(ranks, 1.0, asked());
        KnownHost host = own_host();
        if (first > 0) host.name = "h" + std::to_string(first);
        const std::string text = rows_of(host, ranks, 1.0, asked());
        CAPTURE(text);
        CHECK(read_rows(text, rows));
        rows.host.age_s = age_s;
        rows.host.is_news = is_news;
    }

    /// The ranks are concluded from in the same way after they have travelled.
    std::vector<Sentence> said() const {
        std::vector<Rank> ranks = ranks_;
        leave_out_stopped(ranks, 1.0, asked());
        std::vector<Sentence> lines = conclude(all_of(ranks), 1.0, asked());
        Rows rows;
        tell(rows, 0, static_cast<int>(ranks_.size()));
        const std::vector<Sentence> travelled = conclude_of_hosts(all_of(rows.ranks));
        REQUIRE(travelled.size() == lines.size());
        for (std::size_t i = 0; i < lines.size(); ++i) {
            CHECK(travelled[i].text == of_hosts(lines[i].text));
            CHECK(travelled[i].wait == lines[i].wait);
            CHECK(travelled[i].about == lines[i].about);
            CHECK(travelled[i].named == lines[i].named);
        }
        return lines;
    }

    std::vector<std::string> lines() const {
        std::vector<std::string> all;
        for (const Sentence& line : said()) all.push_back(line.text);
        return all;
    }

    std::string line() const {
        const std::vector<std::string> all = lines();
        REQUIRE(all.size() == 1);
        return all.front();
    }

private:
    std::vector<Rank> ranks_;
    std::uint64_t serial_ = 0;
};

/// The texts of what is concluded from the rows of several hosts.
inline std::vector<std::string> said_of(std::initializer_list<const Rows*> hosts) {
    Ranks all;
    for (const Rows* rows : hosts)
        for (const Rank& rank : rows->ranks) all.push_back(&rank);
    std::vector<std::string> texts;
    for (const Sentence& line : conclude_of_hosts(all)) texts.push_back(line.text);
    return texts;
}

inline bool says(const std::string& line, std::string_view what) {
    CAPTURE(line);
    CHECK(line.find(what) != std::string::npos);
    return line.find(what) != std::string::npos;
}

}  // namespace tollbar::testing
