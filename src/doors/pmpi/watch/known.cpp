// SPDX-License-Identifier: Apache-2.0
// The communicators of this process, by identities that are the same on all their ranks without a message: that of its
// parent, the number of the call that made it and its ranks. A call without a number makes one of its ranks and of how
// many communicators came so before; so does the first use of one that no call of calls.txt has made.
#include "watched.h"

#include "account.hpp"
#include "gathered.hpp"
#include "missing/operations.h"
#include "threads.hpp"
#include "missing/sealed.hpp"
#include "watch.hpp"

#include "base/environment.h"
#include "base/fnv.hpp"
#include "base/say.h"
#include "doors/pmpi/everybody.h"
#include "doors/pmpi/wanted.h"
#include "transports/mpi/host_mpi.h"

#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

// Open MPI's handles are addresses of its objects, which are looked up at run time, as those of open_mpi_data.h are.
#ifdef OPEN_MPI
#    define TOLLBAR_HANDLE(type, name, object) static_cast<type>(dlsym(RTLD_DEFAULT, "ompi_" object))
#else
#    define TOLLBAR_HANDLE(type, name, object) name
#endif

uint64_t tollbar_age;
uint64_t tollbar_no_request;
tollbar_pending tollbar_requests[1 << tollbar_pending_bits];

using namespace tollbar::detail::watch;

namespace {

using tollbar::detail::fnv1a;

struct Known : tollbar_known {
    std::vector<int> world_ranks;
    bool is_begun = false;  ///< by a call that returns at once: the MPI is not asked about it before its first use
};

/// Never destroyed: threads may be in calls until the process ends.
struct State {
    std::mutex mutex;
    OwnRow place;
    bool is_wanted = false;
    int keyval = MPI_KEYVAL_INVALID;
    std::uint64_t freed = 0;  ///< communicators so far
    std::map<MPI_Comm, std::unique_ptr<Known>> all;
    std::map<std::uint64_t, std::uint64_t> used_before;
};

State& state() {
    static auto* const only = new State;
    return *only;
}

std::uint64_t hash_of(std::span<const int> ranks) { return fnv1a(std::as_bytes(ranks)); }

std::uint64_t mixed(std::initializer_list<std::uint64_t> numbers) {
    const std::uint64_t hash = fnv1a(std::as_bytes(std::span(numbers.begin(), numbers.size())));
    return hash == 0 ? 1 : hash;
}

/// In MPI_COMM_WORLD; empty where one is of another job.
std::vector<int> world_ranks_of(MPI_Comm comm, bool remote = false) {
    MPI_Group group, world;
    int ranks = 0;
    // Calls by name: an address would be looked up where this library is loaded, before a program that opens its MPI
    // later has one.
    if ((remote ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group)) != MPI_SUCCESS) return {};
    PMPI_Group_size(group, &ranks);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    std::vector<int> own(static_cast<std::size_t>(ranks)), there(own.size());
    std::iota(own.begin(), own.end(), 0);
    PMPI_Group_translate_ranks(group, ranks, own.data(), world, there.data());
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return std::ranges::find(there, MPI_UNDEFINED) == there.end() ? there : std::vector<int>{};
}

/// The communicator goes, and its handle may be another one's soon.
int forget(MPI_Comm comm, int, void*, void*) {
    State& self = state();
    const std::lock_guard lock(self.mutex);
    const auto found = self.all.find(comm);
    if (found == self.all.end()) return MPI_SUCCESS;
    if (found->second->shared != nullptr) tollbar_put(&found->second->shared->freed, ++self.freed);
    self.all.erase(found);
    // Relaxed: a thread that gets the handle anew gets it after this in the MPI's own order.
    __atomic_fetch_add(&tollbar_age, 1, __ATOMIC_RELAXED);
    return MPI_SUCCESS;
}

/// The place of one that nobody had, or was freed long ago; nullptr where all are in use.
tollbar_comm* room_in(tollbar_row& row) {
    constexpr std::ptrdiff_t stay = 16;  // looks copy those that have been freed as well
    const auto is_freed = [](const tollbar_comm& one) { return one.freed != 0; };
    const auto order = [](const tollbar_comm& one) { return one.freed != 0 ? one.freed : ~std::uint64_t{0}; };
    const auto first = std::ranges::min_element(row.comms, {}, order);
    const auto unused = std::ranges::find(row.comms, 0U, &tollbar_comm::id);
    if (unused != std::end(row.comms) && std::ranges::count_if(row.comms, is_freed) < stay) return unused;
    return is_freed(*first) ? first : nullptr;
}

/// When it has been made; false where the MPI would not tell of its end.
bool is_followed(Known* known) {
    if (known->shared != nullptr) tollbar_was_named(known);
    return known->comm == MPI_COMM_WORLD || PMPI_Comm_set_attr(known->comm, state().keyval, known) == MPI_SUCCESS;
}

const tollbar_known* settle(Known* known) {
    if (is_followed(known)) return known;
    forget(known->comm, 0, nullptr, nullptr);
    return nullptr;
}

/// `parent` is 0 where no call with a number was seen to make it; `like` has its ranks. It has no identity where there
/// is no room, or where it has ranks of another job. The mutex is not held while the MPI is called, which may hold a
/// lock of its own around forget().
const tollbar_known* add(MPI_Comm comm, MPI_Comm like, std::uint64_t parent, std::uint64_t number) {
    State& self = state();
    int between = 0;
    if (PMPI_Comm_test_inter(like, &between) != MPI_SUCCESS) return nullptr;
    auto made = std::make_unique<Known>();
    made->comm = comm;
    made->is_begun = comm != like;
    made->world_ranks = world_ranks_of(like, between != 0);
    std::uint64_t ranks = made->world_ranks.size(), hash = hash_of(made->world_ranks);
    if (between != 0) {
        const std::vector<int> own = world_ranks_of(like);
        ranks += own.size();
        hash += hash_of(own);  // the same on both sides
    }
    made->between_groups = between;
    PMPI_Comm_rank(like, &made->rank);
    made->peers = static_cast<int>(made->world_ranks.size());
    made->in_world = made->world_ranks.data();
    std::unique_lock lock(self.mutex);
    if (const auto found = self.all.find(comm); found != self.all.end()) return found->second.get();  // by a thread
    Known* const known = (self.all[comm] = std::move(made)).get();
    tollbar_comm* const free = room_in(*self.place.row);
    if (free != nullptr && known->peers != 0) {
        known->shared = free;
        known->index = static_cast<unsigned>(free - self.place.row->comms) + 1;
        if (parent == 0) number = ++self.used_before[hash];
        __atomic_store_n(&free->id, std::uint64_t{0}, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_RELEASE);  // pairs with the acquire of a second look in look.cpp
        tollbar_put(&free->freed, 0);
        tollbar_put(&free->count, 0);
        tollbar_put(&free->size, ranks);
        std::ranges::fill(free->name, '\0');
        const std::uint64_t id = comm == MPI_COMM_WORLD ? std::uint64_t{tollbar_world} : mixed({parent, number, hash});
        __atomic_store_n(&free->id, id, __ATOMIC_RELEASE);  // pairs with the acquire in look.cpp
    }
    lock.unlock();
    return known->is_begun ? known : settle(known);
}

/// nullptr where it is not counted.
const tollbar_known* find_known(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return nullptr;
    State& self = state();
    const tollbar_known* known = nullptr;
    {
        const std::lock_guard lock(self.mutex);
        if (const auto at = self.all.find(comm); at != self.all.end()) known = at->second.get();
    }
    if (known == nullptr) known = add(comm, comm, 0, 0);
    return known == nullptr || known->shared == nullptr ? nullptr : known;
}

/// And whether the type has a name, so that its handle stays.
std::pair<std::uint64_t, bool> bytes_of(MPI_Datatype type) {
    int bytes = 0, integers, addresses, types, combiner = MPI_COMBINER_DUP;
    if (type == TOLLBAR_HANDLE(MPI_Datatype, MPI_DATATYPE_NULL, "mpi_datatype_null"))
        return {tollbar_not_compared, false};  // the call itself says what is wrong with it
    if (PMPI_Type_size(type, &bytes) != MPI_SUCCESS || bytes < 0)
        bytes = tollbar_not_compared;  // more than an int counts
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return {static_cast<std::uint64_t>(bytes), combiner == MPI_COMBINER_NAMED};
}

/// 0: the program's own.
unsigned number_of(MPI_Op op) {
#define TOLLBAR_OBJECT(name, object) TOLLBAR_HANDLE(MPI_Op, MPI_##name, "mpi_op_" #object),
    const MPI_Op named[] = {TOLLBAR_EACH_OPERATION(TOLLBAR_OBJECT)};
    const auto found = std::ranges::find(named, op);
    return static_cast<unsigned>(found == std::end(named) ? 0 : found - std::begin(named) + 1);
}

/// A communicator of whose end the MPI would not tell is forgotten by tollbar_created() when its handle is another
/// one's.
void follow_at_first_use(MPI_Comm comm) {
    Known* begun = nullptr;
    {
        State& self = state();
        const std::lock_guard lock(self.mutex);
        const auto at = self.all.find(comm);
        if (at != self.all.end() && std::exchange(at->second->is_begun, false)) begun = at->second.get();
    }
    if (begun != nullptr) is_followed(begun);
}

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* copied) {
    *copied = 0;
    return MPI_SUCCESS;
}

}  // namespace

void tollbar_find_handles(const tollbar_call* call, MPI_Comm comm, MPI_Op op) {
    struct tollbar_here& here = ::tollbar_here;
    tollbar_kept_comm& kept = *tollbar_kept_of(comm);
    if (kept.comm != comm) {
        const tollbar_known* const known = find_known(comm);
        kept = {known == nullptr ? MPI_Comm{} : comm, known};
        here.owes |= tollbar_first_use;
    }
    if (call->op != 0 && here.op.op != op) {
        const unsigned number = number_of(op);
        here.op = {number == 0 ? MPI_Op{} : op, number};
    }
}

void tollbar_settle_up(const tollbar_known* known, const tollbar_call* call, const tollbar_given* given,
                       std::uint64_t number) {
    struct tollbar_here& here = ::tollbar_here;
    const unsigned owes = std::exchange(here.owes, 0U);
    if (known == nullptr) return;
    if ((owes & tollbar_first_use) != 0) follow_at_first_use(known->comm);
    if ((owes & (tollbar_first_type | tollbar_second_type)) == 0) return;
    std::array<bool, 2> stays{true, true};
    for (std::size_t which = 0; which < stays.size(); ++which)
        if ((owes & (1U << which)) != 0)
            std::tie(here.types[which].bytes, stays[which]) = bytes_of(here.types[which].type);
    tollbar_counted bytes{};
    tollbar_put_bytes(known, call, given, &bytes);
    tollbar_put_later(known, number, &bytes);
    for (std::size_t which = 0; which < stays.size(); ++which)
        if (!stays[which]) here.types[which].type = MPI_Datatype{};
}

int tollbar_is_wanted() { return (tollbar_timeout() > 0 || is_accounted()) && tollbar_find_fit() != 0 ? 1 : 0; }

int tollbar_is_accounted() { return is_accounted() ? 1 : 0; }

void tollbar_before_init() {
    State& self = state();
    self.is_wanted = tollbar_is_wanted() != 0;
    if (self.place.row != nullptr || !self.is_wanted) return;
    self.place = take_place();
    if (self.place.row != nullptr && tollbar_comes_here("MPI_Finalize") == 0) refuse_account(self.place);
}

void tollbar_after_init() {
    State& self = state();
    int is_there = 0;
    if (!self.is_wanted) return;  // a Fortran name may have called the C name
    PMPI_Initialized(&is_there);
    if (is_there == 0) return;
    self.is_wanted = false;
    take_name_away();
    MPI_Comm parent = MPI_COMM_NULL;
    int ranks = 1, rank = 0, level = MPI_THREAD_MULTIPLE;
    char job[200];
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_get_parent(&parent);
    // The rows of a spawned job whose launcher gives it no name would be taken for those of the job that spawned it.
    const bool is_alone = ranks < 2 || (parent != MPI_COMM_NULL && tollbar_name_of_job(job, sizeof job) == 0);
    const bool accounts = !is_alone && is_accounted() && begin_to_gather(self.place);
    if (is_alone || self.place.row == nullptr) {
        self.place = {};
        return;
    }
    // Without such a key communicators but MPI_COMM_WORLD are not counted.
    PMPI_Comm_create_keyval(copy_nothing, forget, &self.keyval, nullptr);
    self.place.row->rank = rank;
    PMPI_Query_thread(&level);
    const int several = level == MPI_THREAD_MULTIPLE ? tollbar_several : 0;
    begin_seats(*self.place.row, several != 0);
    tollbar_no_request = tollbar_handle_of(TOLLBAR_HANDLE(MPI_Request, MPI_REQUEST_NULL, "request_null"));
    find_known(MPI_COMM_WORLD);
    begin(self.place, tollbar_timeout());
    if (accounts) begin_account();
    __atomic_store_n(&tollbar_besides, several | (accounts ? tollbar_accounts : 0), __ATOMIC_RELAXED);
    __atomic_store_n(&tollbar_age, 1, __ATOMIC_RELAXED);
    tollbar_begin_anew();  // the first seat is that of the thread that has begun
}

int tollbar_not_in_this_mpi(const char* name) {
    tollbar_say_once(name, "%s is not in this MPI, and the program took a hook for it: run it without --timeout", name);
    return MPI_ERR_INTERN;
}

void tollbar_count_start(const struct tollbar_pending* of) {
    State& self = state();
    const std::lock_guard lock(self.mutex);
    auto& all = self.place.row->started;
    const auto is_same = [&](const tollbar_started& one) { return one.number == of->of && one.id == of->id; };
    auto* one = std::ranges::find_if(all, is_same);
    if (one == std::end(all)) {
        one = std::ranges::find(all, 0U, &tollbar_started::number);
        if (one == std::end(all)) one = &all[of->of % tollbar_persistent];  // whose starts are known no more
        tollbar_put(&one->number, 0);
        __atomic_thread_fence(__ATOMIC_RELEASE);  // pairs with the acquire of a second look in look.cpp
        tollbar_put(&one->id, of->id);
        tollbar_put(&one->times, 0);
        __atomic_store_n(&one->number, of->of, __ATOMIC_RELEASE);  // pairs with the acquire in look.cpp
    }
    tollbar_put(&one->times, one->times + 1);
}

void tollbar_stayed(const tollbar_seat* seat) {
    const std::uint64_t left_ns = now_ns();
    const OwnRow& place = state().place;
    if (seat->number == 0) return;
    const tollbar_comm& comm = place.row->comms[tollbar_comm_of(seat->at) - 1];
    const tollbar_counted* const own = counted_at(comm, seat->number);  // none where other threads have gone far on
    if (own != nullptr && left_ns - own->entered_ns >= tollbar_long_ns)
        add_stay(*place.file, comm, seat->number, own->entered_ns, left_ns);
}

void tollbar_before_finalize() {
    __atomic_fetch_and(&tollbar_besides, ~tollbar_accounts, __ATOMIC_RELAXED);
    gather_accounts();
}

void tollbar_after_finalize() {
    if (__atomic_exchange_n(&tollbar_age, 0, __ATOMIC_RELAXED) == 0) return;

    end(state().place);
}

void tollbar_created(MPI_Comm comm, const tollbar_call* by, tollbar_entered entered) {
    if (comm == MPI_COMM_NULL) return;
    forget(comm, 0, nullptr, nullptr);  // one that was begun and never used has gone without a word
    const tollbar_known* const parent = entered.known;
    const std::uint64_t id = parent == nullptr ? 0 : tollbar_own(&parent->shared->id);
    if (by->kind != tollbar_begun)
        add(comm, comm, id, tollbar_own(&entered.seat->number));
    else if (parent != nullptr)
        add(comm, parent->comm, id, tollbar_own(&entered.seat->number));
}

void tollbar_was_named(const tollbar_known* known) {
    std::array<char, MPI_MAX_OBJECT_NAME> text{};
    int length = 0;
    PMPI_Comm_get_name(known->comm, text.data(), &length);
    std::copy_n(text.begin(), std::size(known->shared->name) - 1, known->shared->name);  // which ends in a 0
}

[[gnu::visibility("default")]] int tollbar_mpi_is_watched() { return state().place.row != nullptr; }
