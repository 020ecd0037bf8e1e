// SPDX-License-Identifier: Apache-2.0
// Threads come and go, their records stay.
#include "member.hpp"

#include "base/thread_id.hpp"

#include <algorithm>
#include <mutex>
#include <pthread.h>
#include <unistd.h>

namespace tollbar::detail::openmp {

constinit thread_local ThreadRecord* innermost __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

std::atomic<ThreadRecord*> every_first{nullptr};
std::array<std::atomic<NativeTeam*>, 4096> teams;  // none has number 0

/// The calling thread's first record, until the thread ends; a region after that takes another.
struct Holder {
    ~Holder() {
        innermost = nullptr;
        if (first == nullptr) return;
        first->is_taken.store(false, std::memory_order_release);  // pairs with take()
        first = nullptr;
    }

    ThreadRecord* first = nullptr;
};

thread_local Holder holder;

std::unique_ptr<NativeTeam> make_team() {
    static std::atomic<std::uint64_t> newest{0};
    auto team = std::make_unique<NativeTeam>();
    const std::uint64_t number = newest.fetch_add(1, std::memory_order_relaxed) + 1;
    if (number >= teams.size()) return team;
    teams[number].store(team.get(), std::memory_order_relaxed);  // seen by its threads, which the runtime starts later
    team->number = number;
    return team;
}

std::uint64_t default_threads(const Runtime& runtime) noexcept {
    auto* const most = runtime.real<"omp_get_max_threads", int()>();
    return most == nullptr ? 0 : static_cast<std::uint64_t>(std::max(most(), 0));
}

void note_thread(ThreadRecord& first) noexcept {
    for (ThreadRecord* one = &first; one != nullptr; one = one->inner.load(std::memory_order_relaxed))
        one->thread.store(thread_id(), std::memory_order_relaxed);
}

/// In the child the caller is alone: nobody else of its teams will come, as nobody does to the runtime's barriers.
void leave_teams() noexcept {
    for (ThreadRecord* first = first_of_all(); first != nullptr; first = first->next_thread) {
        for (ThreadRecord* one = first; one != nullptr; one = one->inner.load(std::memory_order_relaxed)) {
            one->team.store(one->lent = nullptr, std::memory_order_relaxed);
            one->watched.team.store(nullptr, std::memory_order_relaxed);
            if (one->own != nullptr) one->own->note_rest();
        }
    }
    if (holder.first != nullptr) note_thread(*holder.first);
}

[[maybe_unused]] const int prepared = pthread_atfork(nullptr, nullptr, leave_teams);

ThreadRecord& take() {
    for (ThreadRecord* one = first_of_all(); one != nullptr; one = one->next_thread) {
        bool taken = false;
        if (one->is_taken.compare_exchange_strong(taken, true, std::memory_order_acquire)) return *one;
    }
    auto* const made = new ThreadRecord;
    made->next_thread = every_first.load(std::memory_order_relaxed);
    while (!every_first.compare_exchange_weak(made->next_thread, made, std::memory_order_release)) {
    }
    return *made;
}

}  // namespace

ThreadRecord* first_of_all() noexcept { return every_first.load(std::memory_order_acquire); }

ThreadRecord& make_inner(ThreadRecord& outer) {
    auto* const inner = new ThreadRecord;
    inner->outer = &outer;
    inner->thread.store(outer.thread.load(std::memory_order_relaxed), std::memory_order_relaxed);
    outer.inner.store(inner, std::memory_order_release);  // pairs with those who name the missing
    return *inner;
}

ThreadRecord& take_first() {
    ThreadRecord& first = take();
    note_thread(first);
    holder.first = innermost = &first;
    return first;
}

NativeTeam& team_numbered(std::uint64_t number) noexcept { return *teams[number].load(std::memory_order_relaxed); }

NativeTeam& lend(const Site& home, int threads) {
    own_member();
    while (innermost->lends) enter(*innermost, nowhere, Entered::between);
    innermost->lends = true;
    if (innermost->own == nullptr) innermost->own = make_team();
    NativeTeam& team = *innermost->own;
    team.reset();
    const std::uint64_t expected = threads > 0         ? static_cast<std::uint64_t>(threads)
                                   : team.threads != 0 ? team.threads
                                                       : default_threads(*home.runtime);
    if (team.leaves_for != expected) {
        team.leaves_for = expected;
        team.meet_at(expected < fewest_for_leaves ? nullptr : tollbar::detail::leaves_for(expected));
    }
    if (!(team.home == home)) team.home = home;
    return team;
}

}  // namespace tollbar::detail::openmp
