// SPDX-License-Identifier: Apache-2.0
#include "set_up.hpp"

#include "participant.h"

#include "runtime/say.h"

#include <tollbar/detail/crowding.hpp>
#include <tollbar/detail/waiting.hpp>

#include <string>
#include <thread>
#include <unistd.h>

namespace tollbar::mpi {

namespace {

/// What follows a look in vain, once so long was waited: the next one at once, or a nap.
void nap(std::chrono::steady_clock::duration waited) {
    if (waited > worth_polling) std::this_thread::sleep_for(nap_after(waited));
}

}  // namespace

void broadcast(const tollbar_p2p& p2p, void* data, std::size_t bytes, SetUpWait waiting) {
    const tollbar_idle idle = waiting.idle();
    if (p2p.broadcast(p2p.state, data, static_cast<std::uint32_t>(bytes), &idle) != 0)
        throw std::system_error(std::make_error_code(std::errc::io_error), "the MPI could not broadcast");
}

void SetUpWait::call(void* self, const unsigned char* heard) {
    auto& wait = *static_cast<SetUpWait*>(self);
    constexpr std::uint64_t polls = 200, yields = 1000;
    wait.p2p_.progress(wait.p2p_.state);
    if (++wait.calls_ < polls && wait.p2p_.ranks <= usable_cpus()) return;
    std::this_thread::yield();
    if (wait.calls_ < yields) return;
    const auto waited = std::chrono::steady_clock::now() - wait.since_;
    const double waited_s = std::chrono::duration<double>(waited).count();
    if (wait.timeout_s_ > 0 && waited_s >= wait.next_report_s_) {
        wait.next_report_s_ += wait.timeout_s_;
        wait.report(waited_s, heard);
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
