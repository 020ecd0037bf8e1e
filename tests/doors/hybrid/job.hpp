// SPDX-License-Identifier: Apache-2.0
// A job of ranks with threads for the tests of the combined barrier: shared memory for the tolls, and checks that name
// who failed.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

/// MPI from its beginning to its end, with the thread level asked for.
class Job {
public:
    Job(int* count, char*** words, int level) {
        MPI_Init_thread(count, words, level, &level_);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    }
    ~Job() { MPI_Finalize(); }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    int level() const { return level_; }
    unsigned rank() const { return static_cast<unsigned>(rank_); }
    unsigned ranks() const { return static_cast<unsigned>(ranks_); }

    /// Ends the job with one line when something that must be true is not.
    void expect(bool truth, const std::string& sentence) const {
        if (truth) return;
        std::fprintf(stderr, "rank %d: not so: %s\n", rank_, sentence.c_str());
        MPI_Abort(MPI_COMM_WORLD, 1);
        std::abort();
    }

    void expect_error(int found, int wanted, std::string_view says, std::string_view line) const {
        expect(found == wanted, "the error is " + std::to_string(wanted) + ", not " + std::to_string(found) + " (" +
                                    std::string(line) + ")");
        expect(line.find(says) != std::string_view::npos,
               "the line says '" + std::string(says) + "': " + std::string(line));
    }

private:
    int level_ = 0;
    int rank_ = 0;
    int ranks_ = 0;
};

/// Memory of all ranks of the job, all of which are on one node.
template <class T>
class Everywhere {
public:
    Everywhere(const Job& job, std::size_t count) {
        const auto bytes = static_cast<MPI_Aint>(job.rank() == 0 ? count * sizeof(T) : 0);
        T* mine = nullptr;
        MPI_Win_allocate_shared(bytes, sizeof(T), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window_);
        MPI_Aint found = 0;
        int unit = 0;
        MPI_Win_shared_query(window_, 0, &found, &unit, &first_);
        if (job.rank() == 0)
            for (std::size_t i = 0; i < count; ++i) new (first_ + i) T;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ~Everywhere() { MPI_Win_free(&window_); }
    Everywhere(const Everywhere&) = delete;
    Everywhere& operator=(const Everywhere&) = delete;

    T& operator[](std::size_t i) const { return first_[i]; }

private:
    MPI_Win window_ = MPI_WIN_NULL;
    T* first_ = nullptr;
};

/// Runs action(thread) in that many threads; thread 0 is the caller.
inline void in_threads(unsigned threads, const std::function<void(unsigned)>& action) {
    std::vector<std::thread> others;
    for (unsigned thread = 1; thread < threads; ++thread) others.emplace_back(action, thread);
    action(0);
    for (std::thread& other : others) other.join();
}

/// Waits for a condition that somebody else makes true.
inline void until(const std::function<bool()>& condition) {
    while (!condition()) std::this_thread::yield();
}
