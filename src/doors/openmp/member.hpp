// SPDX-License-Identifier: Apache-2.0
// The record of a thread in a parallel region: which team it is in, of which runtime, and how many of the region's
// barriers it has passed.
#pragma once

#include "runtime.hpp"
#include "team.hpp"

#include "missing/reporting.hpp"

#include <tollbar/detail/waiting.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <sys/types.h>

namespace tollbar::detail::openmp {

/// A team, and what its master says of the region that it lends it to. The master writes only what has changed, so that
/// a thread that enters the same region again reads what its cache has.
struct NativeTeam : RegionTeam<NativeSync> {
    std::atomic<void*> copied{nullptr};   ///< by `single copyprivate`
    std::atomic<std::uint64_t> ended{0};  ///< how many regions it has been lent to that are over
    alignas(line_bytes) Site home;        ///< the object whose code the region is
    std::array<const void*, 8> bodies{};  ///< regions that were opened with it
    std::uint64_t number = 0;             ///< by which team_numbered() finds it; 0: too many have been made
    std::uint64_t threads = 0;            ///< of the latest region that has met, as its master knows
    std::uint64_t leaves_for = 0;         ///< threads: the leaves are for so many, where these have some

    static constexpr std::uint64_t most_bodies = std::tuple_size_v<decltype(bodies)>;

    /// That of a body in `bodies`, where it may take the place of another.
    std::uint64_t number_of(const void* body) noexcept {
        const std::uint64_t found = reinterpret_cast<std::uintptr_t>(body) * 0x9e37'79b9'7f4a'7c15 >> 61;
        if (bodies[found] != body) bodies[found] = body;
        return found;
    }
};

/// The team of that number, which exists.
NativeTeam& team_numbered(std::uint64_t number) noexcept;

/// Notes about where a thread of a region waits, also in the runtime's barriers; kept where TOLLBAR_TIMEOUT is set.
struct Watched {
    std::atomic<const NativeTeam*> team{nullptr};
    std::atomic<std::uint64_t> region{0};      ///< `ended` of the team while this region lasts
    std::atomic<int> threads{0};               ///< of the team
    std::atomic<std::uint64_t> notes{0};       ///< arrivals of this region at what waits in the runtime
    std::atomic<std::int64_t> waits_since{0};  ///< nanoseconds of the steady clock; 0: it does not wait
};

/// The region that a record is for: one whose threads run its body; one of one thread, between two calls of libomp's
/// code; one whose body the master calls by itself; none, in place of the one around it, whose team is not back yet.
enum class Entered : std::uint8_t { with_threads, alone, by_its_master, between };

/// One for each region that a thread is in, the innermost last; the first is for outside of all. The records of a
/// thread are kept, and taken over by another thread after its end, so that any thread may read any record at any time.
struct alignas(line_bytes) ThreadRecord {
    std::atomic<NativeTeam*> team{nullptr};   ///< none: the runtime's own barriers are called
    std::atomic<std::uint64_t> barriers{0};   ///< at which it has met the team in this region
    std::atomic<const void*> place{nullptr};  ///< of the last of them
    std::atomic<const void*> body{nullptr};   ///< the region's code, where the missing are named
    std::atomic<pid_t> thread{0};
    std::atomic<int> number{0};  ///< of the thread in the team
    Watched watched;             ///< for those who name the missing

    NativeTeam* lent = nullptr;  ///< for the region, from whose first barrier or loop on it is `team`; then none
    std::uint64_t threads = 0;
    Leaves<NativeSync>* leaves = nullptr;  ///< where its team meets; none: at the word
    const Site* home = &nowhere;           ///< the object whose code the region is
    Site guest;                            ///< another object whose code has called from there
    Entered as = Entered::with_threads;
    int asked = 0;       ///< how many threads its next region is to have; 0: nobody has said
    bool lends = false;  ///< its own team is lent to the threads of a region

    ThreadRecord* outer = nullptr;
    std::atomic<ThreadRecord*> inner{nullptr};  ///< for the next region inside
    std::unique_ptr<NativeTeam> own;            ///< for the region that the thread opens from here
    BasicWaitBudget<Backoff> budget{0, 0};      ///< as manner_of_unranked() said for `budget_for` threads; zeros: ask
    std::uint64_t budget_for = 0;

    ThreadRecord* next_thread = nullptr;  ///< of a thread's first record: that of another thread
    std::atomic<bool> is_taken{true};     ///< of a thread's first record
};

/// The calling thread's innermost record; none before its first region.
extern constinit thread_local ThreadRecord* innermost __attribute__((tls_model("initial-exec")));

/// Makes the calling thread's first record.
ThreadRecord& take_first();

/// Makes the record for regions inside.
ThreadRecord& make_inner(ThreadRecord& outer);

/// The calling thread's innermost record, its first if it had none.
inline ThreadRecord& own_member() { return innermost != nullptr ? *innermost : take_first(); }

/// Takes its place in the team that was lent, in the region that it is in.
void join(ThreadRecord& self) noexcept;

/// The next record inside, which is its thread's innermost from now on, for code of `home`, which stays until leave().
inline ThreadRecord& enter(ThreadRecord& outer, const Site& home, Entered as = Entered::with_threads) {
    ThreadRecord* const known = outer.inner.load(std::memory_order_relaxed);
    ThreadRecord& inner = known != nullptr ? *known : make_inner(outer);
    inner.team.store(nullptr, std::memory_order_relaxed);  // its last thread may have ended inside
    if (own_timeout()) inner.watched.team.store(nullptr, std::memory_order_relaxed);
    inner.home = &home;
    inner.lent = nullptr;
    inner.as = as;
    innermost = &inner;
    return inner;
}

/// The same, with a team as soon as the thread needs it. Whoever is late at the first barrier has to have a name.
inline ThreadRecord& enter(ThreadRecord& outer, NativeTeam& lent, const void* body,
                           Entered as = Entered::with_threads) {
    ThreadRecord& inner = enter(outer, lent.home, as);
    inner.lent = &lent;
    inner.body.store(body, std::memory_order_relaxed);
    if (own_timeout()) join(inner);
    return inner;
}

/// Makes the record around it the innermost.
inline void leave(ThreadRecord& inner) noexcept {
    inner.team.store(nullptr, std::memory_order_relaxed);
    inner.lent = nullptr;
    innermost = inner.outer;
}

/// Lends a team that is as new to the threads of a region, code of `home`, whose master is innermost then. Its own team
/// may not be back yet: a task at the end of a region opens another while threads still leave the last barrier.
/// `threads` is how many are asked for; 0: as many as before, or as the runtime has by default. It may give fewer.
NativeTeam& lend(const Site& home, int threads);

/// After the region, for all its threads: what they have noted in it is out of date.
inline void end_loan() noexcept {
    std::atomic<std::uint64_t>& ended = innermost->own->ended;  // pairs with Waiting; nobody else writes it
    ended.store(ended.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    innermost->lends = false;
    if (innermost->as == Entered::between) leave(*innermost);
}

/// The first records of all threads, the others by `next_thread`.
ThreadRecord* first_of_all() noexcept;

/// A region around what a scope calls: one of code of `home` whose barriers are the runtime's own, or one to which its
/// master has lent a team.
class EnteredRegion {
public:
    EnteredRegion(ThreadRecord& outer, const Site& home) : inner_(enter(outer, home)) {}
    EnteredRegion(NativeTeam& lent, const void* body) : inner_(enter(own_member(), lent, body)) {}
    ~EnteredRegion() { leave(inner_); }
    EnteredRegion(const EnteredRegion&) = delete;
    EnteredRegion& operator=(const EnteredRegion&) = delete;

    ThreadRecord& inner() const noexcept { return inner_; }

private:
    ThreadRecord& inner_;
};

}  // namespace tollbar::detail::openmp
