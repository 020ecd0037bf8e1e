/* SPDX-License-Identifier: Apache-2.0 */
/* The five barriers of Concurrency Kit, set up as its own regression programs do, behind functions C++ can call. */
#include "ck.h"

#include <ck_barrier.h>
#include <ck_md.h>
#include <stdlib.h>
#include <string.h>

#define LINE 128
#define GROUP 4 /* ranks in a leaf of the combining tree */

/* The words that a thread keeps to itself; alone in their lines. */
union state {
    ck_barrier_centralized_state_t centralized;
    ck_barrier_combining_state_t combining;
    ck_barrier_dissemination_state_t dissemination;
    ck_barrier_tournament_state_t tournament;
    ck_barrier_mcs_state_t mcs;
    char lines[LINE];
};

struct peer_ck {
    unsigned int ranks;
    union state* states;
    void* shared; /* the barrier proper: one object, or an array by rank */
    ck_barrier_combining_group_t* groups;
    void** rows; /* one block a rank: dissemination flags, tournament rounds */
};

static void* lines(size_t bytes) {
    size_t whole = (bytes + LINE - 1) / LINE * LINE;
    void* block = aligned_alloc(LINE, whole ? whole : LINE);

    return block ? memset(block, 0, whole ? whole : LINE) : NULL;
}

static int open_rows(struct peer_ck* peer, size_t bytes) {
    unsigned int i;

    peer->rows = lines(peer->ranks * sizeof(*peer->rows));
    for (i = 0; peer->rows && i < peer->ranks; i++) {
        peer->rows[i] = lines(bytes);
        if (!peer->rows[i]) return 0;
    }
    return peer->rows != NULL;
}

static int open_centralized(struct peer_ck* peer) {
    peer->shared = lines(sizeof(ck_barrier_centralized_t));
    return peer->shared != NULL;
}

static int open_combining(struct peer_ck* peer) {
    unsigned int i, leaves = (peer->ranks + GROUP - 1) / GROUP;

    peer->shared = lines(sizeof(ck_barrier_combining_t));
    peer->groups = lines((leaves + 1) * sizeof(*peer->groups));
    if (!peer->shared || !peer->groups) return 0;
    ck_barrier_combining_init(peer->shared, &peer->groups[leaves]);
    for (i = 0; i < leaves; i++) {
        unsigned int members = i + 1 < leaves ? GROUP : peer->ranks - i * GROUP;

        ck_barrier_combining_group_init(peer->shared, &peer->groups[i], members);
    }
    for (i = 0; i < peer->ranks; i++) peer->states[i].combining.sense = ~0U;
    return 1;
}

static int open_dissemination(struct peer_ck* peer) {
    unsigned int i, flags = ck_barrier_dissemination_size(peer->ranks);

    peer->shared = lines(peer->ranks * sizeof(ck_barrier_dissemination_t));
    if (!peer->shared || !open_rows(peer, flags * sizeof(ck_barrier_dissemination_flag_t))) return 0;
    ck_barrier_dissemination_init(peer->shared, (ck_barrier_dissemination_flag_t**)peer->rows, peer->ranks);
    for (i = 0; i < peer->ranks; i++) ck_barrier_dissemination_subscribe(peer->shared, &peer->states[i].dissemination);
    return 1;
}

static int open_tournament(struct peer_ck* peer) {
    unsigned int i, rounds = ck_barrier_tournament_size(peer->ranks);

    peer->shared = lines(sizeof(ck_barrier_tournament_t));
    if (!peer->shared || !open_rows(peer, rounds * sizeof(ck_barrier_tournament_round_t))) return 0;
    ck_barrier_tournament_init(peer->shared, (ck_barrier_tournament_round_t**)peer->rows, peer->ranks);
    for (i = 0; i < peer->ranks; i++) ck_barrier_tournament_subscribe(peer->shared, &peer->states[i].tournament);
    return 1;
}

static int open_mcs(struct peer_ck* peer) {
    unsigned int i;

    peer->shared = lines(peer->ranks * sizeof(ck_barrier_mcs_t));
    if (!peer->shared) return 0;
    ck_barrier_mcs_init(peer->shared, peer->ranks);
    for (i = 0; i < peer->ranks; i++) ck_barrier_mcs_subscribe(peer->shared, &peer->states[i].mcs);
    return 1;
}

struct peer_ck* peer_ck_open(enum peer_ck_shape shape, unsigned int ranks) {
    static int (*const open[])(struct peer_ck*) = {
        [PEER_CK_CENTRALIZED] = open_centralized,
        [PEER_CK_COMBINING] = open_combining,
        [PEER_CK_DISSEMINATION] = open_dissemination,
        [PEER_CK_TOURNAMENT] = open_tournament,
        [PEER_CK_MCS] = open_mcs,
    };
    struct peer_ck* peer = lines(sizeof(*peer));

    if (!peer) return NULL;
    peer->ranks = ranks;
    peer->states = lines(ranks * sizeof(*peer->states));
    if (peer->states && open[shape](peer)) return peer;
    peer_ck_close(peer);
    return NULL;
}

void peer_ck_close(struct peer_ck* peer) {
    unsigned int i;

    for (i = 0; peer->rows && i < peer->ranks; i++) free(peer->rows[i]);
    free(peer->rows);
    free(peer->groups);
    free(peer->shared);
    free(peer->states);
    free(peer);
}

void peer_ck_centralized(struct peer_ck* peer, unsigned int rank) {
    ck_barrier_centralized(peer->shared, &peer->states[rank].centralized, peer->ranks);
}

void peer_ck_combining(struct peer_ck* peer, unsigned int rank) {
    ck_barrier_combining(peer->shared, &peer->groups[rank / GROUP], &peer->states[rank].combining);
}

void peer_ck_dissemination(struct peer_ck* peer, unsigned int rank) {
    ck_barrier_dissemination(peer->shared, &peer->states[rank].dissemination);
}

void peer_ck_tournament(struct peer_ck* peer, unsigned int rank) {
    ck_barrier_tournament(peer->shared, &peer->states[rank].tournament);
}

void peer_ck_mcs(struct peer_ck* peer, unsigned int rank) { ck_barrier_mcs(peer->shared, &peer->states[rank].mcs); }

const char* peer_ck_version(void) { return CK_VERSION; }
