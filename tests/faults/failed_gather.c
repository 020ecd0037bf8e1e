/* SPDX-License-Identifier: Apache-2.0
 * Rank 0 cannot receive what one rank says of itself when the first barrier sets up. The barrier fails there, and what
 * the late rank says then must not land in memory that is the program's again. */
#include "toll.h"

#include <dlfcn.h>

enum { refused = 3, late = 2, blocks = 4000, most_bytes = 2000 };

static int armed;
static MPI_Request awaited;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int PMPI_Recv_init(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
    const int code = NEXT(PMPI_Recv_init)(data, count, type, source, tag, comm, request);
    if (source == refused && count != 0) awaited = *request;
    return code;
}

int PMPI_Start(MPI_Request* request) {
    if (!armed || *request != awaited) return NEXT(PMPI_Start)(request);
    armed = 0;
    return MPI_ERR_INTERN;
}

static unsigned char* block[blocks];

int main(int argc, char** argv) {
    (void)argc;
    MPI_Comm comm;
    int code_class = 0, found = 0, spoilt = 0;
    MPI_Init(NULL, NULL);
    toll_start(argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    armed = toll_rank == 0;
    if (toll_rank == late) toll_await(&toll_page->tell, 1);
    if (toll_rank == late) atomic_store(&toll_page->tell, 2);
    const int code = MPI_Barrier(comm);
    if (toll_rank != 0) toll_await(&toll_page->told, 1);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &code_class);
    for (int i = 0; i < blocks; ++i)
        block[i] = memset(malloc((size_t)i % most_bytes + 1), 0xA5, (size_t)i % most_bytes + 1);
    atomic_store(&toll_page->tell, 1);
    toll_await(&toll_page->tell, 2);
    for (int turn = 0; turn < 2000; ++turn) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
        toll_pause();
    }
    for (int i = 0; i < blocks; ++i)
        for (int at = 0; at <= i % most_bytes; ++at) spoilt += block[i][at] != 0xA5;
    printf("left with class %d of %d, %d bytes spoilt\n", code_class, MPI_ERR_INTERN, spoilt);
    fflush(stdout);
    toll_await(&toll_page->told, 1);
    return 0;
}
