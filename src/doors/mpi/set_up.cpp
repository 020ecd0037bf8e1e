// SPDX-License-Identifier: Apache-2.0
#include "set_up.hpp"

#include <tollbar/crowding.hpp>

#include <cstdio>
#include <string>
#include <thread>
#include <unistd.h>

namespace tollbar::mpi {

void broadcast(const tollbar_carrier& carrier, void* data, std::size_t bytes, SetUpWait waiting) {
    const tollbar_idle idle = waiting.idle();
    if (carrier.broadcast(carrier.state, data, static_cast<std::uint32_t>(bytes), &idle) != 0)
        throw std::system_error(std::make_error_code(std::errc::io_error), "the MPI could not broadcast");
}

void SetUpWait::call(void* self, const unsigned char* heard) {
    using namespace std::chrono_literals;
    auto& wait = *static_cast<SetUpWait*>(self);
    constexpr std::uint64_t polls = 200, yields = 1000;
    wait.carrier_.progress(wait.carrier_.state);
    if (++wait.calls_ < polls && wait.carrier_.ranks <= usable_cpus()) return;
    std::this_thread::yield();
    if (wait.calls_ < yields) return;
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - wait.since_;
    if (wait.timeout_s_ > 0 && waited.count() >= wait.next_report_s_) {
        wait.next_report_s_ += wait.timeout_s_;
        wait.report(waited.count(), heard);
    }
    if (waited > 2ms) std::this_thread::sleep_for(waited > 100ms ? 1ms : 100us);
}

void SetUpWait::report(double waited_s, const unsigned char* heard) const {
    std::string missing;
    for (Rank rank = 0; heard != nullptr && rank < carrier_.ranks && missing.size() < 200; ++rank)
        if (heard[rank] == 0) missing += (missing.empty() ? "rank " : ", ") + std::to_string(rank);
    if (missing.empty() && carrier_.rank == 0) return;
    if (missing.empty()) missing = "rank 0, or somebody it waits for,";
    std::fprintf(stderr,
                 "tollbar: %s (%u ranks), its first barrier: rank %u (process %d) has waited %.1f s: %s has not "
                 "arrived\n",
                 name_, static_cast<unsigned>(carrier_.ranks), static_cast<unsigned>(carrier_.rank),
                 static_cast<int>(getpid()), waited_s, missing.c_str());
}

}  // namespace tollbar::mpi
