// SPDX-License-Identifier: Apache-2.0
// With TOLLBAR_TIMEOUT the thread that is missing is named while it is missing: it comes once it has read its name.
#include "job.hpp"

#include <tollbar/mpi.h>

#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

int main(int count, char** words) {
    setenv("TOLLBAR_TIMEOUT", "0.2", 1);
    const Job job(&count, &words, MPI_THREAD_SERIALIZED);
    const std::string said = "/tmp/tollbar.hybrid." + std::to_string(getpid());
    if (job.rank() == 1)
        job.expect(std::freopen(said.c_str(), "a", stderr) != nullptr && std::setvbuf(stderr, nullptr, _IONBF, 0) == 0,
                   "stderr can be read back");

    tollbar_mpi_barrier* barrier = nullptr;
    job.expect(tollbar_mpi_barrier_create(MPI_COMM_WORLD, 3, nullptr, &barrier) == 0, "the barrier is made");
    in_threads(3, [&](unsigned thread) {
        tollbar_mpi_barrier_arrive_and_wait(barrier, thread);
        if (job.rank() == 1 && thread == 2)
            until([&] {
                std::stringstream text;
                text << std::ifstream(said).rdbuf();
                return text.str().find("MPI_COMM_WORLD, rank 1, barrier 2: thread 0 has waited") != std::string::npos &&
                       text.str().find(" s: thread 2 ") != std::string::npos;
            });
        tollbar_mpi_barrier_arrive_and_wait(barrier, thread);
    });
    tollbar_mpi_barrier_destroy(barrier);
    if (job.rank() == 1) unlink(said.c_str());
    if (job.rank() == 0) std::printf("the missing thread was named\n");
}
