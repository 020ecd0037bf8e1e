// SPDX-License-Identifier: Apache-2.0
// A team of four in which thread 2 goes on when the standard input ends; the others wait for it in the second barrier
// of the region, `late tasks` in one that is behind a task, `late end` at the region's end.
#include <cstdio>
#include <omp.h>
#include <string_view>

int main(int count, char** words) {
    const std::string_view where = count > 1 ? words[1] : "";
#pragma omp parallel num_threads(4)
    {
#pragma omp barrier
        if (where == "tasks") {
#pragma omp task
            static_cast<void>(where);
#pragma omp barrier
        }
        if (omp_get_thread_num() == 2) {
            while (std::getchar() != EOF) {
            }
        }
        if (where != "end") {
#pragma omp barrier
        }
    }
    std::puts("over");
}
