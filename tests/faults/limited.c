/* SPDX-License-Identifier: Apache-2.0
 * A first barrier in a process that may make no larger files than some size, or locks whatever memory it gets, or is
 * killed when it asks for shared memory. */
#include "toll.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>

static int killed_at; /* so many requests for memory from now on */

int posix_fallocate(int descriptor, off_t from, off_t bytes) {
    if (killed_at != 0 && --killed_at == 0) raise(SIGKILL);
    const int error = ((__typeof__(&posix_fallocate))dlsym(RTLD_NEXT, "posix_fallocate"))(descriptor, from, bytes);
    if (killed_at != 0 && --killed_at == 0) raise(SIGKILL);
    return error;
}

static long locked_kb(void) {
    char line[256];
    long kb = 0;
    FILE* status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status) != NULL) sscanf(line, "VmLck: %ld", &kb);
    fclose(status);
    return kb;
}

int main(int argc, char** argv) {
    (void)argc;
    MPI_Init(NULL, NULL);
    toll_start(argv);
    const long number = atol(argv[3]);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (strcmp(argv[2], "file") == 0) {
        const struct rlimit limit = {(rlim_t)number, (rlim_t)number};
        toll_expect(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    } else if (strcmp(argv[2], "lock") == 0) {
        const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
        setrlimit(RLIMIT_MEMLOCK, &all);
        if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0 && toll_rank == 0) puts("skipped: memory cannot be locked");
    } else if (toll_rank == 0) {
        killed_at = (int)number;
    }
    const long before = locked_kb();
    struct toll toll = toll_open(comm, 0);
    for (int late = -1; late < toll_world; ++late) toll_barrier(&toll, late);
    if (strcmp(argv[2], "lock") == 0) toll_expect(locked_kb() - before <= number);
    killed_at = 0;
    return toll_end();
}
