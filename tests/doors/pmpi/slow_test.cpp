// SPDX-License-Identifier: Apache-2.0
// Ranks that are merely slow: stopped for a while, or late to leave a call for want of a CPU. In 10,000 histories of
// their seats (a tenth of them in `make test`), looked at in the middle of steps too, no line names a rank that has
// come, and none finds what does not fit together.
#include "doors/pmpi/watch/look.hpp"
#include "missing/conclusion.hpp"

#include "effort.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

using namespace tollbar::detail::watch;

namespace {

const auto histories = static_cast<std::uint64_t>(10'000 * tollbar::testing::effort());
constexpr int most_ranks = 8, calls = 6, comms = 2;
constexpr int timeout_ticks = 60, confirmed_ticks = timeout_ticks / 20;
constexpr auto tick = std::chrono::milliseconds(1);
constexpr double timeout_s = timeout_ticks * std::chrono::duration<double>(tick).count();

struct Random {
    std::mt19937_64 bits;

    int below(int limit) { return static_cast<int>(bits() % static_cast<std::uint64_t>(limit)); }
    bool one_in(int many) { return below(many) == 0; }
};

unsigned line_of(std::string_view name) {
    for (unsigned line = 0; line < tollbar_number_of_calls; ++line)
        if (name == tollbar_calls[line].name) return line;
    FAIL("no such call");
    return 0;
}

/// All ranks make the same calls in the same order; a receive is from the rank before, which has sent on its way there.
struct Call {
    std::string_view name;
    unsigned comm;
    int root;
};

class Job {
public:
    Job(tollbar_seats_file& file, std::uint64_t seed)
        : file_(file), random_{std::mt19937_64(seed)}, looking_(file, host_) {
        ranks_ = 2 + random_.below(most_ranks - 1);
        for (int i = 0; i < calls; ++i) {
            constexpr std::string_view names[] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Bcast", "MPI_Reduce",
                                                  "MPI_Recv"};
            calls_.push_back(
                {names[random_.below(5)], static_cast<unsigned>(random_.below(comms)), random_.below(ranks_)});
        }
        file.taken = static_cast<std::uint64_t>(ranks_);
        for (int rank = 0; rank < ranks_; ++rank) {
            tollbar_row& row = file.rows[rank] = {};
            row.state = tollbar_row_used;
            row.rank = rank;
            row.process = 100 + rank;
            for (unsigned comm = 0; comm < comms; ++comm) {
                row.comms[comm].id = 7 + comm;
                row.comms[comm].size = file.taken;
                std::snprintf(row.comms[comm].name, sizeof row.comms[comm].name, "comm %u", comm);
            }
        }
        states_.resize(static_cast<std::size_t>(ranks_));
    }

    /// Runs to the end; the number of lines that were said.
    std::uint64_t run() {
        int until_look = 1;
        for (bool over = false; !over; now_ += tick) {
            over = true;
            const int looked_at = random_.below(ranks_);
            for (int rank = 0; rank < ranks_; ++rank) {
                if (rank == looked_at && --until_look == 0) until_look = look();
                step(rank);
                over = over && state(rank).at == calls_.size();
            }
        }
        return said_;
    }

private:
    struct State {
        std::size_t at = 0;  ///< the call it is in, or comes to next
        bool inside = false;
        int stopped = 0, computes = 0, leaves = 0;
    };

    State& state(int rank) { return states_[static_cast<std::size_t>(rank)]; }
    bool has_come(int rank, std::size_t to) {
        return state(rank).at > to || (state(rank).at == to && state(rank).inside);
    }

    void step(int rank) {
        State& own = state(rank);
        if (own.stopped > 0 && --own.stopped > 0) return;
        if (random_.one_in(60)) own.stopped = confirmed_ticks + 1 + random_.below(3 * timeout_ticks);
        if (own.stopped > 0 || own.at == calls_.size()) return;
        if (own.inside) {
            if (may_leave(rank, calls_[own.at]) && (++own.leaves == confirmed_ticks - 1 || random_.one_in(2)))
                leave(rank);
        } else if (own.computes > 0) {
            --own.computes;
        } else {
            enter(rank, calls_[own.at]);
        }
    }

    bool may_leave(int rank, const Call& call) {
        const std::size_t at = state(rank).at;
        if (call.name == "MPI_Recv") return has_come((rank + ranks_ - 1) % ranks_, at);
        if (call.name == "MPI_Bcast") return has_come(call.root, at);
        if (call.name == "MPI_Reduce" && rank != call.root) return true;
        for (int other = 0; other < ranks_; ++other)
            if (!has_come(other, at)) return false;
        return true;
    }

    void enter(int rank, const Call& call) {
        tollbar_row& row = file_.rows[rank];
        tollbar_seat& seat = row.seats[0];
        const unsigned line = line_of(call.name);
        seat.number = 0;
        if (call.name == "MPI_Recv") {
            seat.peer = (rank + ranks_ - 1) % ranks_;
            seat.tag = 1;
        } else {
            tollbar_comm& comm = row.comms[call.comm];
            const bool rooted = call.name == "MPI_Bcast" || call.name == "MPI_Reduce";
            const auto root = rooted ? static_cast<std::uint64_t>(call.root) + 1 : 0;
            seat.number = comm.count + 1;
            comm.last[seat.number % tollbar_kept] = {
                .what = root << 32 | line, .gives = 8, .gets = ~std::uint64_t{0}, .site = 1, .entered_ns = 0};
            comm.count = seat.number;
            seat.last = comm.id;
            seat.last_number = comm.count;
        }
        seat.at = tollbar_at(tollbar_serial_of(seat.at) + 1, call.comm + 1, line, tollbar_inside);
        state(rank).inside = true;
    }

    void leave(int rank) {
        file_.rows[rank].seats[0].at &= ~std::uint64_t{3};
        state(rank).inside = false;
        state(rank).leaves = 0;
        state(rank).computes = random_.one_in(8) ? random_.below(2 * timeout_ticks) : random_.below(3);
        if (++state(rank).at == calls_.size()) file_.rows[rank].state = tollbar_row_left;
    }

    /// As the watcher does it: what a look finds is said if it holds a little later. Gives when to come again.
    int look() {
        const HostAnswers asked = {.site = [](const Rank&, std::uint64_t) { return std::string("f"); },
                                   .doing =
                                       [this](const Rank& rank) {
                                           return std::string(state(rank.row.rank).stopped > 0 ? "stopped" : "running");
                                       }};
        if (found_.empty() && looking_.longest(now_).waited_s >= timeout_s) {
            seen_ = looking_.look(now_);
            leave_out_stopped(seen_, timeout_s, asked);
            for (const Sentence& line : conclude(all_of(seen_), timeout_s, asked))
                found_.emplace_back(line.text, is_true(line.text));
            if (!found_.empty()) return confirmed_ticks;
        } else if (!found_.empty()) {
            const bool holds = !leave_out_stopped(seen_, timeout_s, asked) && looking_.still_wait(seen_, timeout_s);
            said_ += holds ? found_.size() : 0;
            for (const auto& [line, right] : found_) {
                CAPTURE(line);
                CHECK((right || !holds));
            }
            found_.clear();
        }
        return 1 + random_.below(timeout_ticks / 4);
    }

    bool is_true(const std::string& line) {
        if (line.find(" called ") != std::string::npos || line.find("a cycle") != std::string::npos) return false;
        std::smatch found;
        static const std::regex meeting(R"(comm (\d) \(\d+ ranks\), (\w+) (\d+) at )"), number(R"(\d+)"),
            names(R"(ranks? ((?:\d+(?:, | and )?)+)(?: \(host h, process \d+\))? ha(?:s|ve) not come)"),
            message(R"(MPI_Recv from rank (\d+) \(tag 1\) at f: rank (\d+) on h)");
        if (std::regex_search(line, found, message)) {
            const int from = std::stoi(found[1]), by = std::stoi(found[2]);
            return state(by).inside && !has_come(from, state(by).at);
        }
        if (!std::regex_search(line, found, meeting)) return false;
        const auto comm = [&](int rank) -> const tollbar_comm& { return file_.rows[rank].comms[std::stoi(found[1])]; };
        const auto at = static_cast<std::uint64_t>(std::stoul(found[3]));
        std::size_t named = 0;
        for (std::sregex_iterator each(line.begin(), line.end(), names), end; each != end; ++each) {
            const std::string ranks = (*each)[1];
            for (std::sregex_iterator one(ranks.begin(), ranks.end(), number); one != end; ++one, ++named)
                if (comm(std::stoi(one->str())).count >= at) return false;
        }
        return named > 0;
    }

    tollbar_seats_file& file_;
    Random random_;
    const KnownHost host_{.name = "h", .texts = {}};
    Looking looking_;
    int ranks_ = 0;
    std::vector<Call> calls_;
    std::vector<State> states_;
    std::vector<Rank> seen_;
    std::vector<std::pair<std::string, bool>> found_;  ///< lines that are not yet said, and whether they are true
    std::uint64_t said_ = 0;
    Clock::time_point now_ = Clock::time_point() + std::chrono::hours(1);
};

}  // namespace

TEST_CASE("of ranks that are merely slow only those that have not come are named") {
    const auto file = std::make_unique<tollbar_seats_file>();
    std::uint64_t lines = 0;
    for (std::uint64_t seed = 1; seed <= histories; ++seed) lines += Job(*file, seed).run();
    CHECK(lines > histories);
    std::printf("%llu lines about %llu jobs that are merely slow\n", static_cast<unsigned long long>(lines),
                static_cast<unsigned long long>(histories));
}
