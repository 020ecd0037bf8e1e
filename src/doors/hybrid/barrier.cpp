// SPDX-License-Identifier: Apache-2.0
// The C functions of mpi.h: who may go outside, what all ranks agree on before the first episode, one call each.
#include "crew.hpp"
#include "node_crowding.hpp"

#include "doors/c/error.hpp"
#include "doors/mpi/spelling.hpp"
#include "transports/mpi/pmpi_carrier.h"

#include <tollbar/environment.hpp>
#include <tollbar/mpi.h>
#include <tollbar/tollbar.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

using namespace tollbar;
using namespace tollbar::hybrid;
using c_door::fail;
using c_door::guarded;

namespace {

/// A failure that has its errno value already.
struct Refusal {
    int error;
    std::string line;
};

void demand(int code, const char* what) {
    if (code != MPI_SUCCESS) throw Refusal{EIO, std::string("the MPI refused ") + what};
}

/// A communicator that is freed, collectively.
class Communicator {
public:
    explicit Communicator(MPI_Comm of) { demand(PMPI_Comm_dup(of, &comm_), "to duplicate the communicator"); }
    ~Communicator() {
        int finalized = 0;
        PMPI_Finalized(&finalized);
        if (finalized == 0) PMPI_Comm_free(&comm_);
    }
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    operator MPI_Comm() const noexcept { return comm_; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

int rank_in(MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

int ranks_of(MPI_Comm comm) {
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

std::string name_of_communicator(MPI_Comm comm) {
    std::array<char, MPI_MAX_OBJECT_NAME> name{};
    int length = 0;
    PMPI_Comm_get_name(comm, name.data(), &length);
    return length == 0 ? "a communicator" : std::string(name.data(), static_cast<std::size_t>(length));
}

bool is_main_thread() {
    int main = 0;
    PMPI_Is_thread_main(&main);
    return main != 0;
}

/// Refuses what keeps this rank from talking to the others; gives the thread level.
int level_that_lets_talk(MPI_Comm comm) {
    int running = 0;
    int over = 0;
    PMPI_Initialized(&running);
    PMPI_Finalized(&over);
    if (running == 0 || over != 0) throw Refusal{EINVAL, "MPI is not running: call between MPI_Init and MPI_Finalize"};
    int level = MPI_THREAD_SINGLE;
    demand(PMPI_Query_thread(&level), "to tell the thread level");
    if (level == MPI_THREAD_FUNNELED && !is_main_thread())
        throw Refusal{EPERM, "with MPI_THREAD_FUNNELED the main thread makes the barrier"};
    if (comm == MPI_COMM_NULL) throw Refusal{EINVAL, "the communicator is MPI_COMM_NULL"};
    int inter = 0;
    demand(PMPI_Comm_test_inter(comm, &inter), "the communicator");
    if (inter != 0) throw Refusal{EINVAL, "an intercommunicator has no combined barrier; merge it first"};
    return level;
}

std::string spelled_or(const char* spelling, const char* otherwise) {
    return spelling == nullptr || *spelling == '\0' ? otherwise : spelling;
}

std::unique_ptr<Crew> make_crew(unsigned threads, const char* inner, int level) {
    if (threads == 0 || threads > max_ranks)
        throw std::invalid_argument("a rank has 1 to " + std::to_string(max_ranks) + " threads, not " +
                                    std::to_string(threads));
    if (threads > 1 && level == MPI_THREAD_SINGLE)
        throw Refusal{ENOTSUP, std::to_string(threads) +
                                   " threads need MPI_Init_thread with MPI_THREAD_FUNNELED or more; this program has "
                                   "MPI_THREAD_SINGLE"};
    return std::make_unique<Crew>(spelled_or(inner, "turnstile"), threads,
                                  level == MPI_THREAD_FUNNELED ? Messenger::first_thread : Messenger::last_to_arrive);
}

void check_outer(const char* outer, Rank ranks) {
    if (outer == nullptr || *outer == '\0') return;
    if (const std::string fault = mpi::fault_of_spelling(outer, ranks, ranks); !fault.empty())
        throw std::invalid_argument(fault);
}

/// Collective: throws on every rank what the lowest rank with a refusal has to say.
void agree_on(const Refusal& mine, MPI_Comm comm) {
    struct {
        int fine;
        int rank;
    } here{mine.error == 0 ? 1 : 0, rank_in(comm)}, lowest{};
    demand(PMPI_Allreduce(&here, &lowest, 1, MPI_2INT, MPI_MINLOC, comm), "an allreduce");
    if (lowest.fine != 0) return;
    std::array<char, 400> line{};
    c_door::write_text(mine.line, line.data(), line.size());
    int error = mine.error;
    demand(PMPI_Bcast(&error, 1, MPI_INT, lowest.rank, comm), "a broadcast");
    demand(PMPI_Bcast(line.data(), static_cast<int>(line.size()), MPI_CHAR, lowest.rank, comm), "a broadcast");
    throw Refusal{error, "rank " + std::to_string(lowest.rank) + ": " + line.data()};
}

/// What went wrong in `action`; error 0 when nothing did.
template <class Action>
Refusal refusal_of(Action action) {
    try {
        action();
        return {0, ""};
    } catch (const Refusal& refusal) {
        return refusal;
    } catch (...) {
        const int error = c_door::fail_with_current_exception();
        return {error, tollbar_last_error()};
    }
}

MPI_Comm node_of(MPI_Comm comm) {
    MPI_Comm node = MPI_COMM_NULL;
    demand(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "to tell the nodes apart");
    return node;
}

}  // namespace

struct tollbar_mpi_barrier {
    tollbar_mpi_barrier(MPI_Comm parent, unsigned threads, const tollbar_mpi_barrier_options& options, int thread_level)
        : comm(parent), level(thread_level) {
        const Refusal refusal = refusal_of([&] {
            crew = make_crew(threads, options.inner, level);
            check_outer(options.outer, static_cast<Rank>(ranks_of(comm)));
        });
        agree_on(refusal, comm);
        inner = spelled_or(options.inner, "turnstile");
        name = name_of_communicator(parent);
        join(options.outer);
        if (threads > 1) tollbar_mpi_set_manners(participant, TOLLBAR_MANNERS_POLITE);
        node.emplace(node_of(comm));
        // A lonely thread has nobody to make room for that the ranks do not know of; it takes part for the others.
        crew->open(Outside(carrier, participant, [this] { node->go_on(*crew, participant); }),
                   name + ", rank " + std::to_string(carrier.rank), timeout_from_environment());
    }

    ~tollbar_mpi_barrier() {
        node.reset();
        tollbar_mpi_leave(participant);
        tollbar_pmpi_carrier_close(&carrier);
    }

    tollbar_mpi_barrier(const tollbar_mpi_barrier&) = delete;
    tollbar_mpi_barrier& operator=(const tollbar_mpi_barrier&) = delete;

    void join(const char* outer) {
        demand(tollbar_pmpi_carrier_open(comm, &carrier), "the communicator");
        tollbar_mpi_options wished{};
        wished.plan = outer;
        wished.name = name.c_str();
        wished.budget_ms = -1;
        wished.timeout_s = -1;
        const int error = tollbar_mpi_join(&carrier, &wished, &participant);
        if (error == 0) return;
        tollbar_pmpi_carrier_close(&carrier);
        throw Refusal{error, "the ranks could not set up their barrier"};
    }

    Communicator comm;
    int level;
    std::string inner;
    std::string name;
    std::unique_ptr<Crew> crew;
    tollbar_carrier carrier{};
    tollbar_mpi_participant* participant = nullptr;
    std::optional<NodeCrowding> node;
};

namespace {

/// As guarded(), for actions that may also throw a Refusal.
template <class Action>
int refusable(Action action) noexcept {
    return guarded([&] {
        try {
            action();
            return 0;
        } catch (const Refusal& refusal) {
            return fail(refusal.error, refusal.line);
        }
    });
}

int no_such_thread(const tollbar_mpi_barrier* barrier, unsigned thread) {
    return guarded([&] {
        if (barrier == nullptr) return fail(EINVAL, "barrier is NULL");
        return fail(EINVAL, "this rank has threads 0.." + std::to_string(barrier->crew->threads() - 1) +
                                ", no thread " + std::to_string(thread));
    });
}

bool has(const tollbar_mpi_barrier* barrier, unsigned thread) noexcept {
    return barrier != nullptr && thread < barrier->crew->threads();
}

/// A thread's first episode: it says where it runs.
int sit_down(tollbar_mpi_barrier& barrier, Member& member, unsigned thread) {
    return refusable([&] {
        if (thread == 0 && barrier.level == MPI_THREAD_FUNNELED && !is_main_thread())
            throw Refusal{EPERM, "with MPI_THREAD_FUNNELED thread 0 is the main thread, the one that called MPI_Init"};
        member.sit_down();
    });
}

int enter(tollbar_mpi_barrier* barrier, unsigned thread, const void* call_site) noexcept {
    if (!has(barrier, thread)) return no_such_thread(barrier, thread);
    Member& member = barrier->crew->member(thread);
    if (member.inside()) return fail(EINVAL, "arrive twice in one episode: wait or test until it is over");
    if (!member.sits())
        if (const int error = sit_down(*barrier, member, thread); error != 0) return error;
    member.enter(call_site);
    return 0;
}

}  // namespace

int tollbar_mpi_barrier_create(MPI_Comm comm, unsigned threads, const tollbar_mpi_barrier_options* options,
                               tollbar_mpi_barrier** barrier) {
    if (barrier == nullptr) return fail(EINVAL, "barrier is NULL");
    return refusable([&] {
        const int level = level_that_lets_talk(comm);
        *barrier = new tollbar_mpi_barrier(comm, threads, options == nullptr ? tollbar_mpi_barrier_options{} : *options,
                                           level);
    });
}

void tollbar_mpi_barrier_destroy(tollbar_mpi_barrier* barrier) { delete barrier; }

int tollbar_mpi_barrier_arrive_and_wait(tollbar_mpi_barrier* barrier, unsigned thread) {
    const int error = enter(barrier, thread, __builtin_return_address(0));
    if (error == 0) barrier->crew->member(thread).finish();
    return error;
}

int tollbar_mpi_barrier_arrive(tollbar_mpi_barrier* barrier, unsigned thread) {
    return enter(barrier, thread, __builtin_return_address(0));
}

int tollbar_mpi_barrier_test(tollbar_mpi_barrier* barrier, unsigned thread) {
    if (!has(barrier, thread)) return no_such_thread(barrier, thread);
    Member& member = barrier->crew->member(thread);
    if (member.episode() == 0) return fail(EINVAL, "test without arrive");
    return member.advance() ? 0 : EAGAIN;
}

int tollbar_mpi_barrier_wait(tollbar_mpi_barrier* barrier, unsigned thread) {
    if (!has(barrier, thread)) return no_such_thread(barrier, thread);
    Member& member = barrier->crew->member(thread);
    if (member.episode() == 0) return fail(EINVAL, "wait without arrive");
    member.finish();
    return 0;
}

const char* tollbar_mpi_barrier_inner(const tollbar_mpi_barrier* barrier) {
    return barrier == nullptr ? nullptr : barrier->inner.c_str();
}

const char* tollbar_mpi_barrier_outer(const tollbar_mpi_barrier* barrier) {
    return barrier == nullptr ? nullptr : tollbar_mpi_plan(barrier->participant);
}

tollbar_mpi_messenger tollbar_mpi_barrier_messenger(const tollbar_mpi_barrier* barrier) {
    const bool first = barrier == nullptr || barrier->crew->messenger() == Messenger::first_thread;
    return first ? TOLLBAR_MPI_FIRST_THREAD : TOLLBAR_MPI_LAST_TO_ARRIVE;
}

const char* tollbar_mpi_last_error(void) { return tollbar_last_error(); }
