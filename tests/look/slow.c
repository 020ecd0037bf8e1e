/* SPDX-License-Identifier: Apache-2.0
 * An MPI job whose ranks meet in various collective calls, on two communicators in turn, until they are told that it is
 * over. Each computes or sleeps for as long as it is told to, and writes down when it came to each call and left it.
 * With -DTOOL it is a library that the job is linked with: it writes down when a call gets to it, behind whatever
 * watches the job's calls. In between a rank may have lost its CPU for any time.
 *
 * usage: slow FILE, which has the size of struct page; the test reads and writes it, too */
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#ifdef TOOL
double* passed; /* where to */

#    define PASS_ON(name, parameters, arguments) \
        int MPI_##name parameters {              \
            if (passed != NULL) *passed = now(); \
            return PMPI_##name arguments;        \
        }
#    define TWO const void *from, int of, MPI_Datatype type, void *to, int count, MPI_Datatype as

PASS_ON(Allreduce, (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (from, to, count, type, op, comm))
PASS_ON(Barrier, (MPI_Comm comm), (comm))
PASS_ON(Bcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm), (data, count, type, root, comm))
PASS_ON(Reduce, (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
        (from, to, count, type, op, root, comm))
PASS_ON(Allgather, (TWO, MPI_Comm comm), (from, of, type, to, count, as, comm))
PASS_ON(Alltoall, (TWO, MPI_Comm comm), (from, of, type, to, count, as, comm))
PASS_ON(Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request))
#else
extern double* passed;

enum { most_ranks = 8, most_calls = 1 << 20, kinds = 7 };
enum { goes_on, computes, sleeps };

struct page {
    int over;
    int process[most_ranks], does[most_ranks];
    struct {
        double came, passed, left; /* of CLOCK_MONOTONIC */
    } calls[most_ranks][most_calls];
};

static int told(const int* word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

/* Whether it is over; all ranks agree on that in every seventh call. */
static int meet(MPI_Comm comm, int kind, int root, int over) {
    int all[most_ranks], own[most_ranks] = {0}, any = 0;
    MPI_Request request;
    if (kind == 0) MPI_Allreduce(&over, &any, 1, MPI_INT, MPI_MAX, comm);
    if (kind == 1) MPI_Barrier(comm);
    if (kind == 2) MPI_Bcast(own, 1, MPI_INT, root, comm);
    if (kind == 3) MPI_Reduce(own, all, 1, MPI_INT, MPI_SUM, root, comm);
    if (kind == 4) MPI_Allgather(own, 1, MPI_INT, all, 1, MPI_INT, comm);
    if (kind == 5) MPI_Alltoall(own, 1, MPI_INT, all, 1, MPI_INT, comm);
    if (kind == 6) {
        MPI_Ibarrier(comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return any;
}

int main(int words, char** word) {
    const int file = words == 2 ? open(word[1], O_RDWR) : -1;
    struct page* page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int rank, ranks, over = 0;
    MPI_Comm again;
    if (page == MAP_FAILED) return 2;
    MPI_Init(&words, &word);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &again);
    MPI_Comm_set_name(again, "again");
    __atomic_store_n(&page->process[rank], getpid(), __ATOMIC_RELAXED);
    for (int i = 0; i < most_calls && !over; ++i) {
        usleep(1000);
        while (told(&page->does[rank]) != goes_on)
            if (told(&page->does[rank]) == sleeps) usleep(1000);
        passed = &page->calls[rank][i].passed;
        page->calls[rank][i].came = now();
        over = meet(i % 5 == 4 ? again : MPI_COMM_WORLD, i % kinds, i / kinds % ranks, told(&page->over));
        page->calls[rank][i].left = now();
        passed = NULL;
    }
    MPI_Finalize();
    return 0;
}
#endif
