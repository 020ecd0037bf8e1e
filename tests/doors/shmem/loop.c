/* SPDX-License-Identifier: Apache-2.0
 * So many episodes of a plan ("": the default), and an end that the job's observer looks at.
 *
 * usage: loop EPISODES PLAN [stores | within SECONDS | late SECONDS | leave | die]
 *     stores   signals are stores instead of puts
 *     within   a PE that needs longer is killed
 *     late     the last PE sleeps before it posts in the last episode
 *     leave    the last PE ends the program inside the last episode
 *     die      the last PE is killed; the others say whom each of three plans names, and end the job */
#include "check.h"

#include <signal.h>
#include <unistd.h>

static void name_the_missing(void) {
    const char* plans[] = {"dissemination:2", "counter", "mcs"};
    tollbar_shmem_barrier* barriers[3];
    long* told = shmem_malloc(sizeof *told);
    int i;

    *told = 0;
    for (i = 0; i < 3; ++i) barriers[i] = made(NULL, plans[i], TOLLBAR_SHMEM_PUTS);
    for (i = 0; i < 3; ++i) meet(barriers[i]);
    if (shmem_my_pe() == shmem_n_pes() - 1) raise(SIGKILL);
    for (i = 0; i < 3; ++i) {
        size_t count;
        CHECK_IS(tollbar_shmem_barrier_post(barriers[i]), 0);
        do { /* until the others and the news of the death have come */
            CHECK_IS(tollbar_shmem_barrier_wait_for(barriers[i], 50000000), ETIMEDOUT);
            CHECK_IS(tollbar_shmem_barrier_missing(barriers[i], NULL, 0, &count), 0);
        } while (count > 1 || strstr(tollbar_shmem_last_error(), "dead") == NULL);
        printf("PE %d, %s: %s\n", shmem_my_pe(), plans[i], tollbar_shmem_last_error());
    }
    fflush(stdout);
    shmem_long_atomic_inc(told, 0);
    if (shmem_my_pe() == 0) shmem_long_wait_until(told, SHMEM_CMP_EQ, shmem_n_pes() - 1);
    if (shmem_my_pe() == 0) sleep(1); /* for the launcher to pass on what was printed */
    if (shmem_my_pe() == 0) shmem_global_exit(0);
    pause();
}

int main(int count, char** arguments) {
    tollbar_shmem_barrier* barrier;
    int episode, episodes, last, seconds;
    const char* end = count > 3 ? arguments[3] : "";
    if (count < 3) return 2;
    episodes = atoi(arguments[1]);
    seconds = count > 4 ? atoi(arguments[4]) : 0;
    shmem_init();
    last = shmem_my_pe() == shmem_n_pes() - 1;
    barrier = made(NULL, arguments[2],
                   strcmp(end, "stores") == 0 ? TOLLBAR_SHMEM_STORES
                   : strcmp(end, "puts") == 0 ? TOLLBAR_SHMEM_PUTS
                                              : TOLLBAR_SHMEM_AUTO);
    if (strcmp(end, "within") == 0) alarm((unsigned)seconds);
    for (episode = 1; episode < episodes; ++episode) meet(barrier);
    if (strcmp(end, "die") == 0) name_the_missing();
    if (strcmp(end, "leave") == 0) {
        CHECK_IS(tollbar_shmem_barrier_post(barrier), 0);
        if (!last) CHECK_IS(tollbar_shmem_barrier_wait(barrier), 0);
        return conclude();
    }
    if (last && strcmp(end, "late") == 0) sleep((unsigned)seconds);
    meet(barrier);
    alarm(0);
    if (shmem_my_pe() == 0) printf("%d episodes of %s\n", episodes, tollbar_shmem_barrier_plan(barrier));
    CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
    return conclude();
}
