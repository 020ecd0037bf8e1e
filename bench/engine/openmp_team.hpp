// SPDX-License-Identifier: Apache-2.0
// The threads of a process as OpenMP makes them. Each program has it from the runtime that it is compiled for.
#pragma once

#include "process_crew.hpp"

#include <omp.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace tollbar::bench {

class OpenMpTeam final : public ProcessThreads {
public:
    explicit OpenMpTeam(Rank threads) : threads_(threads) {
        omp_set_dynamic(0);
        omp_set_num_threads(static_cast<int>(threads));
    }

    Rank threads() const noexcept override { return threads_; }

    /// A parallel region.
    void run(const std::function<void(Rank)>& action) override {
        int given = 0;
#pragma omp parallel
        {
#pragma omp single
            given = omp_get_num_threads();
            if (given == omp_get_max_threads()) action(static_cast<Rank>(omp_get_thread_num()));
        }
        if (static_cast<Rank>(given) != threads_)
            throw std::runtime_error("the OpenMP runtime gave " + std::to_string(given) + " threads instead of " +
                                     std::to_string(threads_) + "; is OMP_THREAD_LIMIT set?");
    }

    /// The pool's threads may spin for a while after a region, and would do so beside the floors. Not every runtime
    /// puts them to sleep when asked to, so this waits until the process uses no more CPU time. A hard pause is
    /// no way out: libomp 14 hangs in the next region when there are more threads than CPUs.
    void rest() override {
        omp_pause_resource_all(omp_pause_soft);
        constexpr std::chrono::milliseconds glance{10};
        constexpr double asleep_ns = 1e6;
        for (int glances = 0; glances < 50; ++glances) {
            const Usage before = Usage::of_process();
            std::this_thread::sleep_for(glance);
            if ((Usage::of_process() - before).cpu_ns < asleep_ns) return;
        }
    }

private:
    Rank threads_;
};

}  // namespace tollbar::bench
