// SPDX-License-Identifier: Apache-2.0
// The threads of a rank as OpenMP makes them.
#pragma once

#include "process_crew.hpp"

#include <omp.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace tollbar::bench {

class OpenMpTeam final : public Team {
public:
    explicit OpenMpTeam(Rank threads) : threads_(threads) {
        omp_set_dynamic(0);
        omp_set_num_threads(static_cast<int>(threads));
    }

    Rank threads() const noexcept override { return threads_; }

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

    void rest() override {
        omp_pause_resource_all(omp_pause_soft);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }

private:
    Rank threads_;
};

}  // namespace tollbar::bench
