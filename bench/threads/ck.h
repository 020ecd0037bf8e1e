/* SPDX-License-Identifier: Apache-2.0 */
/* The five barriers of Concurrency Kit for C++: its own headers are C only. */
#ifndef TOLLBAR_BENCH_CK_H
#define TOLLBAR_BENCH_CK_H

#ifdef __cplusplus
extern "C" {
#endif

enum peer_ck_shape { PEER_CK_CENTRALIZED, PEER_CK_COMBINING, PEER_CK_DISSEMINATION, PEER_CK_TOURNAMENT, PEER_CK_MCS };

struct peer_ck;

/* A barrier for `ranks` threads, each subscribed in the order of ranks. NULL: no memory. */
struct peer_ck* peer_ck_open(enum peer_ck_shape shape, unsigned int ranks);
void peer_ck_close(struct peer_ck* peer);

/* One episode of the barrier's own shape. */
void peer_ck_centralized(struct peer_ck* peer, unsigned int rank);
void peer_ck_combining(struct peer_ck* peer, unsigned int rank);
void peer_ck_dissemination(struct peer_ck* peer, unsigned int rank);
void peer_ck_tournament(struct peer_ck* peer, unsigned int rank);
void peer_ck_mcs(struct peer_ck* peer, unsigned int rank);

const char* peer_ck_version(void);

#ifdef __cplusplus
}
#endif

#endif
