/* SPDX-License-Identifier: Apache-2.0
 * The faults of schedules.c, whose functions they use: a rank dies, or a communicator is revoked. */
#ifdef MPIX_ERR_PROC_FAILED
/* Enters as one that will not be over. */
static int enter(struct request* request, struct toll* toll) {
    int code = MPI_SUCCESS, over = 0;
    if (request == NULL) return MPI_Barrier(toll->comm);
    code = request->persists ? MPI_Start(&request->handle) : MPI_Ibarrier(toll->comm, &request->handle);
    if (code == MPI_SUCCESS && own_of(2)) return MPI_Wait(&request->handle, MPI_STATUS_IGNORE);
    while (code == MPI_SUCCESS && !over) code = MPI_Test(&request->handle, &over, MPI_STATUS_IGNORE);
    return code;
}

/* The chosen requests may end in either way from now on. */
static void is_hit(unsigned chosen) {
    for (int i = 0; i < most_requests; ++i) requests[i].either |= chosen >> i & 1;
}

/* One that is revoked, or has lost a rank. */
static MPI_Comm left_of(struct communicator* one) {
    MPI_Comm left = MPI_COMM_NULL;
    toll_expect(MPIX_Comm_shrink(one->toll.comm, &left) == MPI_SUCCESS);
    if (one->toll.comm != MPI_COMM_WORLD) toll_expect(MPI_Comm_free(&one->toll.comm) == MPI_SUCCESS);
    return left;
}

static void end_all(void);

static void bury(int dead) {
    struct communicator* all = &communicators[everybody];
    const int place = place_in(all, dead);
    for (int at = 0; at < most_communicators; ++at)
        if (communicators[at].live && place_in(&communicators[at], dead) >= 0) is_hit(requests_of(at));
    end_all();
    --all->size;
    memmove(&all->order[place], &all->order[place + 1], sizeof(int) * (size_t)(all->size - place));
    founds(everybody, left_of(all), 0);
}

static void recover(int at) {
    struct communicator* one = &communicators[at];
    is_hit(requests_of(at));
    free_requests(requests_of(at));
    founds(at, is_in(one) ? left_of(one) : MPI_COMM_NULL, 0);
}

/* While the others are in a barrier one rank dies, or revokes the communicator. Returns whether one is dead. */
static int fault(int kill) {
    const int at = any_communicator(), pending = any_of(2), how = any_of(3), has_room = free_request() < most_requests;
    struct communicator* one = &communicators[at];
    struct request* request = NULL;
    int place = any_of(one->size);
    if (one->order[place] == 0) place = (place + 1) % one->size; /* rank 0 says what has come of it */
    if (one->size < 2) return 0;
    if (!pending) finish(~0U);
    if (how != 0 && has_room) request = &requests[free_request()];
    if (request != NULL && how == 1) new_request(at, 0);
    if (request != NULL && how == 2) persist(at);
    add_to(done, kill ? " K%d/%d" : " R%d/%d", at, place);
    is_used(one);
    if (is_in(one)) {
        struct toll* toll = request != NULL && request->persists ? &request->toll : &one->toll;
        if (toll->rank == place) {
            pay_last(toll);
            usleep((useconds_t)own_of(3000));
            if (kill) raise(SIGKILL);
            toll_expect(MPIX_Comm_revoke(toll->comm) == MPI_SUCCESS);
        } else {
            pay(toll, -1);
        }
        const int code = enter(request, toll);
        if (request == NULL)
            add_to(came, " %d", class_of(code));
        else /* the MPI's own here, which ends now and then with MPI_ERR_OTHER; with an error in any case */
            add_to(came, " %s", code == MPI_SUCCESS ? "success" : "error");
    }
    if (request != NULL) request->live = request->persists;
    if (kill)
        bury(one->order[place]);
    else
        recover(at);
    return kill;
}
#else
static int fault(int kill) { return kill; }
#endif
