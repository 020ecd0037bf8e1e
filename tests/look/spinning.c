/* SPDX-License-Identifier: Apache-2.0
 * One thread that only counts; with `naps` it pauses all the time. For each byte on stdin another thread writes the
 * count on stdout. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_ulong count;

static void* spin(void* naps) {
    for (;;) {
        atomic_fetch_add(&count, 1);
        if (naps != NULL) usleep(20);
    }
}

int main(int words, char** word) {
    pthread_t thread;
    char byte;
    pthread_create(&thread, NULL, spin, words > 1 ? word[1] : NULL);
    puts("ready");
    fflush(stdout);
    while (read(0, &byte, 1) == 1) {
        printf("%lu\n", atomic_load(&count));
        fflush(stdout);
    }
    return 0;
}
