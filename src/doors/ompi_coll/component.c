/* SPDX-License-Identifier: Apache-2.0
 * The component as Open MPI finds it: mca_coll_tollbar.so with the one symbol mca_coll_tollbar_component. */
#include "module.h"
#include "parameters.h"
#include "request.h"
#include "series.h"
#include "waits.h"

static int register_parameters(void);
static int close_component(void);

static int init_query(bool enable_progress_threads, bool enable_mpi_threads) {
    (void)enable_progress_threads;
    (void)enable_mpi_threads;
    return OMPI_SUCCESS;
}

OMPI_DECLSPEC extern const mca_coll_base_component_t mca_coll_tollbar_component;

const mca_coll_base_component_t mca_coll_tollbar_component = {
    .collm_version =
        {
            TOLLBAR_COLL_VERSION,
            .mca_component_name = "tollbar",
            MCA_BASE_MAKE_VERSION(component, TOLLBAR_VERSION_MAJOR, TOLLBAR_VERSION_MINOR, TOLLBAR_VERSION_PATCH),
            .mca_close_component = close_component,
            .mca_register_component_params = register_parameters,
        },
    .collm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .collm_init_query = init_query,
    .collm_comm_query = tollbar_module_query,
};

/* Open MPI asks this first; it looks only at the version of its interface to components, not at its own. */
static int register_parameters(void) {
    if (!tollbar_series_fits()) return OPAL_ERR_NOT_AVAILABLE;
    return tollbar_parameters_register(&mca_coll_tollbar_component.collm_version);
}

static int close_component(void) {
    tollbar_waits_remove();
    tollbar_requests_close();
    return OMPI_SUCCESS;
}
