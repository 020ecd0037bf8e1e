// SPDX-License-Identifier: Apache-2.0
// libFuzzer: rows come from other processes, half written or damaged. Whatever their words are, a look at them and all
// that is concluded from it ends, and does nothing undefined.
#include "doors/pmpi/watch/account.hpp"
#include "doors/pmpi/watch/look.hpp"
#include "missing/rows.hpp"

#include "communicator/facts.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

using namespace tollbar::detail::watch;

namespace {

const KnownHost& host() {
    static const auto* const only = new KnownHost{.name = "h", .texts = {}};
    return *only;
}

constexpr std::size_t most_rows = 8, words = sizeof(tollbar_row) / sizeof(std::uint64_t);

class Input {
public:
    explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    bool is_over() const { return bytes_.empty(); }

    std::uint64_t byte() {
        if (bytes_.empty()) return 0;
        const std::uint8_t first = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return first;
    }

    /// Any number, but more often one at an edge.
    std::uint64_t number() {
        const std::uint64_t kind = byte();
        switch (kind % 8) {
            case 0: return kind / 8;
            case 1: return ~(kind / 8);
            case 2: return std::uint64_t{1} << (kind / 8 + 32);
            case 3: return static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::min());
            case 4: return std::uint64_t{1} << 63;
            case 5: return byte() << 32 | byte();
            default: break;
        }
        std::uint64_t all = 0;
        for (int i = 0; i < 8; ++i) all = all << 8 | byte();
        return all;
    }

private:
    std::span<const std::uint8_t> bytes_;
};

/// A word of the row's first seats and communicators, of its head, or of anything.
std::size_t word_of_a_row(Input& input) {
    constexpr std::size_t seats = offsetof(tollbar_row, seats) / 8, comms = offsetof(tollbar_row, comms) / 8;
    const std::uint64_t where = input.byte();
    switch (where % 4) {
        case 0: return where / 4 % seats;
        case 1: return seats + where / 4 % (3 * sizeof(tollbar_seat) / 8);
        case 2: return comms + input.byte() % (3 * sizeof(tollbar_comm) / 8);
        default: return input.number() % words;
    }
}

/// A rank's next collective call, or a message.
void call(tollbar_row& row, Input& input) {
    tollbar_seat& seat = row.seats[input.byte() % 3];
    const unsigned index = input.byte() % 3, line = static_cast<unsigned>(input.byte());
    const std::uint64_t more = input.byte();
    tollbar_comm& comm = row.comms[index];
    seat.number = 0;
    if (tollbar_counts(call_of(line).kind) != 0) {
        seat.number = ++comm.count;
        comm.last[comm.count % tollbar_kept] = {.what = more % 3 << 32 | line,
                                                .gives = more % 5 == 0 ? ~std::uint64_t{0} : 8,
                                                .gets = more % 7 == 0 ? std::uint64_t{4} : std::uint64_t{8},
                                                .site = 1,
                                                .entered_ns = 1};
        seat.last = comm.id;
        seat.last_number = comm.count;
    }
    seat.peer = static_cast<std::int32_t>(more % 10) - 2;
    seat.tag = static_cast<std::int32_t>(more % 3) - 1;
    seat.way = static_cast<std::int32_t>(more % 8) - 1;
    if (seat.number == 0 && tollbar_takes_requests(&call_of(line)) != 0) seat.number = more % 4;
    row.started[more % 2] = {.id = comm.id, .number = more % 4, .times = more % 5};
    seat.at = tollbar_at(tollbar_serial_of(seat.at) + 1, index + 1, line, static_cast<tollbar_state>(more % 3));
}

void write(std::span<tollbar_row> rows, Input& input, std::uint64_t until) {
    while (!input.is_over()) {
        const std::uint64_t what = input.byte();
        if (what == until) return;
        tollbar_row& row = rows[input.byte() % rows.size()];
        if (what % 3 == 0) {
            const std::size_t at = word_of_a_row(input) * sizeof(std::uint64_t);
            const std::uint64_t value = input.number();
            std::memcpy(reinterpret_cast<std::byte*>(&row) + at, &value, sizeof value);
        } else {
            call(row, input);
        }
    }
}

void conclude_all(std::vector<Rank> ranks, const HostAnswers& asked) {
    leave_out_stopped(ranks, 1.0, asked);
    const std::vector<Sentence> lines = conclude(all_of(ranks), 1.0, asked);
    for (const Sentence& line : lines)
        if (line.text.empty()) __builtin_trap();
    Rows rows;
    if (read_rows(rows_of(host(), ranks, 1.0, asked), rows))
        if (conclude_of_hosts(all_of(rows.ranks)).size() != lines.size()) __builtin_trap();
}

/// Rows as another process may tell them: what ranks tell, with some of it changed.
void read_damaged(const std::vector<Rank>& ranks, const HostAnswers& asked, Input& input) {
    std::string text = rows_of(host(), ranks, 1.0, asked);
    while (!input.is_over()) {
        const std::size_t at = (input.byte() << 8 | input.byte()) % text.size();
        const std::uint64_t kind = input.byte();
        text[at] = kind % 4 == 0 ? ' ' : "0123456789abcdef-%"[kind / 4 % 18];
    }
    Rows rows;
    if (read_rows(text, rows)) conclude_of_hosts(all_of(rows.ranks));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static auto& file = *new tollbar_seats_file{};
    Input input({data, size});
    const std::size_t ranks = 1 + input.byte() % most_rows;
    const std::uint64_t kind = input.byte();
    file.taken = kind % 5 == 0 ? input.number() : ranks;
    const std::span rows(file.rows, ranks);
    std::ranges::fill(std::span(file.rows, most_rows), tollbar_row{});
    for (std::size_t i = 0; i < ranks; ++i) {
        rows[i].state = tollbar_row_used;
        rows[i].rank = static_cast<std::int32_t>(i);
        rows[i].process = static_cast<std::int32_t>(100 + i);
        for (std::uint64_t comm = 0; comm < 3; ++comm) {
            rows[i].comms[comm].id = tollbar_world + comm;
            rows[i].comms[comm].size = ranks + comm / 2;
        }
    }
    const HostAnswers asked = {
        .site = [](const Rank&, std::uint64_t) { return std::string("f"); },
        .doing =
            [&](const Rank& rank) {
                constexpr const char* all[] = {"running", "stopped", "dead", "asleep"};
                return std::string(all[(kind + static_cast<std::uint64_t>(rank.row.process)) % 4]);
            }};
    write(rows, input, 255);
    const Clock::time_point now = Clock::time_point() + std::chrono::hours(1);
    Looking looking(file, host());
    looking.longest(now);
    looking.look(now);
    write(rows, input, 254);
    const std::vector<Rank> seen = looking.look(now + std::chrono::seconds(2));
    conclude_all(seen, asked);
    write(rows, input, 253);
    looking.longest(now + std::chrono::seconds(3));
    looking.still_wait(seen, 1.0);
    const tollbar_comm& comm = rows[0].comms[0];
    late_of(file, comm, comm.count, input.number(), input.number());
    read_damaged(seen, asked, input);
    return 0;
}
