/* SPDX-License-Identifier: Apache-2.0
 * All of them may be written through MPI_T while the program runs, and count for communicators created later: a
 * communicator's own are copied when it is made, so nothing under way ever sees a change. */
#include "parameters.h"

#include "series.h"

#include <opal/mca/base/mca_base_var.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Written by Open MPI, which holds these addresses. */
static struct {
    int priority;
    char* plan;
    int selection;
    int radix;
    int budget_ms;
    double timeout;
    char* objective;
    char* sharing;
    char* network;
} values = {.priority = 90, .budget_ms = 20, .timeout = -1};

/* Open MPI's highest priority is 100. */
enum { default_priority = 90, highest_priority = 100, default_budget_ms = 20 };

static const char* const objectives[] = {"latency", "skew", "wait", NULL};
static const char* const sharings[] = {"auto", "never", NULL};
static const char* const networks[] = {"auto", "p2p", "nic", NULL}; /* from 1, see enum tollbar_network */

/* The parameters of which a wrong value is spoken of; each once. */
enum parameter { priority, timeout, sharing, objective, selection, radix, budget_ms, network };

static void refuse(int speaks, enum parameter parameter, const char* name, const char* value, const char* accepted) {
    static unsigned said;
    if (!speaks || __atomic_fetch_or(&said, 1U << parameter, __ATOMIC_RELAXED) & 1U << parameter) return;
    fprintf(stderr, "tollbar: coll_tollbar_%s is '%s'; accepted: %s; using the default\n", name, value, accepted);
}

/* Open MPI takes "abc" for the default without a word. */
static void refuse_no_number(const char* name) {
    char variable[64];
    char* end = NULL;
    snprintf(variable, sizeof variable, "OMPI_MCA_coll_tollbar_%s", name);
    const char* value = getenv(variable);
    if (value == NULL || !tollbar_series_speaks()) return;
    strtod(value, &end);
    if (end == value || (*end != '\0' && strchr("kKmMgG", *end) == NULL))
        fprintf(stderr, "tollbar: coll_tollbar_%s is '%s'; accepted: a number; using the default\n", name, value);
}

static int add(const mca_base_component_t* component, const char* name, const char* help, mca_base_var_type_t type,
               mca_base_var_info_lvl_t level, void* value) {
    if (type != MCA_BASE_VAR_TYPE_STRING) refuse_no_number(name);
    const int index = mca_base_component_var_register(component, name, help, type, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE,
                                                      level, MCA_BASE_VAR_SCOPE_ALL_EQ, value);
    return index < 0 ? index : 0;
}

int tollbar_parameters_register(const mca_base_component_t* component) {
    int failed = 0;
    values.plan = "";
    values.objective = (char*)objectives[0];
    values.sharing = (char*)sharings[0];
    values.network = "";
    failed |= add(component, "priority",
                  "Priority of the component, 0 to 100. Above 30 MPI_Barrier is tollbar's, above 10 MPI_Ibarrier",
                  MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_3, &values.priority);
    failed |= add(component, "plan",
                  "What every barrier runs: a plan of the catalogue such as mcs, dissemination:3 or "
                  "central@4/dissemination; turnstile (one word in shared memory); or turnstile/PLAN (PLAN between "
                  "the nodes). Empty: TOLLBAR_PLAN, else chosen by coll_tollbar_selection",
                  MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_2, &values.plan);
    failed |= add(component, "selection",
                  "0: for each communicator the stored choice, else measure all candidates on it and take the "
                  "fastest; 1 or more: number in the catalogue as 'tollbar plans' lists it",
                  MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_2, &values.selection);
    failed |= add(component, "radix",
                  "Parameter of the plan that coll_tollbar_selection names (children of a node, peers a round); 0: "
                  "that plan's default",
                  MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_5, &values.radix);
    failed |= add(component, "budget_ms", "What choosing may take at the first barrier of a communicator, in ms",
                  MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_5, &values.budget_ms);
    failed |= add(component, "timeout",
                  "Seconds of waiting in a barrier after which the missing ranks are named on stderr, again and "
                  "again; 0: never; -1: as TOLLBAR_TIMEOUT says",
                  MCA_BASE_VAR_TYPE_DOUBLE, OPAL_INFO_LVL_2, &values.timeout);
    failed |= add(component, "objective",
                  "What to choose by: latency (last entry to last exit), skew (first exit to last exit) or wait "
                  "(mean time inside)",
                  MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_5, &values.objective);
    failed |= add(component, "sharing",
                  "How the ranks of a node meet: auto (in shared memory if it can be had) or never (by messages)",
                  MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_5, &values.sharing);
    failed |= add(component, "network",
                  "How nodes meet: p2p (by messages), nic (on their network cards, where each has one with tollbar's "
                  "daemon) or auto (whatever is faster where a plan is chosen, else as the plan says). Empty: "
                  "TOLLBAR_NETWORK, else auto",
                  MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_2, &values.network);
    return failed ? OPAL_ERROR : OPAL_SUCCESS;
}

static int number_or_default(int speaks, enum parameter parameter, const char* name, int value, int highest,
                             int fallback) {
    if (value >= 0 && value <= highest) return value;
    char text[16];
    char accepted[32];
    snprintf(text, sizeof text, "%d", value);
    snprintf(accepted, sizeof accepted, highest == INT_MAX ? "0 or more" : "0 to %d", highest);
    refuse(speaks, parameter, name, text, accepted);
    return fallback;
}

/* The place of the value in the list; 0, the default, when it is not there. */
static int one_of(int speaks, enum parameter parameter, const char* name, const char* value, const char* const* list) {
    char accepted[64] = "";
    if (value == NULL || *value == '\0') return 0;
    for (int i = 0; list[i] != NULL; ++i) {
        if (strcmp(value, list[i]) == 0) return i;
        snprintf(accepted + strlen(accepted), sizeof accepted - strlen(accepted), "%s%s", i ? ", " : "", list[i]);
    }
    refuse(speaks, parameter, name, value, accepted);
    return 0;
}

static enum tollbar_network network_or_default(int speaks) {
    if (values.network == NULL || *values.network == '\0') return TOLLBAR_NETWORK_UNSAID;
    return (enum tollbar_network)(TOLLBAR_NETWORK_AUTO + one_of(speaks, network, "network", values.network, networks));
}

int tollbar_parameters_priority(int speaks) {
    return number_or_default(speaks, priority, "priority", values.priority, highest_priority, default_priority);
}

struct tollbar_mpi_options tollbar_parameters_options(int speaks) {
    double timeout_s = values.timeout;
    if (!(timeout_s >= 0) && timeout_s != -1) {
        char text[32];
        snprintf(text, sizeof text, "%g", timeout_s);
        refuse(speaks, timeout, "timeout", text, "seconds, 0 (never), -1 (as TOLLBAR_TIMEOUT says)");
        timeout_s = -1;
    }
    return (struct tollbar_mpi_options){
        .plan = values.plan == NULL || *values.plan == '\0' ? NULL : strdup(values.plan),
        .sharing = (enum tollbar_sharing)one_of(speaks, sharing, "sharing", values.sharing, sharings),
        .network = network_or_default(speaks),
        .objective = (enum tollbar_objective)one_of(speaks, objective, "objective", values.objective, objectives),
        .selection = (uint32_t)number_or_default(speaks, selection, "selection", values.selection, INT_MAX, 0),
        .radix = (uint32_t)number_or_default(speaks, radix, "radix", values.radix, INT_MAX, 0),
        .budget_ms = number_or_default(speaks, budget_ms, "budget_ms", values.budget_ms, INT_MAX, default_budget_ms),
        .timeout_s = timeout_s,
    };
}
