// SPDX-License-Identifier: Apache-2.0
// Sums of all waits, and a heap of the longest ones, so that an account stays small however long its rank runs.
#include "account.hpp"

#include "missing/reporting.hpp"
#include "base/host.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <mutex>

namespace tollbar::detail::watch {

namespace {

constexpr std::size_t most_sums = 4096, most_longest = 1024, most_bytes_of_others = 128;

/// Communicators of one name and size are one: a program may make such ones without end.
struct Call {
    std::string comm;
    std::uint64_t ranks = 0;
    unsigned line = 0;
    std::uint64_t site = 0;
    int late = unknown;

    auto operator<=>(const Call&) const = default;
};

/// The place of sums that find no room.
Call others_of_all() { return {.comm = "others"}; }

struct Sum {
    std::uint64_t waits = 0, ns = 0;
};

struct Stay {
    std::uint64_t ns, number, entered_ns;
    Call call;
};

bool is_longer(const Stay& one, const Stay& other) { return one.ns > other.ns; }

/// The process's own. Never destroyed: threads may be in calls until it ends.
struct Totals {
    std::mutex mutex;
    std::map<Call, Sum> sums;
    std::vector<Stay> longest;  ///< a heap, the shortest at its front
    const std::uint64_t began_ns = now_ns();

    void add(Stay stay) {
        const std::lock_guard lock(mutex);
        const bool room = sums.size() < most_sums || sums.contains(stay.call);
        Sum& sum = sums[room ? stay.call : others_of_all()];
        ++sum.waits;
        sum.ns += stay.ns;
        longest.push_back(std::move(stay));
        std::ranges::push_heap(longest, is_longer);
        if (longest.size() <= most_longest) return;
        std::ranges::pop_heap(longest, is_longer);
        longest.pop_back();
    }
};

Totals& own() {
    static auto* const only = new Totals;
    return *only;
}

/// "1.250000000".
std::string seconds_of(std::uint64_t ns) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%llu.%09llu", static_cast<unsigned long long>(ns / 1'000'000'000),
                  static_cast<unsigned long long>(ns % 1'000'000'000));
    return text.data();
}

std::string line(std::vector<std::string> fields) {
    for (std::string& field : fields)
        std::ranges::replace_if(
            field, [](char c) { return c == '\t' || c == '\n'; }, ' ');
    return joined(fields, "\t") + "\n";
}

}  // namespace

Late late_of(const tollbar_seats_file& file, const tollbar_comm& comm, std::uint64_t number, std::uint64_t entered_ns,
             std::uint64_t left_ns) noexcept {
    Late late;
    std::uint64_t rows = 0, here = 0, forgotten = 0, world = 0;
    const std::uint64_t taken = std::min<std::uint64_t>(__atomic_load_n(&file.taken, __ATOMIC_RELAXED), tollbar_rows);
    for (std::uint64_t index = 0; index < taken; ++index) {
        const tollbar_row& row = file.rows[index];
        // Acquire: pairs with begin(); the row's rank is there.
        if (__atomic_load_n(&row.state, __ATOMIC_ACQUIRE) == tollbar_row_free) continue;
        ++rows;
        const tollbar_comm& first = row.comms[0];  // each rank's first one, as long as it is in the MPI
        if (__atomic_load_n(&first.id, __ATOMIC_RELAXED) == tollbar_world) world = first.size;
        const auto* const theirs = std::ranges::find_if(
            row.comms, [&](const tollbar_comm& one) { return __atomic_load_n(&one.id, __ATOMIC_RELAXED) == comm.id; });
        if (theirs == std::end(row.comms)) continue;
        ++here;
        // Acquire: pairs with tollbar_count().
        if (__atomic_load_n(&theirs->count, __ATOMIC_ACQUIRE) < number) continue;
        const std::uint64_t came = __atomic_load_n(&theirs->last[number % tollbar_kept].entered_ns, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        // One less than are kept: the next call may be being written over this one.
        if (__atomic_load_n(&theirs->count, __ATOMIC_RELAXED) >= number + tollbar_kept - 1) {
            ++forgotten;
        } else if (came <= left_ns && came >= late.ns) {
            late = {.rank = row.rank, .ns = came};
        }
    }
    if (forgotten > 0 && late.ns < entered_ns + tollbar_long_ns) return {.rank = unknown, .ns = left_ns};
    // The larger part of the stay: what a call takes between hosts is no wait for a rank of them.
    const std::uint64_t for_here = std::max<std::uint64_t>(late.ns - std::min(late.ns, entered_ns), tollbar_long_ns);
    if (here < comm.size && late.ns + for_here < left_ns)
        return {.rank = world != 0 && world <= rows ? unknown : elsewhere, .ns = left_ns};
    return late;
}

void add_stay(const tollbar_seats_file& file, const tollbar_comm& comm, std::uint64_t number, std::uint64_t entered_ns,
              std::uint64_t left_ns) noexcept {
    const Late late = late_of(file, comm, number, entered_ns, left_ns);
    if (late.ns < entered_ns + tollbar_long_ns) return;
    const tollbar_counted& counted = comm.last[number % tollbar_kept];
    report_if_possible([&] {
        own().add({.ns = late.ns - entered_ns,
                   .number = number,
                   .entered_ns = entered_ns,
                   .call = {.comm = name_of(comm),
                            .ranks = comm.size,
                            .line = static_cast<unsigned>(counted.what & 0xffff),
                            .site = counted.site,
                            .late = late.rank}});
    });
}

void begin_account() noexcept {
    report_if_possible([] { own(); });
}

std::string account(int rank, std::size_t most, std::size_t bytes,
                    const std::function<CodePlace(std::uint64_t)>& site) {
    Totals& all = own();
    const std::lock_guard lock(all.mutex);
    // Times are those of the clock that hosts have in common.
    const std::uint64_t ended_ns = now_ns();
    const std::uint64_t since = nanoseconds(std::chrono::system_clock::now().time_since_epoch()) - ended_ns;
    const std::string by = std::to_string(rank);
    std::string text = line({"rank", by, host_name(), seconds_of(all.began_ns + since), seconds_of(ended_ns + since)});
    std::map<std::uint64_t, CodePlace> places;
    const auto line_of = [&](const char* what, const Call& call, std::initializer_list<std::string> more) {
        const auto [found, is_new] = places.try_emplace(call.site);
        CodePlace& place = found->second;
        if (is_new && call.site != 0) place = site(call.site);
        std::vector<std::string> fields{what,
                                        by,
                                        call.site == 0 ? "several calls" : call_of(call.line).name,
                                        call.comm,
                                        std::to_string(call.ranks),
                                        call.site == 0 ? "many places" : place.raw(),
                                        place.build_id,
                                        std::to_string(place.inode),
                                        std::to_string(call.late)};
        fields.insert(fields.end(), more);
        return line(std::move(fields));
    };
    std::vector<std::pair<Call, Sum>> sums(all.sums.begin(), all.sums.end());
    std::ranges::sort(sums, [](const auto& one, const auto& other) { return one.second.ns > other.second.ns; });
    const std::size_t room = bytes - std::min(bytes, most_bytes_of_others);
    Sum others;
    for (const auto& [call, sum] : sums) {
        const std::string own = line_of("sum", call, {std::to_string(sum.waits), seconds_of(sum.ns)});
        if (call != others_of_all() && text.size() + own.size() <= room) {
            text += own;
        } else {
            others.waits += sum.waits;
            others.ns += sum.ns;
        }
    }
    if (others.waits != 0)
        text += line_of("sum", others_of_all(), {std::to_string(others.waits), seconds_of(others.ns)});
    std::ranges::sort(all.longest, is_longer);
    for (std::size_t i = 0; i < std::min(most, all.longest.size()); ++i) {
        const Stay& stay = all.longest[i];
        const std::uint64_t from = stay.entered_ns + since;
        const std::string own = line_of("wait", stay.call,
                                        {std::to_string(stay.number), seconds_of(from), seconds_of(from + stay.ns)});
        if (text.size() + own.size() > bytes) break;
        text += own;
    }
    return text;
}

}  // namespace tollbar::detail::watch
