/* SPDX-License-Identifier: Apache-2.0
 * Teams, as of OpenSHMEM 1.5: every second PE, backwards. Stand-ins take the place of the calls where the
 * OpenSHMEM has none. */
#include <shmem.h>

#if SHMEM_MAJOR_VERSION * 100 + SHMEM_MINOR_VERSION < 105
#    define TOLLBAR_SHMEM_TEAMS
typedef int shmem_team_t;
enum { SHMEM_TEAM_INVALID = -1, SHMEM_TEAM_WORLD = 0, BACKWARDS = 1 };

static inline int shmem_team_n_pes(shmem_team_t team) { return team == BACKWARDS ? (shmem_n_pes() + 1) / 2 : -1; }

static inline int shmem_team_translate_pe(shmem_team_t from, int pe, shmem_team_t to) {
    return from == BACKWARDS && to == SHMEM_TEAM_WORLD ? (shmem_n_pes() - 1) / 2 * 2 - 2 * pe : -1;
}
#else
#    define BACKWARDS backwards
static shmem_team_t backwards;
#endif

#include "check.h"

int main(void) {
    enum { bytes = 4096 };
    tollbar_shmem_barrier* barrier = NULL;
    void* memory;
    int episode;
    shmem_init();
#ifndef TOLLBAR_SHMEM_TEAMS
    shmem_team_split_strided(SHMEM_TEAM_WORLD, (shmem_n_pes() - 1) / 2 * 2, -2, (shmem_n_pes() + 1) / 2, NULL, 0,
                             &backwards);
#endif
    memory = shmem_align(64, bytes);
    memset(memory, 0, bytes);
    shmem_barrier_all();
    CHECK_IS(tollbar_shmem_barrier_create_team(memory, bytes, SHMEM_TEAM_INVALID, NULL, &barrier), EINVAL);
    if (shmem_my_pe() % 2 == 0) {
        CHECK_IS(tollbar_shmem_barrier_create_team(memory, bytes, BACKWARDS, NULL, &barrier), 0);
        for (episode = 0; episode < 100; ++episode) meet(barrier);
        CHECK_IS(tollbar_shmem_barrier_destroy(barrier), 0);
    } else {
        CHECK_IS(tollbar_shmem_barrier_create_team(memory, bytes, BACKWARDS, NULL, &barrier), ESRCH);
    }
    shmem_barrier_all();
    return conclude();
}
