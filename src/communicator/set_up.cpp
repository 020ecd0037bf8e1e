// SPDX-License-Identifier: Apache-2.0
#include "set_up.hpp"

#include "participant.h"

#include "runtime/say.h"

#include <tollbar/detail/crowding.hpp>
#include <tollbar/detail/waiting.hpp>

#include <cstring>
#include <deque>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace tollbar::mpi {

namespace {

/// What follows a look in vain, once so long was waited: the next one at once, or a nap.
void nap(std::chrono::steady_clock::duration waited) {
    if (waited > worth_polling) std::this_thread::sleep_for(nap_after(waited));
}

[[noreturn]] void refused(const char* what) {
    throw std::system_error(std::make_error_code(std::errc::io_error), what);
}

/// At the root: waits for everybody, and tells meanwhile whose message has come.
void finish_all(std::deque<Line>& lines, SetUpWait& waiting) {
    std::vector<unsigned char> heard(lines.size() + 1);
    heard[0] = 1;
    for (std::size_t missing = lines.size(); missing != 0;) {
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (heard[i + 1] != 0 || !lines[i].done()) continue;
            heard[i + 1] = 1;
            --missing;
        }
        if (missing != 0) waiting.pass(heard.data());
    }
}

}  // namespace

Line::Line(const tollbar_p2p& p2p, Rank peer, tollbar_way way, void* data, std::size_t bytes)
    : p2p_(p2p), channel_(p2p.open(p2p.state, peer, way, data, static_cast<std::uint32_t>(bytes))) {
    if (channel_ == nullptr) refused("the MPI gave no channel");
}

void Line::start() {
    if (p2p_.start(p2p_.state, channel_) != 0) refused("the MPI refused a message");
}

bool Line::done() {
    const int done = p2p_.done(p2p_.state, channel_);
    if (done < 0) refused("the MPI lost a message");
    return done > 0;
}

void Line::finish(SetUpWait waiting) {
    while (!done()) waiting.pass();
}

// Linear, because only the receiver of each rank's own message can say whose has not come.
void gather(const tollbar_p2p& p2p, const void* mine, void* all, std::size_t bytes, SetUpWait waiting) {
    if (bytes == 0) return;
    std::deque<Line> lines;
    if (p2p.rank != 0) {
        lines.emplace_back(p2p, 0, TOLLBAR_TO_PEER, const_cast<void*>(mine), bytes).start();
        return lines.front().finish(waiting);
    }
    std::memcpy(all, mine, bytes);
    for (Rank rank = 1; rank < p2p.ranks; ++rank)
        lines.emplace_back(p2p, rank, TOLLBAR_FROM_PEER, static_cast<char*>(all) + rank * bytes, bytes).start();
    finish_all(lines, waiting);
}

// Down a wide tree: where ranks outnumber CPUs, each level costs every rank a turn.
void broadcast(const tollbar_p2p& p2p, void* data, std::size_t bytes, const SetUpWait& waiting) {
    constexpr Rank children = 16;
    if (bytes == 0) return;
    if (p2p.rank != 0) {
        Line from(p2p, (p2p.rank - 1) / children, TOLLBAR_FROM_PEER, data, bytes);
        from.start();
        from.finish(waiting);
    }
    std::deque<Line> lines;
    for (Rank child = p2p.rank * children + 1; child < p2p.ranks && lines.size() < children; ++child)
        lines.emplace_back(p2p, child, TOLLBAR_TO_PEER, data, bytes).start();
    for (Line& line : lines) line.finish(waiting);
}

void SetUpWait::pass(const unsigned char* heard) {
    constexpr std::uint64_t polls = 200, yields = 1000;
    p2p_.progress(p2p_.state);
    if (++calls_ < polls && p2p_.ranks <= usable_cpus()) return;
    std::this_thread::yield();
    if (calls_ < yields) return;
    const auto waited = std::chrono::steady_clock::now() - since_;
    const double waited_s = std::chrono::duration<double>(waited).count();
    if (timeout_s_ > 0 && waited_s >= next_report_s_) {
        next_report_s_ += timeout_s_;
        report(waited_s, heard);
    }
    nap(waited);
}

void SetUpWait::report(double waited_s, const unsigned char* heard) const {
    std::string missing;
    for (Rank rank = 0; heard != nullptr && rank < p2p_.ranks && missing.size() < 200; ++rank)
        if (heard[rank] == 0) missing += (missing.empty() ? "rank " : ", ") + std::to_string(rank);
    if (missing.empty() && p2p_.rank == 0) return;
    if (missing.empty()) missing = "rank 0, or a rank that rank 0 waits for,";
    tollbar_report("%s (%u ranks), its first barrier: rank %u (process %d) has waited %.1f s: %s has not arrived",
                   name_, static_cast<unsigned>(p2p_.ranks), static_cast<unsigned>(p2p_.rank),
                   static_cast<int>(getpid()), waited_s, missing.c_str());
}

}  // namespace tollbar::mpi

void tollbar_mpi_pass_time(int64_t* since_ns) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    if (*since_ns == 0) *since_ns = std::chrono::nanoseconds(now).count();
    std::this_thread::yield();
    tollbar::mpi::nap(now - std::chrono::nanoseconds(*since_ns));
}
