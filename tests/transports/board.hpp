// SPDX-License-Identifier: Apache-2.0
// What all ranks of a test and its conductor see, in whatever processes they live: the tolls (tollbar/toll.h), and a
// desk for each rank at which orders are given and reports are made.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/toll.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <new>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

namespace tollbar::testing {

/// What a rank can be told to do.
enum class Call : std::uint8_t {
    arrive,
    test,
    wait,
    arrive_and_wait,
    timed_wait,  ///< for `argument` milliseconds
    missing,     ///< only says who is missing
    run,         ///< `argument` episodes without further orders, see FreeRun
    stop,        ///< gives the rank up and ends
};

/// How ranks run without a conductor.
struct FreeRun {
    std::uint32_t episodes;
    std::uint16_t late_every;  ///< every so many episodes one rank, chosen in turn, is late; 0: none is
    bool mixed;                ///< each rank leaves each episode in another way
};

/// One rank's part of the board.
struct alignas(128) Desk {
    alignas(128) std::atomic<std::uint32_t> orders{0};
    Call call = Call::stop;
    std::uint64_t argument = 0;
    FreeRun free_run{};

    alignas(128) std::atomic<std::uint32_t> reports{0};
    bool done = false;          ///< what the call returned
    std::uint64_t missing = 0;  ///< bit r: rank r is
    std::uint64_t unpaid = 0;   ///< episodes after which this rank found a toll unpaid, so far
    std::uint64_t early = 0;    ///< ranks that had left while this one was still late, so far
};

/// Memory for up to 64 desks that children after fork(2) and, through descriptor(), other programs share.
class Board {
public:
    explicit Board(Rank ranks) : Board(ranks, memfd_create("tollbar-test", 0)) {
        for (Rank rank = 0; rank < ranks; ++rank) new (desks_ + rank) Desk;
    }

    /// The board another process made.
    Board(Rank ranks, int descriptor) : ranks_(ranks), descriptor_(descriptor) {
        const std::size_t bytes = bytes_of(ranks);
        if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) fail();
        void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (memory == MAP_FAILED) fail();
        desks_ = static_cast<Desk*>(memory);
        tolls_ = reinterpret_cast<tollbar_toll*>(desks_ + ranks);
    }

    ~Board() {
        munmap(desks_, bytes_of(ranks_));
        close(descriptor_);
    }

    Board(const Board&) = delete;
    Board& operator=(const Board&) = delete;

    Rank ranks() const noexcept { return ranks_; }
    int descriptor() const noexcept { return descriptor_; }
    Desk& operator[](Rank rank) const noexcept { return desks_[rank]; }
    tollbar_toll* tolls() const noexcept { return tolls_; }

private:
    static std::size_t bytes_of(Rank ranks) { return ranks * (sizeof(Desk) + sizeof(tollbar_toll)); }
    [[noreturn]] static void fail() { throw std::system_error(errno, std::generic_category(), "board"); }

    Rank ranks_;
    int descriptor_;
    Desk* desks_ = nullptr;
    tollbar_toll* tolls_ = nullptr;
};

/// Sleeps until `count` has left `seen`; false when it has not within a second.
inline bool changes(const std::atomic<std::uint32_t>& count, std::uint32_t seen) {
    for (int poll = 0; poll < 64; ++poll)
        if (count.load(std::memory_order_acquire) != seen) return true;
    const timespec second{.tv_sec = 1, .tv_nsec = 0};
    syscall(SYS_futex, &count, FUTEX_WAIT, seen, &second, nullptr, 0);
    return count.load(std::memory_order_acquire) != seen;
}

/// Counts one further and wakes whoever waits for that.
inline void count_one(std::atomic<std::uint32_t>& count) {
    count.fetch_add(1, std::memory_order_release);
    syscall(SYS_futex, &count, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace tollbar::testing
