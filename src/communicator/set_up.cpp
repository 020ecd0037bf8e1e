// SPDX-License-Identifier: Apache-2.0
#include "set_up.hpp"

#include "participant.h"

#include "runtime/say.h"

#include <tollbar/detail/crowding.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <unistd.h>

namespace tollbar::mpi {

namespace {

void demand(int refused, const char* what) {
    if (refused != 0) throw std::system_error(std::make_error_code(std::errc::io_error), what);
}

}  // namespace

void SetUp::gather(const void* mine, void* all, std::size_t bytes) const {
    Wait wait(*this);
    const tollbar_idle idle = wait.idle();
    demand(p2p_.gather(p2p_.state, mine, all, static_cast<std::uint32_t>(bytes), &idle), "the MPI could not gather");
}

void SetUp::broadcast(void* data, std::size_t bytes) const {
    Wait wait(*this);
    const tollbar_idle idle = wait.idle();
    demand(p2p_.broadcast(p2p_.state, data, static_cast<std::uint32_t>(bytes), &idle), "the MPI could not broadcast");
}

void SetUp::Wait::pass_time(void* self, const unsigned char* heard) {
    auto& [set_up, waited, next_report_s] = *static_cast<Wait*>(self);
    const tollbar_p2p& p2p = set_up.p2p_;
    p2p.progress(p2p.state);
    const Crowding crowding = p2p.ranks <= usable_cpus() ? Crowding::roomy : Crowding::crowded;
    nap<NativeSync>(patience_for<NativeSync>(wait_policy::automatic, crowding), waited, Never{});
    const double waited_s = std::chrono::duration<double>(waited.elapsed()).count();
    if (set_up.timeout_s_ <= 0 || waited_s < next_report_s) return;
    next_report_s += set_up.timeout_s_;
    set_up.report(waited_s, heard);
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
