// SPDX-License-Identifier: Apache-2.0
// tollbar::mpi_barrier: the combined barrier of mpi.h as a C++ object.
#pragma once

#include <tollbar/mpi.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace tollbar {

/// A barrier between all threads of all ranks of a communicator. mpi.h says which threads call MPI and when.
///
///     tollbar::mpi_barrier barrier(MPI_COMM_WORLD, threads);
///     ...in thread t of every rank...
///     barrier.arrive_and_wait(t);
///
/// Constructed and destroyed collectively; destroyed before MPI_Finalize.
///
/// Memory order: what any thread of any rank did before it arrived happens before any wait or successful test of the
/// same episode returns.
class mpi_barrier {
public:
    /// Throws std::invalid_argument for a wrong argument, std::system_error for everything else.
    mpi_barrier(MPI_Comm comm, unsigned threads, const std::string& inner = "", const std::string& outer = "") {
        const tollbar_mpi_barrier_options options{inner.c_str(), outer.c_str(), {}};
        tollbar_mpi_barrier* made = nullptr;
        check(tollbar_mpi_barrier_create(comm, threads, &options, &made));
        barrier_.reset(made);
    }

    /// Enters the next episode and blocks until all threads have entered it. Throws as the constructor does.
    void arrive_and_wait(unsigned thread) { check(tollbar_mpi_barrier_arrive_and_wait(barrier_.get(), thread)); }

    /// Enters the next episode; never blocks. A later test() or wait() completes it. Throws as the
    /// constructor does.
    void arrive(unsigned thread) { check(tollbar_mpi_barrier_arrive(barrier_.get(), thread)); }

    /// True when the episode is over; never blocks. Throws as the constructor does.
    [[nodiscard]] bool test(unsigned thread) {
        const int error = tollbar_mpi_barrier_test(barrier_.get(), thread);
        if (error != EAGAIN) check(error);
        return error == 0;
    }

    /// Blocks until the episode is over. Throws as the constructor does.
    void wait(unsigned thread) { check(tollbar_mpi_barrier_wait(barrier_.get(), thread)); }

    /// Waits at most that long; false when the time has passed. The episode then goes on: any wait or test() may
    /// follow. Throws as the constructor does.
    [[nodiscard]] bool wait_for(unsigned thread, std::chrono::nanoseconds at_most) {
        const int error = tollbar_mpi_barrier_wait_for(barrier_.get(), thread, at_most.count());
        if (error != ETIMEDOUT) check(error);
        return error == 0;
    }

    /// The members that have not arrived in the thread's episode, as mpi.h lists them. Throws as the constructor does.
    std::vector<tollbar_missing> missing(unsigned thread) const {
        std::vector<tollbar_missing> list;
        std::size_t count = 0;
        do {
            list.resize(count);
            check(tollbar_mpi_barrier_missing(barrier_.get(), thread, list.data(), list.size(), &count));
        } while (count > list.size());
        list.resize(count);
        return list;
    }

    /// The spellings of what runs among the threads and among the ranks, and the thread that runs the latter.
    std::string_view inner() const noexcept { return tollbar_mpi_barrier_inner(barrier_.get()); }
    std::string_view outer() const noexcept { return tollbar_mpi_barrier_outer(barrier_.get()); }
    tollbar_mpi_messenger messenger() const noexcept { return tollbar_mpi_barrier_messenger(barrier_.get()); }

private:
    struct Destroy {
        void operator()(tollbar_mpi_barrier* barrier) const noexcept { tollbar_mpi_barrier_destroy(barrier); }
    };

    static void check(int error) {
        if (error == 0) return;
        if (error == EINVAL) throw std::invalid_argument(tollbar_mpi_last_error());
        throw std::system_error(error, std::generic_category(), tollbar_mpi_last_error());
    }

    std::unique_ptr<tollbar_mpi_barrier, Destroy> barrier_;
};

}  // namespace tollbar
