/* SPDX-License-Identifier: Apache-2.0
 * Prints the library that MPI_Allreduce's one jump leads to, before the first call and after it: "from LIBRARY to
 * LIBRARY". For x86-64, where the jump is `endbr64; jmp *slot(%rip)`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char* target_of(const unsigned char* stub) {
    enum { endbr64 = 4, jmp = 6 };
    int32_t distance;
    memcpy(&distance, stub + endbr64 + jmp - sizeof distance, sizeof distance);
    void* target;
    memcpy(&target, stub + endbr64 + jmp + distance, sizeof target);
    Dl_info info;
    return dladdr(target, &info) != 0 ? strrchr(info.dli_fname, '/') + 1 : "nothing";
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    void* const stub = dlsym(RTLD_DEFAULT, "MPI_Allreduce");
    const char* const before = target_of(stub);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("from %s to %s\n", before, target_of(stub));
    return MPI_Finalize();
}
