/* SPDX-License-Identifier: Apache-2.0
 * The keeper of a `tollbar run` knows which ranks of a step of Slurm have this library: each says so to it, and gets
 * the answer once all have. No message of the MPI is needed, and no rank that may not be here. */
#ifndef TOLLBAR_DOORS_PMPI_KEEPER_H
#define TOLLBAR_DOORS_PMPI_KEEPER_H

#ifdef __cplusplus
extern "C" {
#endif

enum tollbar_kept {
    TOLLBAR_KEPT_NO,  /* not all have it, or there is no keeper: no rank gets another answer */
    TOLLBAR_KEPT_YES, /* all ranks have said that they are here, and the same of their library */
    TOLLBAR_KEPT_LOST /* this rank has said that it is here, and the keeper is gone: the others may have either answer
                       */
};

struct tollbar_arrival {
    const char* keeper;  /* its secret, a colon, its port; another colon and its address where that is not `host` */
    const char* host;    /* the address of srun's host, as a number; NULL: it is not known */
    const char* step;    /* a word */
    const char* library; /* a word, the same on all ranks that do the same; "-": it cannot serve */
    int rank, ranks;
    int limit_ms; /* for the answer */
};

/* Says to the keeper that this rank is here. Blocks until the keeper has decided: for seconds where a rank does not
 * come, and no longer than its limits, in which time that this process was stopped does not count. */
enum tollbar_kept tollbar_ask_keeper(const struct tollbar_arrival* arrival);

#ifdef __cplusplus
}
#endif

#endif
