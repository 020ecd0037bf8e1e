/* SPDX-License-Identifier: Apache-2.0
 * What differs between the series of Open MPI, and whether the one that runs is the one we were built for: a
 * component fits its own series only. */
#ifndef TOLLBAR_DOORS_OMPI_COLL_SERIES_H
#define TOLLBAR_DOORS_OMPI_COLL_SERIES_H

#include <ompi_config.h>

#include <ompi/mca/coll/coll.h>

#if OMPI_MAJOR_VERSION < 5
#    define TOLLBAR_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
#elif OMPI_MAJOR_VERSION == 5
#    define TOLLBAR_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
#else
#    define TOLLBAR_COLL_VERSION MCA_COLL_BASE_VERSION_3_0_0
#endif

/* "openmpi-4.1.4", the Open MPI that runs. */
const char* tollbar_openmpi_running(void);

/* Whether that is of our series; if not, says so on stderr, once a job. */
int tollbar_series_fits(void);

/* From 6.0 on a module puts its functions into the communicator itself. */
static inline void tollbar_series_install(mca_coll_base_module_t* module, struct ompi_communicator_t* comm) {
#if OMPI_MAJOR_VERSION > 5
    MCA_COLL_INSTALL_API(comm, barrier, module->coll_barrier, module, "tollbar");
    MCA_COLL_INSTALL_API(comm, ibarrier, module->coll_ibarrier, module, "tollbar");
    if (module->coll_barrier_init != NULL)
        MCA_COLL_INSTALL_API(comm, barrier_init, module->coll_barrier_init, module, "tollbar");
#else
    (void)module;
    (void)comm;
#endif
}

#endif
