/* SPDX-License-Identifier: Apache-2.0
 * Has every rank take itself for a host of its own, or for one of several, so that barriers go by messages wherever
 * the ranks run. Replaces gethostname(2), which tollbar asks at the first barrier; the MPI has asked before. */
#ifndef TOLLBAR_TESTS_FAULTS_APART_H
#define TOLLBAR_TESTS_FAULTS_APART_H

#include "toll.h"

#include <sys/utsname.h>

static int apart; /* 1: each on its own; more: so many hosts */

int gethostname(char* name, size_t size) {
    struct utsname system;
    uname(&system);
    if (apart)
        snprintf(name, size, "apart%d", apart == 1 ? toll_rank : toll_rank % apart);
    else
        snprintf(name, size, "%s", system.nodename);
    return 0;
}

#endif
