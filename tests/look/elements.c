/* SPDX-License-Identifier: Apache-2.0
 * A job of OpenSHMEM whose element 1 is in sleep() while the others are in shmem_barrier_all. */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 1) {
        puts("ready");
        fflush(stdout);
        sleep(1000);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
