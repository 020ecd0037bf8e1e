// SPDX-License-Identifier: Apache-2.0
// The two rounds by which the ranks of a communicator get to know each other, and how they wait in them.
#pragma once

#include "transports/mpi/p2p.h"

#include <tollbar/plan.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <vector>

namespace tollbar::mpi {

/// Passes time while a set-up waits, and says who is missing as often as the time-out asks.
class SetUpWait {
public:
    SetUpWait(const tollbar_p2p& p2p, const char* name, double timeout_s)
        : p2p_(p2p), name_(name), timeout_s_(timeout_s), next_report_s_(timeout_s) {}

    tollbar_idle idle() noexcept { return {.call = call, .context = this}; }

private:
    static void call(void* self, const unsigned char* heard);
    void report(double waited_s, const unsigned char* heard) const;

    const tollbar_p2p& p2p_;
    const char* name_;
    double timeout_s_;
    double next_report_s_;
    std::uint64_t calls_ = 0;
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

/// Collective: `mine` of every rank, at rank 0 only.
template <class T>
std::vector<T> gather(const tollbar_p2p& p2p, const T& mine, SetUpWait waiting) {
    std::vector<T> all(p2p.rank == 0 ? p2p.ranks : 1);
    const tollbar_idle idle = waiting.idle();
    if (p2p.gather(p2p.state, &mine, all.data(), sizeof(T), &idle) != 0)
        throw std::system_error(std::make_error_code(std::errc::io_error), "the MPI could not gather");
    return all;
}

/// Collective: rank 0's data everywhere.
void broadcast(const tollbar_p2p& p2p, void* data, std::size_t bytes, SetUpWait waiting);

}  // namespace tollbar::mpi
