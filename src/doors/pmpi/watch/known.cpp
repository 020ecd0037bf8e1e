// SPDX-License-Identifier: Apache-2.0
// The communicators of this process, by identities that are the same on all their ranks without a message: that of its
// parent, the number of the call that made it and its ranks. A communicator that no call of calls.txt has made gets one
// at its first use: its ranks, and how many such ones of the same ranks this process has used before.
#include "watched.h"

#include "account.hpp"
#include "operations.h"
#include "told.hpp"
#include "watch.hpp"

#include "base/environment.h"
#include "base/fnv.hpp"
#include "communicator/call_site.hpp"
#include "transports/mpi/host_mpi.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <sstream>
#include <unistd.h>
#include <utility>
#include <vector>

__thread struct tollbar_here tollbar_here;
uint64_t tollbar_forgotten = 1;
int tollbar_watches;
int tollbar_accounts;

using namespace tollbar::detail::watch;

namespace {

using tollbar::detail::fnv1a;

struct Known : tollbar_known {
    std::vector<int> world_ranks;
};

/// Never destroyed: threads may be in calls until the process ends.
struct State {
    std::mutex mutex;
    Place place;
    bool is_wanted = false;
    int keyval = MPI_KEYVAL_INVALID;
    MPI_Comm accounts = MPI_COMM_NULL;  ///< of all ranks, to gather their accounts; none where these are not wanted
    unsigned seats = 0;
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
std::vector<int> world_ranks_of(MPI_Comm comm, int (*group_of)(MPI_Comm, MPI_Group*)) {
    MPI_Group group, world;
    int ranks = 0;
    if (group_of(comm, &group) != MPI_SUCCESS) return {};
    PMPI_Group_size(group, &ranks);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    std::vector<int> own(static_cast<std::size_t>(ranks)), there(own.size());
    std::iota(own.begin(), own.end(), 0);
    PMPI_Group_translate_ranks(group, ranks, own.data(), world, there.data());
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return std::ranges::find(there, MPI_UNDEFINED) == there.end() ? there : std::vector<int>{};
}

using Name = std::array<char, sizeof tollbar_comm::name>;

Name name_of(MPI_Comm comm) {
    std::array<char, MPI_MAX_OBJECT_NAME> text{};
    int length = 0;
    PMPI_Comm_get_name(comm, text.data(), &length);
    Name name{};
    std::copy_n(text.begin(), std::min(std::strlen(text.data()), name.size() - 1), name.begin());
    return name;
}

/// The communicator goes, and its handle may be another one's soon.
int forget(MPI_Comm comm, int, void*, void*) {
    State& self = state();
    const std::lock_guard lock(self.mutex);
    const auto found = self.all.find(comm);
    if (found == self.all.end()) return MPI_SUCCESS;
    if (found->second->shared != nullptr)
        __atomic_store_n(&found->second->shared->id, std::uint64_t{0}, __ATOMIC_RELEASE);  // pairs as in add()
    self.all.erase(found);
    // Relaxed: a thread that gets the handle anew gets it after this in the MPI's own order.
    __atomic_fetch_add(&tollbar_forgotten, 1, __ATOMIC_RELAXED);
    return MPI_SUCCESS;
}

/// `parent` is 0 for one that no call was seen to make. It has no identity where there is no room, or where it has
/// ranks of another job. The mutex is not held while the MPI is called, which may hold a lock of its own around
/// forget().
const tollbar_known* add(MPI_Comm comm, std::uint64_t parent, std::uint64_t number) {
    State& self = state();
    int between = 0;
    if (PMPI_Comm_test_inter(comm, &between) != MPI_SUCCESS) return nullptr;
    auto made = std::make_unique<Known>();
    made->comm = comm;
    made->world_ranks = world_ranks_of(comm, between != 0 ? PMPI_Comm_remote_group : PMPI_Comm_group);
    std::uint64_t ranks = made->world_ranks.size(), hash = hash_of(made->world_ranks);
    if (between != 0) {
        const std::vector<int> own = world_ranks_of(comm, PMPI_Comm_group);
        ranks += own.size();
        hash += hash_of(own);  // the same on both sides
    }
    made->between_groups = between;
    made->peers = static_cast<int>(made->world_ranks.size());
    made->in_world = made->world_ranks.data();
    const Name name = name_of(comm);
    std::unique_lock lock(self.mutex);
    if (const auto found = self.all.find(comm); found != self.all.end()) return found->second.get();  // by a thread
    Known* const known = (self.all[comm] = std::move(made)).get();
    const std::span comms(self.place.row->comms);
    const auto free = std::ranges::find(comms, 0U, &tollbar_comm::id);
    if (free != comms.end() && known->peers != 0) {
        known->shared = &*free;
        known->index = static_cast<unsigned>(free - comms.begin()) + 1;
        if (parent == 0) number = ++self.used_before[hash];
        tollbar_put(&free->count, 0);
        tollbar_put(&free->size, ranks);
        std::ranges::copy(name, free->name);
        const std::uint64_t id = comm == MPI_COMM_WORLD ? 1 : mixed({parent, number, hash});
        __atomic_store_n(&free->id, id, __ATOMIC_RELEASE);  // pairs with the acquire in look.cpp
    }
    lock.unlock();
    if (comm == MPI_COMM_WORLD || PMPI_Comm_set_attr(comm, self.keyval, known) == MPI_SUCCESS) return known;
    forget(comm, 0, nullptr, nullptr);  // nobody would tell of its end
    return nullptr;
}

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* copied) {
    *copied = 0;
    return MPI_SUCCESS;
}

}  // namespace

tollbar_seat* tollbar_find_seat() {
    struct tollbar_here& here = ::tollbar_here;
    if (here.asked != 0) return nullptr;
    here.asked = 1;
    State& self = state();
    const std::lock_guard lock(self.mutex);
    if (self.seats < tollbar_seats) here.seat = &self.place.row->seats[self.seats++];
    return here.seat;
}

const tollbar_known* tollbar_find_known(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return nullptr;
    struct tollbar_here& here = ::tollbar_here;
    const std::uint64_t forgotten = __atomic_load_n(&tollbar_forgotten, __ATOMIC_RELAXED);
    if (here.forgotten != forgotten)
        for (auto& entry : here.comms) entry = {};
    here.forgotten = forgotten;
    State& self = state();
    const tollbar_known* known = nullptr;
    {
        const std::lock_guard lock(self.mutex);
        if (const auto found = self.all.find(comm); found != self.all.end()) known = found->second.get();
    }
    if (known == nullptr) known = add(comm, 0, 0);
    if (known != nullptr && known->shared == nullptr) known = nullptr;
    here.comms[tollbar_entry_of(comm)] = {comm, known};
    return known;
}

uint64_t tollbar_find_bytes(MPI_Datatype type) {
    int bytes = 0, integers, addresses, types, combiner = MPI_COMBINER_DUP;
    if (PMPI_Type_size(type, &bytes) != MPI_SUCCESS || bytes < 0) bytes = 0;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner == MPI_COMBINER_NAMED) ::tollbar_here.type = {type, static_cast<std::uint64_t>(bytes), 1};
    return static_cast<std::uint64_t>(bytes);
}

uint16_t tollbar_find_operation(MPI_Op op) {
#ifdef OPEN_MPI  // its objects are looked up at run time, as those of open_mpi_data.h are
#    define TOLLBAR_OBJECT(name, object) static_cast<MPI_Op>(dlsym(RTLD_DEFAULT, "ompi_mpi_op_" #    object)),
#else
#    define TOLLBAR_OBJECT(name, object) MPI_##name,
#endif
    const MPI_Op named[] = {TOLLBAR_EACH_OPERATION(TOLLBAR_OBJECT)};
    const auto found = std::ranges::find(named, op);
    const auto number = static_cast<std::uint16_t>(found == std::end(named) ? 0 : found - std::begin(named) + 1);
    if (number != 0) ::tollbar_here.op = {op, number, 1};  // the handle of a program's own may become another's
    return number;
}

void tollbar_before_init() {
    State& self = state();
    self.is_wanted = (tollbar_timeout() > 0 || is_accounted()) && tollbar_find_fit() != 0;
    if (self.place.row == nullptr && self.is_wanted) self.place = take_place();
}

void tollbar_after_init() {
    State& self = state();
    if (!std::exchange(self.is_wanted, false)) return;  // a Fortran name may have called the C name
    if (self.place.row != nullptr) take_name_away();
    MPI_Comm parent = MPI_COMM_NULL;
    int ranks = 1, rank = 0, unwatched = self.place.row == nullptr;
    char job[200];
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_get_parent(&parent);
    // The rows of a spawned job whose launcher gives it no name would be taken for those of the job that spawned it.
    const bool is_alone = ranks < 2 || (parent != MPI_COMM_NULL && tollbar_name_of_job(job, sizeof job) == 0);
    // All ranks give their accounts, or none does.
    if (!is_alone && is_accounted()) {
        const int here = unwatched;
        PMPI_Allreduce(&here, &unwatched, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (unwatched == 0) PMPI_Comm_dup(MPI_COMM_WORLD, &self.accounts);
    }
    if (is_alone || self.place.row == nullptr ||
        PMPI_Comm_create_keyval(copy_nothing, forget, &self.keyval, nullptr) != MPI_SUCCESS) {
        self.place = {};
        return;
    }
    self.place.row->rank = rank;
    tollbar_find_known(MPI_COMM_WORLD);
    begin(self.place, tollbar_timeout());
    if (self.accounts != MPI_COMM_NULL) begin_account();
    __atomic_store_n(&tollbar_accounts, self.accounts != MPI_COMM_NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&tollbar_watches, 1, __ATOMIC_RELAXED);
}

void tollbar_stayed(const tollbar_known* known, std::uint64_t number, std::uint64_t entered_ns, std::uint64_t left_ns) {
    add_stay(*state().place.file, *known->shared, number, entered_ns, left_ns);
}

void tollbar_before_finalize() {
    State& self = state();
    if (self.accounts == MPI_COMM_NULL) return;
    __atomic_store_n(&tollbar_accounts, 0, __ATOMIC_RELAXED);
    int ranks = 1;
    PMPI_Comm_size(self.accounts, &ranks);
    const std::size_t most = std::clamp<std::size_t>(16384 / static_cast<std::size_t>(ranks), 16, 1024);
    const auto site = [](std::uint64_t address) { return tollbar::detail::mpi::call_site_in(getpid(), address); };
    const std::string own = account(self.place.row->rank, most, site);
    const int bytes = static_cast<int>(own.size());
    const bool gathers = self.place.row->rank == 0;
    std::vector<int> sizes(gathers ? static_cast<std::size_t>(ranks) : 0), begins(sizes.size());
    PMPI_Gather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, self.accounts);
    std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), 0);
    std::string all(gathers ? static_cast<std::size_t>(begins.back() + sizes.back()) : 0, '\0');
    PMPI_Gatherv(own.data(), bytes, MPI_BYTE, all.data(), sizes.data(), begins.data(), MPI_BYTE, 0, self.accounts);
    std::istringstream lines(all);
    for (std::string line; std::getline(lines, line);) tell(line, "account");
    // All go on together: MPICH over UCX may wait in MPI_Finalize for ever for a rank that is far ahead there.
    int together = 0;
    PMPI_Allreduce(MPI_IN_PLACE, &together, 1, MPI_INT, MPI_MAX, self.accounts);
    PMPI_Comm_free(&self.accounts);
}

void tollbar_after_finalize() {
    __atomic_store_n(&tollbar_watches, 0, __ATOMIC_RELAXED);
    end(state().place);
}

void tollbar_created(MPI_Comm comm, const tollbar_known* parent, std::uint64_t number) {
    if (comm == MPI_COMM_NULL || parent == nullptr) return;
    add(comm, __atomic_load_n(&parent->shared->id, __ATOMIC_RELAXED), number);
}

void tollbar_was_named(const tollbar_known* known) { std::ranges::copy(name_of(known->comm), known->shared->name); }

extern "C" [[gnu::visibility("default")]] int tollbar_mpi_is_watched(void) { return state().place.row != nullptr; }
