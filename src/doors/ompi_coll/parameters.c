/* SPDX-License-Identifier: Apache-2.0
 * All of them may be written through MPI_T while the program runs, and count for communicators created later: a
 * communicator's own are copied when it is made, so nothing under way ever sees a change. */
#include "parameters.h"

#include "base/environment.h"
#include "base/say.h"
#include "communicator/participant.h"

#include <opal/mca/base/mca_base_var.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Written by Open MPI, which holds these addresses. */
static struct {
    int priority;
    char* plan;
    int selection;
    int budget_ms;
    double timeout;
    char* objective;
    char* network;
    char* verbose;
} values = {.priority = 90, .budget_ms = 20, .timeout = -1};

/* Open MPI's highest priority is 100. */
enum { default_priority = 90, highest_priority = 100, default_budget_ms = 20 };

static const char* const objectives[] = {"latency", "skew", "wait", NULL};

enum parameter { priority, plan, selection, budget_ms, timeout, objective, network, verbose };

/* A refusal says what is `accepted` and which default, `fallback`, is taken. A parameter with
 * a `variable` that means the same accepts what that accepts, and its default is the variable's value. */
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
              "nodes). Empty: TOLLBAR_PLAN, else chosen as coll_tollbar_selection says",
              MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_2, &values.plan, NULL, NULL, "TOLLBAR_PLAN"},
    [selection] =
        {"coll_tollbar_selection",
         "0: for each communicator the stored choice, else the fastest of the five candidates that a model puts first, "
         "measured on it for coll_tollbar_budget_ms; -1: the fastest of all candidates, measured on it for at least "
         "200 ms whatever is stored",
         MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_2, &values.selection, "0, -1", "0", NULL},
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

static void refuse(enum parameter parameter, const char* value) {
    const char* variable = known[parameter].variable;
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
    for (enum parameter one = priority; one <= verbose; ++one) {
        if (known[one].type != MCA_BASE_VAR_TYPE_STRING) refuse_no_number(one);
        if (mca_base_component_var_register(component, known[one].name + strlen("coll_tollbar_"), known[one].help,
                                            known[one].type, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, known[one].level,
                                            MCA_BASE_VAR_SCOPE_ALL_EQ, known[one].value) < 0)
            return OPAL_ERROR;
    }
    return OPAL_SUCCESS;
}

static int number_or_default(enum parameter parameter, int value, int lowest, int highest, int fallback) {
    if (value >= lowest && value <= highest) return value;
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    refuse(parameter, text);
    return fallback;
}

static enum tollbar_objective objective_now(void) {
    for (int i = 0; objectives[i] != NULL; ++i)
        if (is_set(values.objective) && strcmp(values.objective, objectives[i]) == 0) return (enum tollbar_objective)i;
    if (is_set(values.objective)) refuse(objective, values.objective);
    return TOLLBAR_OBJECTIVE_LATENCY;
}

static enum tollbar_network network_now(void) {
    enum tollbar_network named = TOLLBAR_NETWORK_UNSAID;
    if (is_set(values.network) && !tollbar_to_network(values.network, &named)) refuse(network, values.network);
    return named;
}

static int verbosity_now(void) {
    int level = -1;
    if (is_set(values.verbose) && !tollbar_to_level(values.verbose, &level)) refuse(verbose, values.verbose);
    return level;
}

/* Whether a preload watches the calls of this process, and says who is missing: a barrier need not. */
static int is_watched(void) {
    int (*watched)(void);
    void* const found = dlsym(RTLD_DEFAULT, "tollbar_mpi_is_watched");
    memcpy(&watched, &found, sizeof watched); /* ISO C knows no such conversion, POSIX demands it */
    return found != NULL && watched();
}

static double timeout_now(void) {
    if (values.timeout >= 0) return values.timeout;
    char text[32];
    snprintf(text, sizeof text, "%g", values.timeout);
    if (values.timeout != -1) refuse(timeout, text);
    return is_watched() ? 0 : tollbar_timeout();
}

int tollbar_parameters_priority(void) {
    return number_or_default(priority, values.priority, 0, highest_priority, default_priority);
}

struct tollbar_mpi_options tollbar_parameters_options(void) {
    tollbar_set_verbosity(verbosity_now());
    const int named = is_set(values.plan);
    return (struct tollbar_mpi_options){
        .plan = named ? strdup(values.plan) : NULL,
        .plan_named_by = known[plan].name,
        .network = network_now(),
        .objective = objective_now(),
        .all = number_or_default(selection, values.selection, -1, 0, 0) == -1,
        .budget_ms = number_or_default(budget_ms, values.budget_ms, 0, INT_MAX, default_budget_ms),
        .timeout_s = timeout_now(),
    };
}
