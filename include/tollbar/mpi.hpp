// SPDX-License-Identifier: Apache-2.0
// tollbar::mpi_barrier: the combined barrier of mpi.h as a C++ object.
#pragma once

#include <tollbar/mpi.h>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace tollbar {

/// All threads of all ranks of a communicator. See mpi.h for who calls MPI and who may call what.
///
///     tollbar::mpi_barrier barrier(MPI_COMM_WORLD, threads);
///     ...in thread t of every rank...
///     barrier.arrive_and_wait(t);
///
/// Made and destroyed collectively, the latter before MPI_Finalize.
///
/// Memory order, of all waits and successful tests: what any thread of any rank did before it arrived is visible.
class mpi_barrier {
public:
    /// Throws std::invalid_argument for what is wrong with an argument, std::system_error for all else.
    mpi_barrier(MPI_Comm comm, unsigned threads, const std::string& inner = "", const std::string& outer = "") {
        const tollbar_mpi_barrier_options options{inner.c_str(), outer.c_str()};
        tollbar_mpi_barrier* made = nullptr;
        check(tollbar_mpi_barrier_create(comm, threads, &options, &made));
        barrier_.reset(made);
    }

    /// Enters the next episode and blocks until everybody has. Throws as the constructor.
    void arrive_and_wait(unsigned thread) { check(tollbar_mpi_barrier_arrive_and_wait(barrier_.get(), thread)); }

    /// Enters the next episode; never blocks. Call test() or wait() for it to get on.
    void arrive(unsigned thread) { check(tollbar_mpi_barrier_arrive(barrier_.get(), thread)); }

    /// True when the episode is over; never blocks.
    [[nodiscard]] bool test(unsigned thread) {
        const int error = tollbar_mpi_barrier_test(barrier_.get(), thread);
        if (error != EAGAIN) check(error);
        return error == 0;
    }

    /// Blocks until the episode is over.
    void wait(unsigned thread) { check(tollbar_mpi_barrier_wait(barrier_.get(), thread)); }

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
