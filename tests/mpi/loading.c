/* SPDX-License-Identifier: Apache-2.0
 * A program that is linked with no MPI, opens one, and takes its functions from where HOW says: from the program's
 * names, or from the handle alone, as languages do whose calls go by foreign functions. Rank 1 is late until the test's
 * script tells it to go on.
 *
 * usage: loading PAGE LIBRARY global|local|deep names|handle */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void* found(void* where, const char* name) {
    void* function = dlsym(where, name);
    if (function == NULL) fprintf(stderr, "FAILED: %s\n", dlerror()), exit(1);
    return function;
}

static int is_rank_1(void) {
    const char* names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    for (int i = 0; i < 2; ++i)
        if (getenv(names[i]) != NULL) return atoi(getenv(names[i])) == 1;
    return 0;
}

int main(int argc, char** argv) {
    const char* how = argv[3];
    const int scope = strcmp(how, "global") == 0 ? RTLD_GLOBAL : strcmp(how, "deep") == 0 ? RTLD_DEEPBIND : RTLD_LOCAL;
    void* mpi = dlopen(argv[2], RTLD_LAZY | scope);
    if (mpi == NULL) return fprintf(stderr, "FAILED: %s\n", dlerror()), 1;
    void* where = strcmp(argv[4], "names") == 0 ? RTLD_DEFAULT : mpi;
    int (*init)(int*, char***) = (int (*)(int*, char***))found(where, "MPI_Init");
    int (*finalize)(void) = (int (*)(void))found(where, "MPI_Finalize");
    int* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open(argv[1], O_RDWR), 0);
    init(&argc, &argv);
    if (is_rank_1()) {
        page[1] = 1;
        while (((volatile int*)page)[0] == 0) usleep(10000);
    }
    finalize();
    return 0;
}
