// SPDX-License-Identifier: Apache-2.0
// The C functions of mpi.h: each checks its caller, and calls the team of threads and the part of the rank.
#include "team.hpp"
#include "node_occupancy.hpp"
#include "setup.hpp"

#include "algorithms/defaults.hpp"
#include "communicator/spelling.hpp"
#include "base/environment.hpp"
#include "missing/members.hpp"
#include "waiting/topology.hpp"

#include <tollbar/mpi.h>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::hybrid;
using c_door::fail;
using c_door::guarded;
using c_door::refusal_of;

namespace {

/// One word serves threads that share a cache, and those that have to take turns anyway.
std::string inner_plan(const char* spelling, unsigned threads) {
    if (spelling != nullptr && *spelling != '\0') return spelling;
    const bool one_word = threads <= topology().one_word || threads > masked_cpus();
    return one_word ? std::string(defaults::on_a_node) : defaults::at_counters_of(topology().cores);
}

std::unique_ptr<RankThreads> make_team(unsigned threads, const char* inner, int level) {
    if (threads == 0 || threads > max_ranks)
        throw std::invalid_argument("a rank has 1 to " + std::to_string(max_ranks) + " threads, not " +
                                    std::to_string(threads));
    if (threads > 1 && level == MPI_THREAD_SINGLE)
        throw Refusal{ENOTSUP, std::to_string(threads) +
                                   " threads need MPI_Init_thread with MPI_THREAD_FUNNELED or more; this program has "
                                   "MPI_THREAD_SINGLE"};
    return std::make_unique<RankThreads>(
        inner_plan(inner, threads), threads,
        level == MPI_THREAD_FUNNELED ? Messenger::first_thread : Messenger::last_to_arrive);
}

void check_outer(const char* outer, Rank ranks) {
    if (outer == nullptr || *outer == '\0') return;
    Groups nodes;  // not known yet; a spelling is right for all or for none
    for (Rank rank = 0; rank < ranks; ++rank) nodes.push_back({rank});
    if (const std::string fault = mpi::fault_of_spelling(outer, nodes); !fault.empty())
        throw std::invalid_argument(fault);
}

}  // namespace

struct tollbar_mpi_barrier {
    tollbar_mpi_barrier(MPI_Comm comm, unsigned threads, const tollbar_mpi_barrier_options& options, int thread_level)
        : part(comm), level(thread_level) {
        part.agree_on(refusal_of([&] {
            c_door::demand_known(options);
            team = make_team(threads, options.inner, level);
            check_outer(options.outer, static_cast<Rank>(ranks_of(comm)));
            inner = inner_plan(options.inner, threads);
            name = name_of_communicator(comm);
        }));
        part.join(options.outer, name.c_str());
        node.emplace(part.node());
        tollbar_mpi_set_spinning(part.participant(), TOLLBAR_SPINNING_NEVER);  // until more is known
        team->open({.p2p = &part.p2p(),
                    .participant = part.participant(),
                    .meanwhile = [this] { node->go_on(*team, part.participant()); }},
                   name + ", rank " + std::to_string(rank_in(comm)), environment::timeout());
    }

    // In the order they are made in; freed in reverse.
    RankPart part;
    int level;
    std::string inner;
    std::string name;
    std::optional<NodeOccupancy> node;
    std::unique_ptr<RankThreads> team;
};

namespace {

int no_such_thread(const tollbar_mpi_barrier* barrier, unsigned thread) {
    return guarded([&] {
        if (barrier == nullptr) return fail(EINVAL, "barrier is NULL");
        return fail(EINVAL, "this rank has threads 0.." + std::to_string(barrier->team->threads() - 1) +
                                ", no thread " + std::to_string(thread));
    });
}

bool has(const tollbar_mpi_barrier* barrier, unsigned thread) noexcept {
    return barrier != nullptr && thread < barrier->team->threads();
}

/// A thread's first episode: it says where it runs.
int join(tollbar_mpi_barrier& barrier, ThreadParticipant& participant, unsigned thread) {
    return guarded([&] {
        if (thread == 0 && barrier.level == MPI_THREAD_FUNNELED && !is_main_thread())
            throw Refusal{EPERM, "with MPI_THREAD_FUNNELED thread 0 is the main thread, the one that called MPI_Init"};
        participant.join();
    });
}

/// Lets the thread in by `how`, a member of ThreadParticipant's.
int enter(tollbar_mpi_barrier* barrier, unsigned thread, const void* call_site,
          void (ThreadParticipant::*how)(const void*) noexcept) noexcept {
    if (!has(barrier, thread)) return no_such_thread(barrier, thread);
    ThreadParticipant& participant = barrier->team->thread(thread);
    if (participant.inside()) return fail(EINVAL, "arrive twice in one episode: wait or test until it is over");
    if (!participant.has_joined())
        if (const int error = join(*barrier, participant, thread); error != 0) return error;
    (participant.*how)(call_site);
    return 0;
}

int end_of_episode(const ThreadParticipant& participant) noexcept {
    const int error = participant.failed();
    if (error == EPIPE)
        return fail(EPIPE,
                    "the NIC daemon of this host is gone (restart it with `tollbar nic up`, then restart the program)");
    return error == 0 ? 0 : fail(error, "the MPI gave an error for a message between the ranks");
}

}  // namespace

int tollbar_mpi_barrier_create(MPI_Comm comm, unsigned threads, const tollbar_mpi_barrier_options* options,
                               tollbar_mpi_barrier** barrier) {
    if (barrier == nullptr) return fail(EINVAL, "barrier is NULL");
    return guarded([&] {
        const int level = level_that_lets_talk(comm);
        *barrier = new tollbar_mpi_barrier(comm, threads, c_door::given(options), level);
    });
}

int tollbar_mpi_barrier_destroy(tollbar_mpi_barrier* barrier) {
    delete barrier;
    return 0;
}

int tollbar_mpi_barrier_arrive_and_wait(tollbar_mpi_barrier* barrier, unsigned thread) {
    const int error = enter(barrier, thread, __builtin_return_address(0), &ThreadParticipant::enter_and_finish);
    return error != 0 ? error : end_of_episode(barrier->team->thread(thread));
}

int tollbar_mpi_barrier_arrive(tollbar_mpi_barrier* barrier, unsigned thread) {
    return enter(barrier, thread, __builtin_return_address(0), &ThreadParticipant::enter);
}

int tollbar_mpi_barrier_test(tollbar_mpi_barrier* barrier, unsigned thread) {
    if (!has(barrier, thread)) return no_such_thread(barrier, thread);
    ThreadParticipant& participant = barrier->team->thread(thread);
    if (participant.episode() == 0) return fail(EINVAL, "test without arrive");
    return participant.advance() ? end_of_episode(participant) : EAGAIN;
}

int tollbar_mpi_barrier_wait(tollbar_mpi_barrier* barrier, unsigned thread) {
    if (!has(barrier, thread)) return no_such_thread(barrier, thread);
    ThreadParticipant& participant = barrier->team->thread(thread);
    if (participant.episode() == 0) return fail(EINVAL, "wait without arrive");
    participant.finish();
    return end_of_episode(participant);
}

int tollbar_mpi_barrier_wait_for(tollbar_mpi_barrier* barrier, unsigned thread, int64_t nanoseconds) {
    if (!has(barrier, thread)) return no_such_thread(barrier, thread);
    ThreadParticipant& participant = barrier->team->thread(thread);
    if (participant.episode() == 0) return fail(EINVAL, "wait without arrive");
    if (participant.finish_until(deadline_after(std::chrono::nanoseconds(nanoseconds))))
        return end_of_episode(participant);
    return guarded([&] {
        return fail(ETIMEDOUT, missing::text_of(missing::members_of(participant.missing()),
                                                "time ran out; all threads of this rank have arrived, but the ranks "
                                                "have not met yet"));
    });
}

int tollbar_mpi_barrier_missing(const tollbar_mpi_barrier* barrier, unsigned thread, tollbar_missing* missing,
                                size_t capacity, size_t* count) {
    if (!has(barrier, thread)) return no_such_thread(barrier, thread);
    return c_door::write_missing(missing, capacity, count, [&] { return barrier->team->thread(thread).missing(); });
}

const char* tollbar_mpi_barrier_inner(const tollbar_mpi_barrier* barrier) {
    return barrier == nullptr ? nullptr : barrier->inner.c_str();
}

const char* tollbar_mpi_barrier_outer(const tollbar_mpi_barrier* barrier) {
    return barrier == nullptr ? nullptr : tollbar_mpi_plan(barrier->part.participant());
}

tollbar_mpi_messenger tollbar_mpi_barrier_messenger(const tollbar_mpi_barrier* barrier) {
    const bool first = barrier == nullptr || barrier->team->messenger() == Messenger::first_thread;
    return first ? TOLLBAR_MPI_FIRST_THREAD : TOLLBAR_MPI_LAST_TO_ARRIVE;
}

const char* tollbar_mpi_last_error(void) { return c_door::last_error(); }
