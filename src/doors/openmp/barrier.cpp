// SPDX-License-Identifier: Apache-2.0
// The slow path of a barrier, and how threads become members of a region.
#include "missing.hpp"

#include <tollbar/detail/unranked.hpp>

#include <optional>
#include <utility>

namespace tollbar::detail::openmp {

namespace {

/// How the caller waits for so many threads, as Unranked does. A runtime that binds threads has bound the first one
/// before anybody else could look at the process's mask, so the runtime is asked whether all have a CPU.
BasicWaitBudget<Backoff> ask(ThreadRecord& self) noexcept {
    const auto cpus = static_cast<std::uint64_t>(self.home->runtime->real<"omp_get_num_procs", int()>()());
    const auto manner = manner_of_unranked(NativeSync{}, self.threads <= cpus ? 1 : self.threads);
    self.budget = manner.for_all ? manner.budget : BasicWaitBudget<Backoff>{0, 0};
    return manner.budget;
}

/// Has `wait(budget)` wait where that is not known from the wait before.
template <class Wait>
[[gnu::noinline]] void await_otherwise(ThreadRecord& self, Wait wait) noexcept {
    const bool is_known = self.budget.spins == 0 && self.budget.yields != 0;
    const auto budget = is_known ? self.budget : ask(self);
    std::optional<NotedWait> noted;
    if (own_timeout()) noted.emplace(self);
    wait(budget);
}

}  // namespace

void await_end(ThreadRecord& self, NativeTeam& team, std::uint64_t barrier) noexcept {
    const auto end = team.end_of(barrier, self.threads);
    if (self.budget.spins != 0 && team.spinning().has_paid() && !own_timeout()) [[likely]]
        spin_and_sleep<NativeSync>(end, self.budget.spins, &team.spinning(), true, Never{});
    else
        await_otherwise(self, [&](BasicWaitBudget<Backoff> budget) {
            budget.spinning = &team.spinning();
            wait<NativeSync>(end, budget, Never{});
        });
}

void meet_at_leaves(ThreadRecord& self) noexcept {
    Leaves<NativeSync>& leaves = *self.leaves;
    const std::uint64_t ticket = leaves.arrive(1, [] {});
    if (leaves.reached(ticket)) return;
    if (self.budget.spins != 0 && leaves.spinning(ticket).has_paid() && !own_timeout())
        spin_and_sleep<NativeSync>(AwaitedEnd<Leaves<NativeSync>>{leaves, ticket}, self.budget.spins,
                                   &leaves.spinning(ticket), true, Never{});
    else
        await_otherwise(self, [&](BasicWaitBudget<Backoff> budget) { leaves.wait(ticket, budget, Never{}); });
}

ThreadRecord* serving_elsewhere(ThreadRecord* self, const void* place, Family family) noexcept {
    if (self == nullptr || (self->lent == nullptr && self->team.load(std::memory_order_relaxed) == nullptr))
        return nullptr;
    const bool is_home = self->home->covers(place, family);
    if (!is_home && self->home->runtime->contains(place)) return nullptr;  // the runtime's own calls
    const Site site = is_home ? *self->home : site_of(place, family);
    if (!site.is_door && site.runtime != self->home->runtime) return nullptr;
    if (self->lent != nullptr) join(*self);
    if (!is_home) self->guest = site;
    return self->team.load(std::memory_order_relaxed) == nullptr ? nullptr : self;
}

const Runtime& runtime_of(const void* place, Family family) noexcept {
    const Site& home = innermost == nullptr ? nowhere : *innermost->home;
    if (home.covers(place, family)) return *home.runtime;
    const Site site = site_of(place, family);
    return site.is_door && home.runtime != nullptr ? *home.runtime : *site.runtime;
}

void join(ThreadRecord& self) noexcept {
    NativeTeam* const team = std::exchange(self.lent, nullptr);
    const Runtime& runtime = *self.home->runtime;
    self.threads = static_cast<std::uint64_t>(runtime.real<"omp_get_num_threads", int()>()());
    self.number.store(runtime.real<"omp_get_thread_num", int()>()(), std::memory_order_relaxed);
    self.guest.size = 0;
    self.barriers.store(0, std::memory_order_relaxed);
    if (self.budget_for != self.threads) self.budget = {0, 0};
    self.budget_for = self.threads;
    self.leaves = team->leaves_of(self.threads);
    if (self.number.load(std::memory_order_relaxed) == 0) team->threads = self.threads;
    if (self.threads <= 1 || !runtime.is_served()) return;
    if (own_timeout()) note_begin(self, *team);
    self.team.store(team, std::memory_order_relaxed);
}

}  // namespace tollbar::detail::openmp
