/* SPDX-License-Identifier: Apache-2.0
 * Asks the MPI library itself, which may be asked before MPI_Init. */
#include "series.h"

#include "runtime/environment.h"
#include "runtime/say.h"

#include <stdio.h>

static char running[64] = "openmpi";
static int major, minor;

static void ask(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0, release = 0;
    if (major != 0 || PMPI_Get_library_version(text, &length) != MPI_SUCCESS) return;
    if (sscanf(text, "Open MPI v%d.%d.%d", &major, &minor, &release) >= 2)
        snprintf(running, sizeof running, "openmpi-%d.%d.%d", major, minor, release);
}

const char* tollbar_openmpi_running(void) {
    ask();
    return running;
}

int tollbar_series_fits(void) {
    ask();
    if (major == OMPI_MAJOR_VERSION && minor == OMPI_MINOR_VERSION) return 1;
    if (tollbar_first_of_job())
        tollbar_say(
            "mca_coll_tollbar.so was built for Open MPI %d.%d and this is %d.%d: Open MPI's own barrier is "
            "used; build it with this Open MPI's headers, or preload libtollbar_mpi_openmpi.so",
            OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, major, minor);
    return 0;
}
