// SPDX-License-Identifier: Apache-2.0
// Tolls that every thread of a team pays before a barrier, and reads of all others after it; the results that programs
// print.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <omp.h>

inline std::atomic<long> early{0};   ///< tolls that were not there
inline std::atomic<long> result{0};  ///< sums of what does not depend on the order of threads

inline void add(long value) { result += value; }

constexpr int most_threads = 16;

/// Two sets in turn, so that paying for the next barrier does not disturb those who still read.
class Tolls {
public:
    /// One thread, chosen in turn, is late.
    void pay(long episode) {
        const int self = omp_get_thread_num();
        if (episode % omp_get_num_threads() == self)
            for (int i = 0; i < 2000; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
        paid_[episode % 2][self].value = episode;
    }

    void check(long episode) const {
        for (int i = 0; i < omp_get_num_threads(); ++i)
            if (paid_[episode % 2][i].value != episode) ++early;
    }

private:
    struct alignas(64) Toll {
        volatile long value = 0;
    };
    std::array<std::array<Toll, most_threads>, 2> paid_;
};

inline int threads = 2;  ///< of repeat()

/// Runs a body that waits once a call, in a region of `threads`.
template <class Body>
void repeat(Body body) {
    Tolls tolls;
#pragma omp parallel num_threads(threads)
    for (long episode = 1; episode <= 60; ++episode) {
        tolls.pay(episode);
        body(episode);
        tolls.check(episode);
    }
}
