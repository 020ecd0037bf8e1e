/* SPDX-License-Identifier: Apache-2.0
 * All handles of the process, and the messages that end their barriers. */
#include "persistent.h"

#include "joining.h"

#include <pthread.h>
#include <stdlib.h>

struct handle {
    struct tollbar_request request; /* first; pending in the row of `own` while the barrier is under way */
    struct tollbar_joined own;
    struct tollbar_joined* by; /* whose messages it was set up by; NULL while nobody uses the handle */
    int tag;
    int usable; /* by the user, who has the request */
    int freed;  /* by the user; waits to be given back */
    struct handle* next;
};

/* A handle of the MPI's own. */
struct passed {
    MPI_Request handle;
    const struct tollbar_joined* by;
    struct passed* next;
};

_Atomic uint32_t tollbar_handles;

/* Under the lock of communicator/pending.h. */
static struct handle* handles;
static struct passed* passed;
static int tags;
static uint64_t starts;
static int post_is_open;
static MPI_Comm post; /* this process alone, for the messages that end barriers */

/* Unlike MPI_Comm_dup it calls no copy function of the user's. */
static int open_post(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    MPI_Group group;
    int refused = MPI_SUCCESS;
    pthread_mutex_lock(&mutex);
    if (!post_is_open) {
        PMPI_Comm_group(MPI_COMM_SELF, &group);
        refused = PMPI_Comm_create(MPI_COMM_SELF, group, &post);
        PMPI_Group_free(&group);
        post_is_open = refused == MPI_SUCCESS;
        if (post_is_open) PMPI_Comm_set_errhandler(post, MPI_ERRORS_RETURN);
    }
    pthread_mutex_unlock(&mutex);
    return refused;
}

/* The end of its barrier. The receive is posted, so that no MPI keeps the message waiting. */
static void send_end(struct tollbar_pending* pending) {
    MPI_Request sent;
    const struct handle* handle = (const struct handle*)pending;
    if (PMPI_Isend(NULL, 0, MPI_BYTE, 0, handle->tag, post, &sent) == MPI_SUCCESS) PMPI_Request_free(&sent);
}

/* An unused one, or a new one with a tag of its own. */
static struct handle* take(struct tollbar_joined* by) {
    tollbar_take_lock();
    struct handle* one = handles;
    while (one != NULL && one->by != NULL) one = one->next;
    if (one == NULL && (one = calloc(1, sizeof *one)) != NULL) {
        one->request.pending.end = send_end;
        one->tag = tags++;
        one->next = handles;
        handles = one;
    }
    if (one != NULL) {
        one->by = by;
        atomic_fetch_add_explicit(&by->handles, 1, memory_order_relaxed);
    }
    tollbar_release_lock();
    return one;
}

/* What belongs to it goes; nobody uses it, or finds it. */
static void give_back(struct handle* one) {
    struct tollbar_joined* by = one->by;
    tollbar_leave(&one->own);
    tollbar_take_lock();
    one->by = NULL;
    one->usable = one->freed = 0;
    tollbar_release_lock();
    /* Release: what was done with the messages is before whoever finds that no handles are left. */
    atomic_fetch_sub_explicit(&by->handles, 1, memory_order_release);
}

/* Called here and there, and not where a barrier ends, which may be inside the MPI's progress. */
static void give_back_freed(void) {
    for (;;) {
        tollbar_take_lock();
        struct handle* one = handles;
        while (one != NULL && !(one->freed && one->request.pending.row == NULL)) one = one->next;
        if (one != NULL) one->freed = 0;
        tollbar_release_lock();
        if (one == NULL) break;
        give_back(one);
    }
}

int tollbar_persistent_init(MPI_Comm comm, struct tollbar_joined* joined, MPI_Request* request, int* code) {
    give_back_freed();
    struct handle* one = take(joined);
    *code = MPI_ERR_NO_MEM;
    if (one == NULL) return 1;
    const int refused = tollbar_join_again(comm, joined, &one->own);
    if (refused != MPI_SUCCESS) {
        give_back(one);
        *code = refused;
        return 1;
    }
    const int possible = one->own.row.participant != NULL && one->own.persists;
    *code = possible ? open_post() : MPI_SUCCESS;
    if (possible && *code == MPI_SUCCESS)
        *code = PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, one->tag, post, &one->request.handle);
    if (!possible || *code != MPI_SUCCESS) {
        give_back(one);
        return possible;
    }
    tollbar_take_lock();
    one->usable = 1;
    tollbar_release_lock();
    atomic_fetch_add_explicit(&tollbar_handles, 1, memory_order_relaxed);
    *request = one->request.handle;
    return 1;
}

/* Under the lock. */
static struct handle* find(MPI_Request request) {
    struct handle* one = handles;
    while (one != NULL && !(one->usable && one->request.handle == request)) one = one->next;
    return one;
}

void tollbar_persistent_pass(const struct tollbar_joined* joined, MPI_Request request) {
    struct passed* one = malloc(sizeof *one);
    if (one == NULL) return;
    tollbar_take_lock();
    *one = (struct passed){.handle = request, .by = joined, .next = passed};
    passed = one;
    tollbar_release_lock();
    atomic_fetch_add_explicit(&tollbar_handles, 1, memory_order_relaxed);
}

/* Under the lock: the place of one of that communicator's, or of that handle's. */
static struct passed** place_of(const struct tollbar_joined* joined, MPI_Request request) {
    struct passed** place = &passed;
    while (*place != NULL && (*place)->by != joined && (*place)->handle != request) place = &(*place)->next;
    return place;
}

/* Under the lock; there may be none. */
static void forget(struct passed** place) {
    struct passed* one = *place;
    if (one == NULL) return;
    *place = one->next;
    free(one);
    atomic_fetch_sub_explicit(&tollbar_handles, 1, memory_order_relaxed);
}

/* Under the lock, because the user may free one meanwhile. One that was not started counts as over. */
static int forget_if_over(struct passed** place) {
    int over = 1;
    if (*place != NULL) PMPI_Request_get_status((*place)->handle, &over, MPI_STATUS_IGNORE);
    if (over) forget(place);
    return over;
}

void tollbar_persistent_finish_passed(const struct tollbar_joined* joined) {
    int64_t since_ns = 0;
    for (int left = 1; left;) {
        tollbar_take_lock();
        const int over = forget_if_over(place_of(joined, MPI_REQUEST_NULL));
        left = *place_of(joined, MPI_REQUEST_NULL) != NULL;
        tollbar_release_lock();
        if (!over) tollbar_mpi_pass_time(&since_ns);
    }
}

int tollbar_persistent_under_way(MPI_Request request) {
    tollbar_take_lock();
    const struct handle* handle = find(request);
    const int under_way = handle != NULL && handle->request.pending.row != NULL;
    tollbar_release_lock();
    return under_way;
}

void tollbar_persistent_start(MPI_Request request, const void* call_site) {
    int over = 0;
    tollbar_take_lock();
    struct handle* handle = find(request);
    if (handle != NULL && handle->request.pending.row == NULL) {
        tollbar_request_begin(&handle->request, &handle->own, call_site);
        ++starts;
        over = tollbar_pending_is_over(&handle->request.pending);
        if (over) tollbar_pending_take_off(&handle->request.pending);
    }
    tollbar_release_lock();
    if (over) send_end(&handle->request.pending);
}

void tollbar_persistent_free(MPI_Request request) {
    tollbar_take_lock();
    struct handle* one = find(request);
    forget(place_of(NULL, request));
    if (one != NULL) {
        one->usable = 0;
        one->freed = 1;
        one->request.handle = MPI_REQUEST_NULL; /* the MPI may give the handle to another one */
        atomic_fetch_sub_explicit(&tollbar_handles, 1, memory_order_relaxed);
    }
    tollbar_release_lock();
    if (one != NULL) give_back_freed();
}

uint64_t tollbar_persistent_count(void) { return starts; }

void tollbar_persistent_finish(void) {
    while (handles != NULL) {
        struct handle* one = handles;
        handles = one->next;
        tollbar_leave(&one->own);
        if (one->usable && one->request.pending.row != NULL) PMPI_Cancel(&one->request.handle);
        if (one->usable) PMPI_Request_free(&one->request.handle);
        free(one);
    }
    while (passed != NULL) forget(&passed);
    atomic_store_explicit(&tollbar_handles, 0, memory_order_relaxed);
    if (post_is_open) PMPI_Comm_free(&post);
    post_is_open = 0;
}
