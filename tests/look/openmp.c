/* SPDX-License-Identifier: Apache-2.0
 * Four threads of OpenMP, or as many as the program is told. `barrier`: the last one does not come to an explicit
 * barrier. `end`: it does not come to the end of the region. `meet`: they meet about every two milliseconds, that one
 * always last. `idle`: nobody is inside a region, and main is elsewhere.
 *
 * usage: openmp [HOW [THREADS]] */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static void late(void) {
    pause();
    putchar(' ');
}

int main(int words, char** word) {
    const char* how = words > 1 ? word[1] : "barrier";
    const int members = words > 2 ? atoi(word[2]) : 4;
    int sum = 0;
    if (strcmp(how, "barrier") == 0) {
#pragma omp parallel num_threads(members)
        {
#pragma omp single
            {
                puts("ready");
                fflush(stdout);
            }
            if (omp_get_thread_num() == members - 1) late();
#pragma omp barrier
#pragma omp atomic
            ++sum;
        }
    } else if (strcmp(how, "end") == 0) {
#pragma omp parallel num_threads(members)
        {
#pragma omp single
            {
                puts("ready");
                fflush(stdout);
            }
            if (omp_get_thread_num() == members - 1) late();
        }
    } else if (strcmp(how, "meet") == 0) {
#pragma omp parallel num_threads(members)
        {
#pragma omp single
            {
                puts("ready");
                fflush(stdout);
            }
            for (;;) {
                const double until = omp_get_wtime() + 0.002;
                while (omp_get_thread_num() == members - 1 && omp_get_wtime() < until) continue;
#pragma omp barrier
            }
        }
    } else {
#pragma omp parallel num_threads(members)
        {
#pragma omp atomic
            ++sum;
        }
        puts("ready");
        fflush(stdout);
        late();
    }
    return sum;
}
