/* SPDX-License-Identifier: Apache-2.0 */
/* A user's C program: two arrivals end the phase that one does not. */
#include <tollbar/tollbar.h>

#include <errno.h>
#include <stdio.h>

int main(void) {
    tollbar_barrier* barrier;
    tollbar_token token;
    if (tollbar_barrier_create(2, NULL, NULL, &barrier) != 0) return 1;
    tollbar_barrier_arrive(barrier, 1, &token);
    const int before = tollbar_barrier_test(barrier, token);
    tollbar_barrier_arrive(barrier, 1, NULL);
    const int after = tollbar_barrier_test(barrier, token);
    tollbar_barrier_destroy(barrier);

    printf("%s, %s\n", before == EAGAIN ? "closed" : "wrong", after == 0 ? "open" : "wrong");
    return 0;
}
