// SPDX-License-Identifier: Apache-2.0
// The two rounds by which the ranks of a communicator get to know each other, and how they wait in them.
#pragma once

#include "transports/mpi/p2p.h"

#include <tollbar/plan.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tollbar::mpi {

/// Passes time while a set-up waits, and says who is missing as often as the time-out asks.
class SetUpWait {
public:
    SetUpWait(const tollbar_p2p& p2p, const char* name, double timeout_s)
        : p2p_(p2p), name_(name), timeout_s_(timeout_s), next_report_s_(timeout_s) {}

    /// Called again and again, between two looks. `heard` has a nonzero byte for every rank heard of so far; NULL where
    /// that is not known.
    void pass(const unsigned char* heard = nullptr);

private:
    void report(double waited_s, const unsigned char* heard) const;

    const tollbar_p2p& p2p_;
    const char* name_;
    double timeout_s_;
    double next_report_s_;
    std::uint64_t calls_ = 0;
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

/// A channel that is closed again.
class Line {
public:
    /// For the bytes at `data`; for empty messages if that is NULL.
    Line(const tollbar_p2p& p2p, Rank peer, tollbar_way way, void* data = nullptr, std::size_t bytes = 0);
    ~Line() { p2p_.close(p2p_.state, channel_); }
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

    void start();
    /// Whether the message started last is over.
    bool done();
    /// Waits for it.
    void finish(SetUpWait waiting);

private:
    const tollbar_p2p& p2p_;
    tollbar_channel* channel_;
};

/// Collective: the bytes at `mine` of every rank, one after the other at `all` of rank 0.
void gather(const tollbar_p2p& p2p, const void* mine, void* all, std::size_t bytes, SetUpWait waiting);

/// Collective: `mine` of every rank, at rank 0 only.
template <class T>
std::vector<T> gather(const tollbar_p2p& p2p, const T& mine, SetUpWait waiting) {
    std::vector<T> all(p2p.rank == 0 ? p2p.ranks : 1);
    gather(p2p, &mine, all.data(), sizeof(T), waiting);
    return all;
}

/// Collective: rank 0's data everywhere.
void broadcast(const tollbar_p2p& p2p, void* data, std::size_t bytes, const SetUpWait& waiting);

}  // namespace tollbar::mpi
