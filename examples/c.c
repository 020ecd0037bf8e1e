/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface: a barrier of two threads, and a plan that is printed without being run. */
#include <tollbar/tollbar.h>

#include <pthread.h>
#include <stdio.h>

static tollbar_barrier* barrier;
static int from_other;

static void* other(void* nothing) {
    from_other = 42;
    tollbar_barrier_arrive_and_wait(barrier);
    return nothing;
}

int main(void) {
    int error = tollbar_barrier_create(2, NULL, NULL, &barrier);
    if (error != 0) {
        fprintf(stderr, "%s: %s\n", tollbar_strerror(error), tollbar_last_error());
        return 1;
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, other, NULL) != 0) return 1;
    tollbar_barrier_arrive_and_wait(barrier);
    printf("behind the barrier: %d\n", from_other);
    pthread_join(thread, NULL);
    tollbar_barrier_destroy(barrier);

    tollbar_plan* plan;
    char word[64];
    if (tollbar_plan_create("dissemination", 4, &plan) != 0) return 1;
    if (tollbar_plan_program(plan, 0, word, sizeof word, NULL) == 0) printf("rank 0: %s\n", word);
    tollbar_plan_destroy(plan);
    return 0;
}
