/* SPDX-License-Identifier: Apache-2.0
 * Which threads may use a barrier, at each level. Two PEs.
 *
 * usage: threads single|funneled|serialized|multiple */
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static tollbar_shmem_barrier* barrier;
static tollbar_shmem_barrier* other;
static atomic_int inside;

static void* posts(void* error) {
    *(int*)error = tollbar_shmem_barrier_post(barrier);
    if (*(int*)error != 0) CHECK_SAID("this thread may not use the barrier, or another one is inside it");
    return NULL;
}

static void* waits(void* error) {
    atomic_store(&inside, 1);
    *(int*)error = tollbar_shmem_barrier_wait(barrier);
    return NULL;
}

static void* meets_at_the_other(void* unused) {
    int i;
    for (i = 0; i < 100; ++i) meet(other);
    return unused;
}

static int in_thread(void* (*action)(void*)) {
    pthread_t thread;
    int error = -1;
    pthread_create(&thread, NULL, action, &error);
    pthread_join(thread, NULL);
    return error;
}

/* A thread waits while another one calls: the second is refused, the first one goes on. */
static void two_inside(int me, long* late) {
    pthread_t thread;
    int error = -1, refused;
    if (me == 1) {
        shmem_long_wait_until(late, SHMEM_CMP_EQ, 1);
        meet(barrier);
        return;
    }
    CHECK_IS(tollbar_shmem_barrier_post(barrier), 0);
    pthread_create(&thread, NULL, waits, &error);
    while (!atomic_load(&inside)) sched_yield();
    while ((refused = tollbar_shmem_barrier_test(barrier)) == EAGAIN) sched_yield(); /* until the thread is inside */
    CHECK_IS(refused, EPERM);
    CHECK_SAID("PE 0: ");
    shmem_long_p(late, 1, 1);
    pthread_join(thread, NULL);
    CHECK_IS(error, 0);
}

int main(int count, char** arguments) {
    const char* names[] = {"single", "funneled", "serialized", "multiple"};
    const int levels[] = {SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED, SHMEM_THREAD_SERIALIZED, SHMEM_THREAD_MULTIPLE};
    int wanted = 0, provided = -1, any_thread, me;
    long* late;
    if (count != 2) return 2;
    while (wanted < 3 && strcmp(arguments[1], names[wanted]) != 0) ++wanted;
    shmem_init_thread(levels[wanted], &provided);
    me = shmem_my_pe();
    any_thread = provided == SHMEM_THREAD_SERIALIZED || provided == SHMEM_THREAD_MULTIPLE;

    barrier = made(NULL, NULL, TOLLBAR_SHMEM_PUTS);
    other = made(NULL, "dissemination", TOLLBAR_SHMEM_PUTS);
    late = shmem_malloc(sizeof *late);
    *late = 0;
    shmem_barrier_all();
    CHECK_IS(in_thread(posts), any_thread ? 0 : EPERM);
    if (!any_thread) CHECK_IS(tollbar_shmem_barrier_post(barrier), 0);
    CHECK_IS(tollbar_shmem_barrier_wait(barrier), 0);
    if (provided == SHMEM_THREAD_MULTIPLE) {
        pthread_t thread;
        int i;
        two_inside(me, late);
        pthread_create(&thread, NULL, meets_at_the_other, NULL); /* two threads, two barriers, at once */
        for (i = 0; i < 100; ++i) meet(barrier);
        pthread_join(thread, NULL);
    }
    shmem_barrier_all();
    CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
    CHECK_IS(tollbar_shmem_barrier_destroy(other), 0);
    return conclude();
}
