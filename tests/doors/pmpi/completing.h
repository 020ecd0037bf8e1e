/* SPDX-License-Identifier: Apache-2.0
 * Each function of an MPI that completes requests, for tests that call them all. */
#ifndef TOLLBAR_TESTS_PMPI_COMPLETING_H
#define TOLLBAR_TESTS_PMPI_COMPLETING_H

#include <mpi.h>

enum { in_flight = 6, ways_to_complete = 9 };

/* Completes the requests, all of which are active. */
static void complete(int way, MPI_Request requests[in_flight]) {
    MPI_Status statuses[in_flight];
    int done[in_flight], over = 0, count = 0;
    switch (way) {
        case 0: MPI_Waitall(in_flight, requests, MPI_STATUSES_IGNORE); break;
        case 1: MPI_Waitall(in_flight, requests, statuses); break;
        case 2:
            for (int i = in_flight - 1; i >= 0; --i) MPI_Wait(&requests[i], &statuses[0]);
            break;
        case 3:
            for (int i = 0; i < in_flight; ++i) MPI_Waitany(in_flight, requests, &done[0], MPI_STATUS_IGNORE);
            break;
        case 4:
            for (int left = in_flight; left > 0; left -= count)
                MPI_Waitsome(in_flight, requests, &count, done, MPI_STATUSES_IGNORE);
            break;
        case 5:
            while (!over) MPI_Testall(in_flight, requests, &over, MPI_STATUSES_IGNORE);
            break;
        case 6:
            for (int left = in_flight; left > 0; left -= over)
                MPI_Testany(in_flight, requests, &done[0], &over, MPI_STATUS_IGNORE);
            break;
        case 7:
            for (int left = in_flight; left > 0; left -= count)
                MPI_Testsome(in_flight, requests, &count, done, MPI_STATUSES_IGNORE);
            break;
        default:
            for (int i = 0; i < in_flight; ++i) {
                for (over = 0; !over;) MPI_Request_get_status(requests[i], &over, MPI_STATUS_IGNORE);
                MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            }
    }
}

#endif
