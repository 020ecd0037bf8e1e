/* SPDX-License-Identifier: Apache-2.0
 * All of them may be written through MPI_T while the program runs, and count for communicators created later: a
 * communicator's own are copied when it is made, so nothing under way ever sees a change. */
#include "parameters.h"

#include "runtime/environment.h"
#include "runtime/say.h"

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
    char* verbose;
} values = {.priority = 90, .budget_ms = 20, .timeout = -1};

/* Open MPI's highest priority is 100. */
enum { default_priority = 90, highest_priority = 100, default_budget_ms = 20 };

static const char* const objectives[] = {"latency", "skew", "wait", NULL};
static const char* const sharings[] = {"auto", "never", NULL};

enum parameter { priority, plan, selection, radix, budget_ms, timeout, objective, sharing, network, verbose };

/* `accepted` and `fallback` are what a refusal says; where a variable means the same, it accepts the same, and counts
 * instead. */
static const struct {
    const char* name;
    const char* help;
    mca_base_var_type_t type;
    mca_base_var_info_lvl_t level;
    void* value;
    const char* accepted;
    const char* fallback;
    const char* variable;
} known[] = {
    [priority] = {"coll_tollbar_priority",
                  "Priority of the component, 0 to 100. Above 30 MPI_Barrier is tollbar's, above 10 MPI_Ibarrier",
                  MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_3, &values.priority, "0 to 100", "90", NULL},
    [plan] = {"coll_tollbar_plan",
              "What every barrier runs: a plan of the catalogue such as mcs, dissemination:3 or "
              "central@4/dissemination; turnstile (one word in shared memory); or turnstile/PLAN (PLAN between the "
              "nodes). Empty: TOLLBAR_PLAN, else chosen by coll_tollbar_selection",
              MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_2, &values.plan, NULL, NULL, "TOLLBAR_PLAN"},
    [selection] =
        {"coll_tollbar_selection",
         "0: for each communicator the stored choice, else the fastest of the five candidates that a model puts first, "
         "measured on it for coll_tollbar_budget_ms; -1: the fastest of all candidates, measured on it for at least "
         "200 ms whatever is stored; 1 or more: number in the catalogue as 'tollbar plans' lists it",
         MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_2, &values.selection, "-1, or 0 or more", "0", NULL},
    [radix] = {"coll_tollbar_radix",
               "Parameter of the plan that coll_tollbar_selection names (children of a node, peers a round); 0: that"
               " plan's default",
               MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_5, &values.radix, "0 or more", "0", NULL},
    [budget_ms] = {"coll_tollbar_budget_ms", "What choosing may take at the first barrier of a communicator, in ms",
                   MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_5, &values.budget_ms, "0 or more", "20", NULL},
    [timeout] = {"coll_tollbar_timeout",
                 "Seconds of waiting in a barrier after which the missing ranks are named on stderr, again and again; "
                 "0: never; -1: as TOLLBAR_TIMEOUT says",
                 MCA_BASE_VAR_TYPE_DOUBLE, OPAL_INFO_LVL_2, &values.timeout, NULL, NULL, "TOLLBAR_TIMEOUT"},
    [objective] = {"coll_tollbar_objective",
                   "What to choose by: latency (last entry to last exit), skew (first exit to last exit) or wait (mean "
                   "time inside)",
                   MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_5, &values.objective, "latency, skew, wait", "latency",
                   NULL},
    [sharing] = {"coll_tollbar_sharing",
                 "How the ranks of a node meet: auto (in shared memory if it can be had) or never (by messages)",
                 MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_5, &values.sharing, "auto, never", "auto", NULL},
    [network] = {"coll_tollbar_network",
                 "How nodes meet: p2p (by messages), nic (on their network cards, where each has one with tollbar's "
                 "daemon) or auto (whatever is faster where a plan is chosen, else as the plan says). Empty: "
                 "TOLLBAR_NETWORK, else auto",
                 MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_2, &values.network, NULL, NULL, "TOLLBAR_NETWORK"},
    [verbose] = {"coll_tollbar_verbose",
                 "What is said on stderr: 0 (only what is wrong), 1 (also what was chosen and what could not be had) "
                 "or 2 (also how often it was used). Empty: TOLLBAR_VERBOSE, else 0",
                 MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_2, &values.verbose, NULL, NULL, "TOLLBAR_VERBOSE"},
};

static int is_set(const char* value) { return value != NULL && *value != '\0'; }

/* Once a process, and by one process of the job: all have the same parameters. */
static void refuse(enum parameter parameter, const char* value) {
    static unsigned said;
    const char* variable = known[parameter].variable;
    if (!tollbar_first_of_job() || __atomic_fetch_or(&said, 1U << parameter, __ATOMIC_RELAXED) & 1U << parameter)
        return;
    tollbar_refuse(known[parameter].name, value,
                   variable == NULL ? known[parameter].accepted : tollbar_accepted(variable),
                   variable == NULL ? known[parameter].fallback : variable);
}

/* Open MPI takes "abc" for the default without a word. */
static void refuse_no_number(enum parameter parameter) {
    char variable[64];
    char* end = NULL;
    snprintf(variable, sizeof variable, "OMPI_MCA_%s", known[parameter].name);
    const char* value = getenv(variable);
    if (value == NULL) return;
    strtod(value, &end);
    if (end == value || (*end != '\0' && strchr("kKmMgG", *end) == NULL)) refuse(parameter, value);
}

int tollbar_parameters_register(const mca_base_component_t* component) {
    values.plan = values.network = values.verbose = "";
    values.objective = (char*)objectives[0];
    values.sharing = (char*)sharings[0];
    for (enum parameter one = priority; one <= verbose; ++one) {
        if (known[one].type != MCA_BASE_VAR_TYPE_STRING) refuse_no_number(one);
        if (mca_base_component_var_register(component, known[one].name + strlen("coll_tollbar_"), known[one].help,
                                            known[one].type, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, known[one].level,
                                            MCA_BASE_VAR_SCOPE_ALL_EQ, known[one].value) < 0)
            return OPAL_ERROR;
    }
    return OPAL_SUCCESS;
}

static int number_or_default(enum parameter parameter, int value, int highest, int fallback) {
    if (value >= 0 && value <= highest) return value;
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    refuse(parameter, text);
    return fallback;
}

/* The place of the value in the list; 0, the default, when it is not there. */
static int one_of(enum parameter parameter, const char* value, const char* const* list) {
    if (!is_set(value)) return 0;
    for (int i = 0; list[i] != NULL; ++i)
        if (strcmp(value, list[i]) == 0) return i;
    refuse(parameter, value);
    return 0;
}

static enum tollbar_network network_now(void) {
    enum tollbar_network told = TOLLBAR_NETWORK_UNSAID;
    if (is_set(values.network) && !tollbar_to_network(values.network, &told)) refuse(network, values.network);
    return told;
}

static int verbosity_now(void) {
    int level = -1;
    if (is_set(values.verbose) && !tollbar_to_level(values.verbose, &level)) refuse(verbose, values.verbose);
    return level;
}

static double timeout_now(void) {
    if (values.timeout >= 0) return values.timeout;
    char text[32];
    snprintf(text, sizeof text, "%g", values.timeout);
    if (values.timeout != -1) refuse(timeout, text);
    return tollbar_timeout();
}

int tollbar_parameters_priority(void) {
    return number_or_default(priority, values.priority, highest_priority, default_priority);
}

struct tollbar_mpi_options tollbar_parameters_options(void) {
    tollbar_set_verbosity(verbosity_now());
    const int named = is_set(values.plan);
    const int all = !named && values.selection == -1;
    return (struct tollbar_mpi_options){
        .plan = named ? strdup(values.plan) : NULL,
        .plan_named_by = known[named ? plan : selection].name,
        .sharing = (enum tollbar_sharing)one_of(sharing, values.sharing, sharings),
        .network = network_now(),
        .objective = (enum tollbar_objective)one_of(objective, values.objective, objectives),
        .selection = all ? 0 : (uint32_t)number_or_default(selection, values.selection, INT_MAX, 0),
        .all = (uint32_t)all,
        .radix = (uint32_t)number_or_default(radix, values.radix, INT_MAX, 0),
        .budget_ms = number_or_default(budget_ms, values.budget_ms, INT_MAX, default_budget_ms),
        .timeout_s = timeout_now(),
    };
}
