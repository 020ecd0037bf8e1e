// SPDX-License-Identifier: Apache-2.0
// A team of four in which thread 2 arrives at the second barrier when the standard input ends.
#include <cstdio>
#include <omp.h>

int main() {
#pragma omp parallel num_threads(4)
    {
#pragma omp barrier
        if (omp_get_thread_num() == 2) {
            while (std::getchar() != EOF) {
            }
        }
#pragma omp barrier
    }
    std::puts("over");
}
