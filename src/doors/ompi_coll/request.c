/* SPDX-License-Identifier: Apache-2.0
 * A request is pending in the queue of its communicator, or, for a persistent barrier, in a queue of its own:
 * MPI-4.0, 6.13 lets each rank start such requests in another order. It keeps the communicator alive, also after
 * MPI_Comm_free. */
#include "request.h"

#include "missing/call_site.h"

#include <opal/runtime/opal_progress.h>
#include <opal/threads/threads.h>

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct tollbar_request {
    ompi_request_t super;
    struct tollbar_pending pending;
    tollbar_module* module;
    struct tollbar_queue own; /* of a persistent one, else without a participant */
    struct tollbar_pml_state messages;
    struct tollbar_request* next_unused;
};

typedef struct tollbar_request tollbar_request;

static tollbar_request* unused; /* to use again; under the lock */

static struct tollbar_queue* queue_of(tollbar_request* request) {
    return request->own.participant != NULL ? &request->own : &request->module->queue;
}

/* Another thread may find the request complete, and free it at once. */
static void complete(struct tollbar_pending* pending) {
    tollbar_request* request = (tollbar_request*)((char*)pending - offsetof(tollbar_request, pending));
    request->super.req_status.MPI_ERROR = tollbar_result(
        request->own.participant != NULL ? &request->messages : &request->module->messages, pending->failed);
    ompi_request_complete(&request->super, true);
}

void tollbar_requests_finish(tollbar_module* module) {
    if (tollbar_queue_is_pending(&module->queue)) tollbar_queue_finish(&module->queue, NULL);
}

/* The user's handle is gone. */
static int free_request(ompi_request_t** handle) {
    tollbar_request* request = (tollbar_request*)*handle;
    if (!REQUEST_COMPLETE(&request->super)) return MPI_ERR_REQUEST;
    struct ompi_communicator_t* comm = request->super.req_mpi_object.comm;
    OMPI_REQUEST_FINI(&request->super);
    tollbar_mpi_leave(request->own.participant);
    request->own.participant = NULL;
    tollbar_take_lock();
    request->next_unused = unused;
    unused = request;
    tollbar_release_lock();
    *handle = MPI_REQUEST_NULL;
    OBJ_RELEASE(comm);
    return OMPI_SUCCESS;
}

/* Whether it is one of ours, and not over yet. */
static bool is_pending(const ompi_request_t* handle) {
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
    request->pending = (struct tollbar_pending){.end = complete};
    request->own = (struct tollbar_queue){0};
}

OBJ_CLASS_INSTANCE(tollbar_request, ompi_request_t, construct, NULL);

static tollbar_request* new_request(tollbar_module* module, bool persistent) {
    tollbar_take_lock();
    tollbar_request* request = unused;
    if (request != NULL) unused = request->next_unused;
    tollbar_release_lock();
    if (request == NULL) request = OBJ_NEW(tollbar_request);
    if (request == NULL) return NULL;
    OMPI_REQUEST_INIT(&request->super, persistent);
    request->super.req_start = NULL;
    request->super.req_mpi_object.comm = module->comm;
    OBJ_RETAIN(module->comm);
    request->module = module;
    return request;
}

static uint64_t arrive(const tollbar_module* module, struct tollbar_queue* queue) {
    return tollbar_mpi_arrive(queue->participant, module->queue.timeout_s > 0 ? tollbar_mpi_call_site() : NULL);
}

/* Arrives where nobody else uses the participant, as nothing is pending. Gives the episode's number; 0 where it has not
 * arrived, because something is. Nonzero `over` when there is no more to wait for. */
static uint64_t arrive_alone(tollbar_module* module, struct tollbar_queue* queue, int* over) {
    *over = 0;
    ++*(module->stage == TOLLBAR_MET || queue->joining != NULL ? &module->requests : &module->by_messages);
    if (tollbar_queue_is_pending(queue) || queue->joining != NULL) return 0;
    const uint64_t episode = arrive(module, queue);
    *over = tollbar_mpi_test(queue->participant, episode) && !tollbar_mpi_failed(queue->participant, episode);
    return episode;
}

/* Puts an active request into its queue; `episode` is 0 when it has not arrived yet. It arrives now, or once the ranks
 * have met; where they could not, it is over, and failed. */
static void enlist(tollbar_request* request, uint64_t episode) {
    struct tollbar_queue* queue = queue_of(request);
    request->super.req_state = OMPI_REQUEST_ACTIVE;
    tollbar_take_lock();
    if (episode == 0 && queue->participant != NULL) episode = arrive(request->module, queue);
    request->pending.episode = episode;
    request->pending.failed = episode == 0 && queue->joining == NULL ? EIO : 0;
    tollbar_pending_put_on(&request->pending, queue);
    tollbar_release_lock();
}

/* For requests of ranks that have not met. */
static int go_by_messages(tollbar_module* module) {
    const struct tollbar_p2p p2p = tollbar_pml_p2p(&module->messages, module->comm);
    struct tollbar_mpi_options options = module->options;
    char name[sizeof module->comm->c_name + 48];
    snprintf(name, sizeof name, "%s, MPI_Ibarrier before the first MPI_Barrier", module->comm->c_name);
    options.name = name;
    return tollbar_mpi_join_by_messages(&p2p, &options, &module->queue.participant);
}

static void joined(struct tollbar_queue* queue, int failed) {
    tollbar_module* module = (tollbar_module*)((char*)queue - offsetof(tollbar_module, queue));
    module->meets_in_barriers = failed == EAGAIN;
    module->stage = failed == 0 ? TOLLBAR_MET : module->meets_in_barriers ? TOLLBAR_FRESH : TOLLBAR_DECLINED;
    if (failed != 0 && failed != EIO) go_by_messages(module);
}

/* The first request of a communicator: its ranks meet in it, which is a barrier, or it has them go by messages. Returns
 * 0 or an errno value. */
static int begin(tollbar_module* module) {
    if (module->stage == TOLLBAR_FRESH && !module->meets_in_barriers) {
        const struct tollbar_p2p p2p = tollbar_pml_p2p(&module->messages, module->comm);
        module->options.barriers_before = 1;
        module->options.call_site = NULL;
        module->queue.joined = joined;
        const int failed = tollbar_mpi_begin_to_join(&p2p, &module->options, &module->queue.joining);
        if (failed != ENOTSUP) return failed;
        module->meets_in_barriers = true;
    }
    return go_by_messages(module);
}

int tollbar_request_start_one(tollbar_module* module, ompi_request_t** handle) {
    int over;
    const struct tollbar_queue* queue = &module->queue;
    const bool begins = !tollbar_queue_is_pending(queue) && queue->participant == NULL && queue->joining == NULL;
    if (begins && begin(module) != 0) return OMPI_ERR_OUT_OF_RESOURCE;
    const uint64_t episode = arrive_alone(module, &module->queue, &over);
    if (over) {
        *handle = &ompi_request_empty;
        return OMPI_SUCCESS;
    }
    tollbar_request* request = new_request(module, false);
    if (request == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
    enlist(request, episode);
    if (begins) tollbar_pending_advance(); /* the others learn of it without further calls of ours */
    *handle = &request->super;
    return OMPI_SUCCESS;
}

/* MPI_Start. */
static int start(size_t count, ompi_request_t** handles) {
    for (size_t i = 0; i < count; ++i) {
        tollbar_request* request = (tollbar_request*)handles[i];
        int over;
        request->super.req_status = ompi_status_empty;
        const uint64_t episode = arrive_alone(request->module, queue_of(request), &over);
        if (over) { /* complete since its last time, and still so */
            request->super.req_state = OMPI_REQUEST_ACTIVE;
            continue;
        }
        request->super.req_complete = REQUEST_PENDING;
        enlist(request, episode);
    }
    return OMPI_SUCCESS;
}

/* Collective. Words of its own, by which every rank arrives without waiting for anybody; messages would be mixed up
 * with those of other handles. Returns as tollbar_mpi_join(), and ENOTSUP, on every rank, where there are none. */
static int join_again(tollbar_request* request) {
    tollbar_module* module = request->module;
    const struct tollbar_p2p p2p = tollbar_pml_p2p(&request->messages, module->comm);
    struct tollbar_mpi_options options = module->options;
    char name[sizeof module->comm->c_name + 16];
    snprintf(name, sizeof name, "%s, persistent", module->comm->c_name);
    options.name = name;
    options.plan = tollbar_mpi_plan(module->queue.participant);
    options.barriers_before = 0;
    options.call_site = NULL;
    request->own = (struct tollbar_queue){.timeout_s = module->queue.timeout_s};
    const int failed = tollbar_mpi_join(&p2p, &options, &request->own.participant);
    if (failed) request->own.participant = NULL;
    if (failed || tollbar_mpi_needs_no_calls(request->own.participant)) return failed;
    tollbar_mpi_leave(request->own.participant);
    request->own.participant = NULL;
    return ENOTSUP;
}

int tollbar_request_persistent(tollbar_module* module, ompi_request_t** handle, int* ours) {
    *ours = 1;
    if (!tollbar_mpi_needs_no_calls(module->queue.participant)) return *ours = 0;
    tollbar_request* request = new_request(module, true);
    if (request == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
    const int failed = join_again(request);
    const int result = tollbar_result(&request->messages, failed == EIO);
    request->super.req_start = start;
    *handle = &request->super;
    if (!failed) return OMPI_SUCCESS;
    *ours = failed == EIO;
    free_request(handle);
    return result;
}

/* Another component's handle and its free function; such handles are used again with the one they were made with. */
struct kept {
    ompi_request_t* request;
    ompi_request_free_fn_t free;
    struct kept* next;
};

static struct kept* all_kept; /* under the lock */

static struct kept* take_kept(const ompi_request_t* request) {
    tollbar_take_lock();
    struct kept** at = &all_kept;
    while ((*at)->request != request) at = &(*at)->next;
    struct kept* const found = *at;
    *at = found->next;
    tollbar_release_lock();
    return found;
}

static int free_kept(ompi_request_t** handle);

static void put_kept(struct kept* one) {
    one->request->req_free = free_kept;
    tollbar_take_lock();
    one->next = all_kept;
    all_kept = one;
    tollbar_release_lock();
}

static int free_kept(ompi_request_t** handle) {
    struct kept* const own = take_kept(*handle);
    struct ompi_communicator_t* comm = own->request->req_mpi_object.comm;
    own->request->req_free = own->free;
    const int refused = own->free(handle);
    if (refused == OMPI_SUCCESS) {
        OBJ_RELEASE(comm);
        free(own);
    } else {
        put_kept(own);
    }
    return refused;
}

void tollbar_request_keep(struct ompi_communicator_t* comm, ompi_request_t* request) {
    struct kept* const own = malloc(sizeof *own);
    if (own == NULL) return; /* then the communicator has to outlive the handle, as without tollbar */
    *own = (struct kept){.request = request, .free = request->req_free};
    request->req_mpi_object.comm = comm;
    OBJ_RETAIN(comm);
    put_kept(own);
}

static void watch(void) { opal_progress_register(tollbar_pending_advance); }

static void stop_watching(void) { opal_progress_unregister(tollbar_pending_advance); }

/* Two of Open MPI's request functions, which it keeps in a table to be replaced. Requests that are not ours, and
 * MPI_THREAD_MULTIPLE, go straight on to what was there. */
static ompi_request_fns_t before;

static void finish(ompi_request_t* handle) {
    tollbar_request* request = (tollbar_request*)handle;
    if (is_pending(handle) && !queue_of(request)->held) tollbar_queue_finish(queue_of(request), &request->pending);
}

static int wait_one(ompi_request_t** handle, ompi_status_public_t* status) {
    if (OPAL_UNLIKELY(is_pending(*handle)) && !opal_using_threads()) finish(*handle);
    return before.req_wait(handle, status);
}

/* Another pending request needs more of Open MPI's progress than a wait in here gives. */
static int wait_all(size_t count, ompi_request_t** handles, ompi_status_public_t* statuses) {
    bool only_ours = !opal_using_threads();
    for (size_t i = 0; i < count && only_ours; ++i) only_ours = REQUEST_COMPLETE(handles[i]) || is_pending(handles[i]);
    for (size_t i = 0; i < count && only_ours; ++i) finish(handles[i]);
    return before.req_wait_all(count, handles, statuses);
}

void tollbar_requests_open(void) {
    if (before.req_wait != NULL) return;
    before = ompi_request_functions;
    ompi_request_functions.req_wait = wait_one;
    ompi_request_functions.req_wait_all = wait_all;
    tollbar_pending_watch(watch, stop_watching);
}

void tollbar_requests_close(void) {
    if (ompi_request_functions.req_wait == wait_one) ompi_request_functions.req_wait = before.req_wait;
    if (ompi_request_functions.req_wait_all == wait_all) ompi_request_functions.req_wait_all = before.req_wait_all;
    while (unused != NULL) {
        tollbar_request* request = unused;
        unused = request->next_unused;
        OBJ_RELEASE(request);
    }
}
