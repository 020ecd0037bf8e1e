// SPDX-License-Identifier: Apache-2.0
// What is refused and what is said, with the thread level that is the first argument.
#include "job.hpp"

#include <tollbar/mpi.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace {

int make(MPI_Comm comm, unsigned threads, const char* inner, const char* outer, tollbar_mpi_barrier** barrier) {
    const tollbar_mpi_barrier_options options{inner, outer, {}};
    return tollbar_mpi_barrier_create(comm, threads, &options, barrier);
}

/// What cannot be a barrier, on every rank alike.
void refuses_bad_input(const Job& job) {
    tollbar_mpi_barrier* barrier = nullptr;
    const auto expect = [&](int error, int wanted, std::string_view says) {
        job.expect_error(error, wanted, says, tollbar_mpi_last_error());
        job.expect(barrier == nullptr, "nothing is made");
    };
    expect(make(MPI_COMM_WORLD, 0, nullptr, nullptr, &barrier), EINVAL, "not 0");
    expect(make(MPI_COMM_WORLD, 1, "no such plan", nullptr, &barrier), EINVAL, "no such plan");
    expect(make(MPI_COMM_WORLD, 1, nullptr, "mcs:1,2", &barrier), EINVAL, "mcs:1,2");
    expect(make(MPI_COMM_NULL, 1, nullptr, nullptr, &barrier), EINVAL, "MPI_COMM_NULL");
    expect(make(MPI_COMM_WORLD, 1, nullptr, nullptr, nullptr), EINVAL, "barrier is NULL");

    tollbar_mpi_barrier_options later{};
    later.reserved[0] = job.rank() == 0 ? 1 : 0;
    expect(tollbar_mpi_barrier_create(MPI_COMM_WORLD, 1, &later, &barrier), EINVAL, "knows no such option");

    // One rank's fault is everybody's answer, which names it.
    const char* inner = job.rank() == 1 ? "mcs:x" : nullptr;
    expect(make(MPI_COMM_WORLD, 1, inner, nullptr, &barrier), EINVAL, "rank 1: ");

    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm between = MPI_COMM_NULL;
    const int color = static_cast<int>(job.rank() % 2);
    MPI_Comm_split(MPI_COMM_WORLD, color, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - color, 7, &between);
    expect(make(between, 1, nullptr, nullptr, &barrier), EINVAL, "intercommunicator");
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

void refuses_misuse(const Job& job) {
    tollbar_mpi_barrier* barrier = nullptr;
    job.expect(make(MPI_COMM_WORLD, 1, nullptr, nullptr, &barrier) == 0, "the barrier is made");
    const auto expect = [&](int error, int wanted, std::string_view says) {
        job.expect_error(error, wanted, says, tollbar_mpi_last_error());
    };
    expect(tollbar_mpi_barrier_arrive(nullptr, 0), EINVAL, "barrier is NULL");
    expect(tollbar_mpi_barrier_arrive_and_wait(barrier, 1), EINVAL, "threads 0..0, no thread 1");
    expect(tollbar_mpi_barrier_test(barrier, 0), EINVAL, "test without arrive");
    tollbar_missing missing{};
    std::size_t count = 99;
    expect(tollbar_mpi_barrier_wait(barrier, 0), EINVAL, "wait without arrive");
    expect(tollbar_mpi_barrier_wait_for(barrier, 0, 0), EINVAL, "wait without arrive");
    expect(tollbar_mpi_barrier_wait_for(nullptr, 0, 0), EINVAL, "barrier is NULL");
    expect(tollbar_mpi_barrier_missing(barrier, 1, &missing, 1, &count), EINVAL, "no thread 1");
    expect(tollbar_mpi_barrier_missing(barrier, 0, &missing, 1, nullptr), EINVAL, "count is NULL");
    expect(tollbar_mpi_barrier_missing(barrier, 0, &missing, 1, &count), 0, "");
    job.expect(count == 0, "nobody is missing outside of an episode");
    expect(tollbar_mpi_barrier_arrive(barrier, 0), 0, "");
    expect(tollbar_mpi_barrier_arrive(barrier, 0), EINVAL, "arrive twice");
    expect(tollbar_mpi_barrier_wait(barrier, 0), 0, "");
    expect(tollbar_mpi_barrier_test(barrier, 0), 0, "");
    expect(tollbar_mpi_barrier_wait_for(barrier, 0, 0), 0, "");
    job.expect(tollbar_mpi_barrier_destroy(barrier) == 0, "the barrier is destroyed");
    job.expect(tollbar_mpi_barrier_destroy(nullptr) == 0, "NULL is allowed");
    job.expect(tollbar_mpi_barrier_inner(nullptr) == nullptr, "NULL has no inner plan");
    job.expect(tollbar_mpi_barrier_outer(nullptr) == nullptr, "NULL has no outer plan");
}

void keeps_to_the_level(const Job& job) {
    tollbar_mpi_barrier* barrier = nullptr;
    const int error = make(MPI_COMM_WORLD, 2, nullptr, nullptr, &barrier);
    if (job.level() == MPI_THREAD_SINGLE) {
        job.expect_error(error, ENOTSUP, "MPI_THREAD_FUNNELED or more", tollbar_mpi_last_error());
        return;
    }
    job.expect(error == 0, "two threads are accepted");
    if (job.level() == MPI_THREAD_FUNNELED) {
        std::thread([&] {
            tollbar_mpi_barrier* other = nullptr;
            const int made = make(MPI_COMM_WORLD, 1, nullptr, nullptr, &other);
            job.expect_error(made, EPERM, "main thread", tollbar_mpi_last_error());
            const int arrived = tollbar_mpi_barrier_arrive_and_wait(barrier, 0);
            job.expect_error(arrived, EPERM, "thread 0 is the main thread", tollbar_mpi_last_error());
        }).join();
    }
    in_threads(2, [&](unsigned thread) {
        for (int i = 0; i < 10; ++i)
            job.expect(tollbar_mpi_barrier_arrive_and_wait(barrier, thread) == 0, "both threads pass");
    });
    tollbar_mpi_barrier_destroy(barrier);
}

/// First the threads of the messenger's rank are missing, then the last rank; each comes once it has been listed.
void names_the_missing(const Job& job, unsigned threads) {
    const Everywhere<std::atomic<int>> listed(job, 2);
    tollbar_mpi_barrier* barrier = nullptr;
    job.expect(make(MPI_COMM_WORLD, threads, "mcs", nullptr, &barrier) == 0, "the barrier is made");
    const auto is_listed = [&](std::size_t what) {
        until([&] { return listed[what].load(std::memory_order_acquire) == 1; });
    };
    const auto list_until = [&](unsigned rank, int thread, std::size_t number) {
        std::vector<tollbar_missing> list(8);
        std::size_t count = 0;
        do {
            job.expect_error(tollbar_mpi_barrier_wait_for(barrier, 0, 1000000), ETIMEDOUT, "", "");
            job.expect(tollbar_mpi_barrier_missing(barrier, 0, list.data(), list.size(), &count) == 0, "a list");
        } while (count != number || list[0].rank != rank || list[0].thread_number != thread);
        job.expect(list[0].waited_ns >= 1000000, "the list tells how long this thread has waited");
    };
    in_threads(threads, [&](unsigned thread) {
        if (job.rank() == job.ranks() - 1) is_listed(1);
        if (job.rank() == 0 && thread != 0) is_listed(0);
        if (job.rank() != 0 || thread != 0) {
            job.expect(tollbar_mpi_barrier_arrive_and_wait(barrier, thread) == 0, "the others pass");
            return;
        }
        job.expect(tollbar_mpi_barrier_arrive(barrier, 0) == 0, "the messenger arrives");
        if (threads > 1) list_until(0, 1, threads - 1);
        listed[0].store(1, std::memory_order_release);
        list_until(job.ranks() - 1, -1, 1);
        listed[1].store(1, std::memory_order_release);
        job.expect(tollbar_mpi_barrier_wait(barrier, 0) == 0, "the messenger passes");
    });
    tollbar_mpi_barrier_destroy(barrier);
}

/// Ranks may have different numbers of threads; barriers of overlapping communicators do not mix.
void serves_several_communicators(const Job& job, unsigned most) {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, static_cast<int>(job.rank() % 2), 0, &half);
    const unsigned threads = 1 + job.rank() % most;
    tollbar_mpi_barrier* wide = nullptr;
    tollbar_mpi_barrier* narrow = nullptr;
    tollbar_mpi_barrier* lonely = nullptr;
    job.expect(make(MPI_COMM_WORLD, threads, nullptr, nullptr, &wide) == 0, "a barrier for all");
    job.expect(make(half, threads, "mcs", "mcs", &narrow) == 0, "a barrier for half of them");
    job.expect(make(MPI_COMM_SELF, threads, nullptr, nullptr, &lonely) == 0, "a barrier for one rank");
    MPI_Comm_free(&half);
    in_threads(threads, [&](unsigned thread) {
        for (int i = 0; i < 50; ++i)
            for (tollbar_mpi_barrier* barrier : {wide, narrow, lonely, narrow, wide})
                job.expect(tollbar_mpi_barrier_arrive_and_wait(barrier, thread) == 0, "each is passed");
    });
    tollbar_mpi_barrier_destroy(narrow);
    tollbar_mpi_barrier_destroy(wide);
    tollbar_mpi_barrier_destroy(lonely);
}

/// A large message needs its sender's help; the sender waits for a thread that waits for the message.
void lets_the_mpi_go_on(const Job& job, unsigned threads) {
    const Everywhere<std::atomic<int>> received(job, 1);
    std::vector<char> large(job.rank() < 2 ? 8U << 20U : 0);
    tollbar_mpi_barrier* barrier = nullptr;
    job.expect(make(MPI_COMM_WORLD, threads, nullptr, nullptr, &barrier) == 0, "the barrier is made");
    MPI_Request request = MPI_REQUEST_NULL;
    const int size = static_cast<int>(large.size());
    if (job.rank() == 0) MPI_Isend(large.data(), size, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
    in_threads(threads, [&](unsigned thread) {
        if (job.rank() == 1 && thread == 0) {
            MPI_Recv(large.data(), size, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            received[0].store(1, std::memory_order_release);
        }
        // With thread 0 as the messenger it is already inside, and all it waits for is this thread.
        const bool waits = job.rank() == 0 && thread != 0 && job.level() == MPI_THREAD_FUNNELED;
        if (waits) until([&] { return received[0].load(std::memory_order_acquire) == 1; });
        job.expect(tollbar_mpi_barrier_arrive_and_wait(barrier, thread) == 0, "everybody passes");
    });
    if (job.rank() == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    tollbar_mpi_barrier_destroy(barrier);
}

void is_made_many_times(const Job& job, unsigned threads) {
    for (int i = 0; i < 30; ++i) {
        tollbar_mpi_barrier* barrier = nullptr;
        job.expect(make(MPI_COMM_WORLD, threads, nullptr, nullptr, &barrier) == 0, "the barrier is made again");
        if (i % 3 != 0)
            in_threads(threads, [&](unsigned thread) { tollbar_mpi_barrier_arrive_and_wait(barrier, thread); });
        tollbar_mpi_barrier_destroy(barrier);
    }
}

}  // namespace

int main(int count, char** words) {
    const std::string_view level = words[1];
    const int wanted = level == "single"     ? MPI_THREAD_SINGLE
                       : level == "funneled" ? MPI_THREAD_FUNNELED
                       : level == "multiple" ? MPI_THREAD_MULTIPLE
                                             : MPI_THREAD_SERIALIZED;
    const Job job(&count, &words, wanted);
    const unsigned threads = job.level() == MPI_THREAD_SINGLE ? 1 : 3;
    refuses_bad_input(job);
    refuses_misuse(job);
    keeps_to_the_level(job);
    serves_several_communicators(job, threads);
    names_the_missing(job, threads);
    lets_the_mpi_go_on(job, threads);
    is_made_many_times(job, threads);
    if (job.rank() == 0) std::printf("all rules are kept\n");
}
