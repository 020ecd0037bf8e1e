// SPDX-License-Identifier: Apache-2.0
// The threads of one rank in a combined barrier: a plan between them, one of whose steps is the barrier of the ranks.
#pragma once

#include "communicator/participant.h"
#include "base/c_door.hpp"
#include "communicator/local_schedule.hpp"
#include "transports/words/segment.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::detail::hybrid {

/// The thread that meets the other ranks.
enum class Messenger : std::uint8_t {
    first_thread,    ///< thread 0, once it knows that all have arrived
    last_to_arrive,  ///< whoever plays the role of the plan's turning member
};

/// The plan of the threads of a rank; its last rank is no thread but all other ranks of the job.
struct TeamPlan {
    Plan plan;
    Player player;
    Messenger messenger;
};

/// Any spelling of a group's plan. At its turning member the ranks meet between gather and release; a plan that has
/// none runs to its end, then thread 0 goes outside and releases the others. If `allowed` is first_thread, thread 0
/// always goes outside.
/// Throws std::invalid_argument that says what was wrong and what is accepted.
TeamPlan team_plan(std::string_view spelling, Rank threads, Messenger allowed);

class RankThreads;

/// One thread of one rank; used by one thread of the system at a time.
class alignas(line_bytes) ThreadParticipant final : public mpi::OuterBarrier {
public:
    ThreadParticipant(RankThreads& team, Rank thread) : team_(team), thread_(thread) {}

    /// Once the ranks' barrier is there.
    void open();

    /// From enter() until advance() or finish() found the end.
    bool inside() const noexcept { return inside_; }
    Episode episode() const noexcept { return runner_.episode(); }

    /// Before the first episode, in the thread that will use it. Throws std::exception.
    void join();
    bool has_joined() const noexcept { return arrived_ != nullptr; }

    /// Enters the next episode. Only when not inside; never blocks.
    /// Memory order: release of what this thread did before.
    void enter(const void* call_site) noexcept;

    /// Enters the next episode and waits for its end. Memory order: as enter(), then as advance().
    void enter_and_finish(const void* call_site) noexcept {
        begin(call_site);
        finish();
    }

    /// Goes on as far as possible without blocking; true when the episode is over.
    /// Memory order: what any thread of any rank did before it entered this episode is visible once this is true.
    bool advance() noexcept;

    /// Waits for the rest of the episode. Memory order: as advance().
    void finish() noexcept;

    /// As finish(), until then; false when the episode is not over. Memory order: as advance().
    bool finish_until(Deadline deadline) noexcept;

    /// The threads of this rank that have not arrived in this thread's episode; once all have, and for the messenger,
    /// the ranks.
    std::vector<tollbar_missing> missing() const;

    /// 0, or the error of tollbar_mpi_failed where the episode that is over for this thread has failed, because the
    /// ranks have not been through it.
    int failed() const noexcept;

private:
    State arrive() noexcept override;
    State test() noexcept override;
    State wait_until(Deadline) noexcept override;

    void begin(const void* call_site) noexcept;
    State ended(int error) noexcept;

    RankThreads& team_;
    Rank thread_;
    std::vector<mpi::Composite::Step> steps_;
    std::optional<mpi::Messages> progress_;  ///< of the MPI, by whoever may call it while it waits inside
    Runner<mpi::Composite> runner_;
    std::atomic<Episode>* arrived_ = nullptr;
    const void* call_site_ = nullptr;
    c_door::Waited waited_;
    bool inside_ = false;
    bool timed_ = false;    ///< in finish_until()
    bool outside_ = false;  ///< until the end of the episode: this thread has arrived for its rank
    bool blocks_ = false;  ///< until the end of the episode: then it waits for the other ranks as soon as it meets them
};

/// The barrier of the ranks as the threads of one of them use it: one thread at a time, perhaps another one in each
/// episode; the plan of the threads orders one after the other. The objects behind the pointers outlive the team.
struct Ranks {
    const tollbar_p2p* p2p;
    tollbar_mpi_participant* participant;
    std::function<void()> meanwhile;  ///< called at each arrival, and never blocks
};

/// All threads of one rank. Made by one of them.
class RankThreads {
public:
    /// Throws std::invalid_argument for what is wrong with the spelling, std::system_error when there is no memory.
    RankThreads(std::string_view spelling, Rank threads, Messenger allowed);

    /// Before the first episode. `name` is what reports call the barrier; without `timeout` there are none.
    void open(Ranks ranks, std::string name, std::optional<std::chrono::duration<double>> timeout);

    Rank threads() const noexcept { return static_cast<Rank>(threads_.size()); }
    Messenger messenger() const noexcept { return plan_.messenger; }
    ThreadParticipant& thread(Rank thread) noexcept { return *threads_[thread]; }

    /// The CPUs that each thread may use; complete once all of them have joined.
    std::vector<Standing> standings() const;

    /// The occupancy of all threads of all ranks of this node, once it is known.
    void tell(Occupancy occupancy) noexcept { occupancy_.store(occupancy, std::memory_order_relaxed); }

private:
    friend ThreadParticipant;

    void report(Rank waiting, Episode episode, std::chrono::duration<double> waited) const;

    TeamPlan plan_;
    mpi::LocalSchedule schedule_;
    Segment segment_;
    std::atomic<Occupancy> occupancy_{Occupancy::unknown};
    std::vector<std::unique_ptr<ThreadParticipant>> threads_;
    Ranks ranks_{};
    std::atomic<Episode> fails_from_{0};  ///< the first episode that the ranks were not through; 0: none
    std::atomic<int> failure_{0};         ///< what was said of it
    std::string name_;
    std::optional<std::chrono::duration<double>> timeout_;
};

}  // namespace tollbar::detail::hybrid
