// SPDX-License-Identifier: Apache-2.0
// The record of a thread in a parallel region: which team it is in, of which runtime, and how many of the region's
// barriers it has passed.
#pragma once

#include "runtime.hpp"
#include "team.hpp"

#include <tollbar/detail/waiting.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <sys/types.h>

namespace tollbar::detail::openmp {

/// A team, and where `single copyprivate` leaves its address.
struct NativeTeam : Team<NativeSync> {
    std::atomic<void*> copied{nullptr};
    std::atomic<std::uint64_t> ended{0};  ///< how many regions it has been lent to that are over
};

/// Notes about where a thread of a region waits, also in the runtime's barriers; kept where TOLLBAR_TIMEOUT is set.
struct Watched {
    std::atomic<const NativeTeam*> team{nullptr};
    std::atomic<std::uint64_t> region{0};      ///< `ended` of the team while this region lasts
    std::atomic<int> number{0};                ///< of the thread in the team
    std::atomic<int> threads{0};               ///< of the team
    std::atomic<std::int64_t> waits_since{0};  ///< nanoseconds of the steady clock; 0: it does not wait
};

/// One for each region that a thread is in, the innermost last; the first is for outside of all. The records of a
/// thread are kept, and taken over by another thread after its end, so that any thread may read any record at any time.
struct alignas(line_bytes) Member {
    std::atomic<NativeTeam*> team{nullptr};   ///< none: the runtime's own barriers are called
    std::atomic<std::uint64_t> barriers{0};   ///< at which it has arrived in this region
    std::atomic<const void*> place{nullptr};  ///< of the last of them
    std::atomic<const void*> body{nullptr};   ///< the region's code
    std::atomic<pid_t> thread{0};
    Watched watched;  ///< for those who name the missing

    std::uint64_t threads = 0;
    Site home;                   ///< the object whose code the region is
    Site guest;                  ///< another object whose code has called from there
    bool is_serialized = false;  ///< a region of one thread, between two calls of libomp's code
    void* begun = nullptr;       ///< of a region whose body the master calls by itself

    Member* outer = nullptr;
    std::atomic<Member*> inner{nullptr};    ///< for the next region inside
    std::unique_ptr<NativeTeam> own;        ///< for the region that the thread opens from here
    BasicWaitBudget<Backoff> budget{0, 0};  ///< as manner_of_unranked() said for `budget_for` threads; zeros: ask
    std::uint64_t budget_for = 0;

    Member* next_thread = nullptr;     ///< of a thread's first record: that of another thread
    std::atomic<bool> is_taken{true};  ///< of a thread's first record
};

/// The calling thread's innermost record; none before its first region.
extern constinit thread_local Member* innermost __attribute__((tls_model("initial-exec")));

/// The calling thread's innermost record, its first if it had none.
Member& own_member();

/// The next record inside, which is its thread's innermost from now on, without a team.
Member& enter(Member& outer);

/// Makes the record around it the innermost.
void leave(Member& inner) noexcept;

/// A team that is as new, which the master lends to the threads of its next region.
NativeTeam* lend(Member& master);

/// The first records of all threads, the others by `next_thread`.
Member* first_of_all() noexcept;

/// A region of code of `home`, without a team at first, around what a scope calls.
class Visit {
public:
    Visit(Member& outer, const Site& home) : inner_(enter(outer)) { inner_.home = home; }
    ~Visit() { leave(inner_); }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

    Member& inner() const noexcept { return inner_; }

private:
    Member& inner_;
};

}  // namespace tollbar::detail::openmp
