/* SPDX-License-Identifier: Apache-2.0
 * Requests wait in a row for each communicator, in the order they were started in, which is the order they end in: only
 * the first of a row is ever looked at. A request keeps its communicator alive, also after MPI_Comm_free. */
#include "request.h"

#include "pml_p2p.h"

#include <opal/runtime/opal_progress.h>

#include <sched.h>
#include <stdio.h>
#include <time.h>

struct tollbar_request {
    ompi_request_t super;
    tollbar_module* module;
    struct tollbar_request* next;
    uint64_t episode;
    double since;     /* in the row; kept only when reports are wanted */
    double report_at; /* the next report */
};

typedef struct tollbar_request tollbar_request;

/* The communicators on which something is pending, the requests to use again, and the lock over both, all rows, and the
 * participants of these communicators unless they are held. The callback only tries it, because what it calls may call
 * it again. */
static tollbar_module* pending_modules;
static tollbar_request* unused;
static volatile char locked;

static int try_lock(void) { return !__atomic_test_and_set(&locked, __ATOMIC_ACQUIRE); /* pairs with unlock() */ }

static void lock(void) {
    while (!try_lock()) sched_yield();
}

static void unlock(void) { __atomic_clear(&locked, __ATOMIC_RELEASE); /* pairs with try_lock() */ }

static int progress(void);

/* Under the lock. */
static void append(tollbar_module* module, tollbar_request* request) {
    request->next = NULL;
    if (module->first != NULL) {
        module->last->next = request;
    } else {
        module->first = request;
        if (pending_modules == NULL) opal_progress_register(progress);
        module->next_pending = pending_modules;
        pending_modules = module;
    }
    module->last = request;
    __atomic_store_n(&module->pending, module->pending + 1, __ATOMIC_RELAXED);
}

/* Under the lock: takes communicators off the list on which nothing is pending any more. */
static void tidy(void) {
    for (tollbar_module** at = &pending_modules; *at != NULL;) {
        tollbar_module* module = *at;
        if (module->first == NULL && !module->held) {
            *at = module->next_pending;
        } else {
            at = &module->next_pending;
        }
    }
    if (pending_modules == NULL) opal_progress_unregister(progress);
}

/* Before the ranks meet nothing is pending any more. */
static tollbar_mpi_participant* participant_of(const tollbar_module* module) {
    return module->stage == TOLLBAR_MET ? module->participant : module->by_messages;
}

/* Whoever may: under the lock, or holding the module. */
static int is_over(tollbar_request* request) {
    return tollbar_mpi_test(participant_of(request->module), request->episode);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Nobody waits inside the participant for a request, so it cannot tell of the missing by itself. */
static void report_if_late(tollbar_request* request) {
    tollbar_module* module = request->module;
    const double now = seconds_now();
    if (now < request->report_at) return;
    request->report_at = now + module->timeout_s;
    tollbar_mpi_report(participant_of(module), now - request->since);
}

static int error_of(const tollbar_request* request) {
    return tollbar_mpi_failed(participant_of(request->module), request->episode) ? MPI_ERR_OTHER : OMPI_SUCCESS;
}

/* Whoever may, as above. Memory order: release; once none is pending the participant may be used without a lock. */
static tollbar_request* take_first(tollbar_module* module) {
    tollbar_request* request = module->first;
    module->first = request->next;
    request->super.req_status.MPI_ERROR = error_of(request);
    __atomic_store_n(&module->pending, module->pending - 1, __ATOMIC_RELEASE); /* pairs with who reads it as 0 */
    return request;
}

/* Outside the lock: somebody may be told, and free the request at once. */
static void complete(tollbar_request* request) { ompi_request_complete(&request->super, true); }

static int progress(void) {
    if (!try_lock()) return 0;
    tollbar_request* over = NULL;
    tollbar_request** end = &over;
    for (tollbar_module* module = pending_modules; module != NULL; module = module->next_pending) {
        while (!module->held && module->first != NULL && is_over(module->first)) {
            *end = take_first(module);
            end = &(*end)->next;
        }
        if (module->timeout_s > 0 && !module->held && module->first != NULL) report_if_late(module->first);
    }
    *end = NULL;
    if (over != NULL) tidy();
    unlock();
    int events = 0;
    for (; over != NULL; ++events) {
        tollbar_request* next = over->next;
        complete(over);
        over = next;
    }
    return events;
}

/* Ends the row's requests one by one, up to `last`, or all for NULL; waits inside the participant, which does it
 * politely and names the missing. */
static void finish_through(tollbar_module* module, const tollbar_request* last) {
    lock();
    module->held = 1;
    unlock();
    for (const tollbar_request* ended = NULL; module->first != NULL && (last == NULL || ended != last);) {
        tollbar_request* first = module->first;
        tollbar_mpi_wait(participant_of(module), first->episode);
        ended = take_first(module);
        complete(first);
    }
    lock();
    module->held = 0;
    tidy();
    unlock();
}

void tollbar_requests_finish(tollbar_module* module) {
    if (__atomic_load_n(&module->pending, __ATOMIC_ACQUIRE) != 0) /* pairs with take_first() */
        finish_through(module, NULL);
}

void tollbar_request_finish(ompi_request_t* handle) {
    tollbar_request* request = (tollbar_request*)handle;
    if (!request->module->held) finish_through(request->module, request);
}

/* The user's handle is gone. */
static int free_request(ompi_request_t** handle) {
    tollbar_request* request = (tollbar_request*)*handle;
    if (!REQUEST_COMPLETE(&request->super)) return MPI_ERR_REQUEST;
    struct ompi_communicator_t* comm = request->super.req_mpi_object.comm;
    OMPI_REQUEST_FINI(&request->super);
    lock();
    request->next = unused;
    unused = request;
    unlock();
    *handle = MPI_REQUEST_NULL;
    OBJ_RELEASE(comm);
    return OMPI_SUCCESS;
}

bool tollbar_request_is_pending(const ompi_request_t* handle) {
    return handle->req_free == free_request && handle->req_state == OMPI_REQUEST_ACTIVE && !REQUEST_COMPLETE(handle);
}

static int cancel_request(ompi_request_t* request, int flag) {
    (void)request;
    (void)flag;
    return MPI_ERR_REQUEST;
}

static void construct(tollbar_request* request) {
    request->super.req_type = OMPI_REQUEST_COLL;
    request->super.req_status = ompi_status_empty;
    request->super.req_free = free_request;
    request->super.req_cancel = cancel_request;
}

OBJ_CLASS_INSTANCE(tollbar_request, ompi_request_t, construct, NULL);

void tollbar_requests_close(void) {
    while (unused != NULL) {
        tollbar_request* request = unused;
        unused = request->next;
        OBJ_RELEASE(request);
    }
}

static tollbar_request* new_request(tollbar_module* module, bool persistent) {
    lock();
    tollbar_request* request = unused;
    if (request != NULL) unused = request->next;
    unlock();
    if (request == NULL) request = OBJ_NEW(tollbar_request);
    if (request == NULL) return NULL;
    OMPI_REQUEST_INIT(&request->super, persistent);
    request->super.req_start = NULL;
    request->super.req_mpi_object.comm = module->comm;
    OBJ_RETAIN(module->comm);
    request->module = module;
    return request;
}

static uint64_t arrive(tollbar_module* module) {
    ++*(module->stage == TOLLBAR_MET ? &module->requests : &module->early);
    return tollbar_mpi_arrive(participant_of(module), module->timeout_s > 0 ? tollbar_mpi_call_site() : NULL);
}

/* The episode's number, or 0 when it is over already. Nobody else uses the participant while nothing is pending. */
static uint64_t arrive_alone(tollbar_module* module) {
    const uint64_t episode = arrive(module);
    const int over = tollbar_mpi_test(participant_of(module), episode) &&
                     !tollbar_mpi_failed(participant_of(module), episode);
    return over ? 0 : episode;
}

/* Puts an active request into its row; `episode` is 0 when it has not arrived yet. */
static void enlist(tollbar_request* request, uint64_t episode) {
    tollbar_module* module = request->module;
    request->super.req_state = OMPI_REQUEST_ACTIVE;
    lock();
    request->episode = episode == 0 ? arrive(module) : episode;
    if (module->timeout_s > 0) {
        request->since = seconds_now();
        request->report_at = request->since + module->timeout_s;
    }
    append(module, request);
    unlock();
}

/* For requests before the ranks have met. */
static int go_by_messages(tollbar_module* module) {
    const struct tollbar_p2p p2p = tollbar_pml_p2p(module->comm);
    struct tollbar_mpi_options options = module->options;
    char name[sizeof module->comm->c_name + 48];
    snprintf(name, sizeof name, "%s, MPI_Ibarrier before the first MPI_Barrier", module->comm->c_name);
    options.name = name;
    return tollbar_mpi_join_by_messages(&p2p, &options, &module->by_messages);
}

int tollbar_request_start_one(tollbar_module* module, ompi_request_t** handle) {
    uint64_t episode = 0;
    if (participant_of(module) == NULL && go_by_messages(module) != 0) return OMPI_ERR_OUT_OF_RESOURCE;
    if (__atomic_load_n(&module->pending, __ATOMIC_ACQUIRE) == 0) {
        episode = arrive_alone(module); /* nothing pending: pairs with take_first() */
        if (episode == 0) {
            *handle = &ompi_request_empty;
            return OMPI_SUCCESS;
        }
    }
    tollbar_request* request = new_request(module, false);
    if (request == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
    enlist(request, episode);
    *handle = &request->super;
    return OMPI_SUCCESS;
}

/* MPI_Start. */
static int start(size_t count, ompi_request_t** handles) {
    for (size_t i = 0; i < count; ++i) {
        tollbar_request* request = (tollbar_request*)handles[i];
        tollbar_module* module = request->module;
        uint64_t episode = 0;
        request->super.req_status = ompi_status_empty;
        if (__atomic_load_n(&module->pending, __ATOMIC_ACQUIRE) == 0) { /* pairs with take_first() */
            episode = arrive_alone(module);
            if (episode == 0) { /* complete since its last time, and still so */
                request->super.req_state = OMPI_REQUEST_ACTIVE;
                continue;
            }
        }
        request->super.req_complete = REQUEST_PENDING;
        enlist(request, episode);
    }
    return OMPI_SUCCESS;
}

int tollbar_request_persistent(tollbar_module* module, ompi_request_t** handle) {
    tollbar_request* request = new_request(module, true);
    if (request == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
    request->super.req_start = start;
    *handle = &request->super;
    return OMPI_SUCCESS;
}
