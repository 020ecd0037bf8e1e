/* SPDX-License-Identifier: Apache-2.0
 * Point-to-point calls over a communicator of SimGrid's SMPI, under which simulated time passes while a rank waits. */
#ifndef TOLLBAR_MODELS_CLUSTER_SIMULATED_P2P_H
#define TOLLBAR_MODELS_CLUSTER_SIMULATED_P2P_H

#include "transports/mpi/p2p.h"

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tollbar_simulated_waiting {
    TOLLBAR_SIMULATED_EXACT = 0,  /* until the very moment at which the message awaited is there */
    TOLLBAR_SIMULATED_POLLING = 1 /* a millisecond between two looks, so that time-outs are noticed */
};

/* `gap_s` is what LogP's gap has over the overhead: so long after a message this rank's next one in that direction
 * cannot begin. SimGrid itself keeps no distance between messages. Returns 0 or an MPI error code. */
int tollbar_simulated_p2p_open(MPI_Comm comm, enum tollbar_simulated_waiting waiting, double gap_s,
                               struct tollbar_p2p* p2p);

void tollbar_simulated_p2p_close(struct tollbar_p2p* p2p);

#ifdef __cplusplus
}
#endif

#endif
