// SPDX-License-Identifier: Apache-2.0
#include "set_up.hpp"

#include "participant.h"

#include "runtime/say.h"

#include <tollbar/detail/crowding.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <system_error>
#include <unistd.h>

namespace tollbar::mpi {

namespace {

/// What goes by messages; stays for ever where the MPI may use it after the last look at it.
class Letters {
public:
    explicit Letters(std::size_t bytes) : bytes_(new std::byte[bytes]) {}
    ~Letters() {
        if (!keep_) delete[] bytes_;
    }
    Letters(const Letters&) = delete;
    Letters& operator=(const Letters&) = delete;

    std::byte* at(std::size_t offset) noexcept { return bytes_ + offset; }
    void keep() noexcept { keep_ = true; }

private:
    std::byte* bytes_;
    bool keep_ = false;
};

/// A channel for some of them, started; closed again in the end.
class Line {
public:
    Line(const tollbar_p2p& p2p, Rank peer, tollbar_way way, Letters& letters, std::size_t offset, std::size_t bytes)
        : p2p_(p2p), letters_(letters),
          channel_(p2p.open(p2p.state, peer, way, letters.at(offset), static_cast<std::uint32_t>(bytes))) {
        if (channel_ == nullptr) fail_alone("the MPI gave no channel");
        if (p2p_.start(p2p_.state, channel_) == 0) return;
        close();
        fail_alone("the MPI refused a message");
    }
    ~Line() { close(); }
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

    /// Whether the message is over.
    bool done() {
        const int done = p2p_.done(p2p_.state, channel_);
        if (done < 0) fail_alone("the MPI lost a message");
        return done > 0;
    }

private:
    void close() noexcept {
        if (p2p_.close(p2p_.state, channel_) != 0) letters_.keep();
    }

    const tollbar_p2p& p2p_;
    Letters& letters_;
    tollbar_channel* channel_;
};

}  // namespace

void fail_alone(const char* what) { throw std::system_error(std::make_error_code(std::errc::io_error), what); }

void SetUp::agree_on(int error) const {
    const std::vector<int> all = gather(error);
    for (const int one : all)
        if (error == 0) error = one;
    broadcast(error);
    if (error != 0) throw Declined(std::error_code(error, std::generic_category()));
}

// Linear, because only the receiver of each rank's own message can say whose has not come.
void SetUp::gather(const void* mine, void* all, std::size_t bytes) const {
    if (bytes == 0) return;
    Letters letters(is_root() ? p2p_.ranks * bytes : bytes);
    std::memcpy(letters.at(0), mine, bytes);
    if (!is_root()) {
        Line line(p2p_, 0, TOLLBAR_TO_PEER, letters, 0, bytes);
        return wait_until([&] { return line.done(); });
    }
    std::deque<Line> lines;
    for (Rank rank = 1; rank < p2p_.ranks; ++rank)
        lines.emplace_back(p2p_, rank, TOLLBAR_FROM_PEER, letters, rank * bytes, bytes);
    std::vector<unsigned char> heard(p2p_.ranks);
    heard[0] = 1;
    for (Wait wait(*this);; wait.pass(heard.data())) {
        for (Rank rank = 1; rank < p2p_.ranks; ++rank)
            if (heard[rank] == 0 && lines[rank - 1].done()) heard[rank] = 1;
        if (std::ranges::all_of(heard, [](unsigned char one) { return one != 0; })) break;
    }
    std::memcpy(all, letters.at(0), p2p_.ranks * bytes);
}

// Down a wide tree: where ranks outnumber CPUs, each level costs every rank a turn.
void SetUp::broadcast(void* data, std::size_t bytes) const {
    constexpr Rank children = 16;
    if (bytes == 0) return;
    Letters letters(bytes);
    if (is_root()) {
        std::memcpy(letters.at(0), data, bytes);
    } else {
        Line from(p2p_, (p2p_.rank - 1) / children, TOLLBAR_FROM_PEER, letters, 0, bytes);
        wait_until([&] { return from.done(); });
        std::memcpy(data, letters.at(0), bytes);
    }
    std::deque<Line> lines;
    for (Rank child = p2p_.rank * children + 1; child < p2p_.ranks && lines.size() < children; ++child)
        lines.emplace_back(p2p_, child, TOLLBAR_TO_PEER, letters, 0, bytes);
    for (Line& line : lines) wait_until([&] { return line.done(); });
}

void SetUp::Wait::pass(const unsigned char* heard) {
    const tollbar_p2p& p2p = set_up_.p2p_;
    p2p.progress(p2p.state);
    if (p2p.error(p2p.state) != 0) fail_alone("the MPI gave an error");
    const Crowding crowding = p2p.ranks <= masked_cpus() ? Crowding::roomy : Crowding::crowded;
    nap<NativeSync>(patience_for<NativeSync>(wait_policy::automatic, crowding), waited_, Never{});
    const double waited_s = std::chrono::duration<double>(waited_.elapsed()).count();
    if (set_up_.timeout_s_ <= 0 || waited_s < next_report_s_) return;
    next_report_s_ += set_up_.timeout_s_;
    set_up_.report(waited_s, heard);
}

void SetUp::report(double waited_s, const unsigned char* heard) const {
    std::string missing;
    for (Rank rank = 0; heard != nullptr && rank < p2p_.ranks && missing.size() < 200; ++rank)
        if (heard[rank] == 0) missing += (missing.empty() ? "rank " : ", ") + std::to_string(rank);
    if (missing.empty() && is_root()) return;
    if (missing.empty()) missing = "rank 0, or a rank that rank 0 waits for,";
    tollbar_report("%s (%u ranks), its first barrier: rank %u (process %d) has waited %.1f s: %s has not arrived",
                   name_, static_cast<unsigned>(p2p_.ranks), static_cast<unsigned>(p2p_.rank),
                   static_cast<int>(getpid()), waited_s, missing.c_str());
}

}  // namespace tollbar::mpi

void tollbar_mpi_pass_time(int64_t* since_ns) {
    using namespace tollbar;
    using std::chrono::nanoseconds;
    if (*since_ns == 0) *since_ns = nanoseconds(Stopwatch::Clock::now().time_since_epoch()).count();
    Stopwatch waited(Stopwatch::Clock::time_point{nanoseconds(*since_ns)});
    nap<NativeSync>({.spins = 0, .yields = 0}, waited, Never{});
}
