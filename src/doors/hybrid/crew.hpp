// SPDX-License-Identifier: Apache-2.0
// The threads of one rank in a combined barrier: how far each of them has come, and how they wait.
#pragma once

#include "inside.hpp"
#include "outside.hpp"

#include "transports/threads/segment.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::hybrid {

class Crew;

/// One thread of one rank; used by one thread of the system at a time.
class alignas(line_bytes) Member {
public:
    Member(Crew& crew, Rank thread);

    enum class Stage : std::uint8_t { idle, gathering, outside, releasing };

    bool inside() const noexcept { return stage_ != Stage::idle; }
    Episode episode() const noexcept { return episode_; }

    /// Before the first episode, in the thread that will use it. Throws std::exception.
    void sit_down();
    bool sits() const noexcept { return sits_; }

    /// Enters the next episode. Only when not inside; never blocks.
    /// Memory order: release of what this thread did before.
    void enter(const void* call_site) noexcept;

    /// Enters the next episode and waits for its end. Memory order: as enter(), then as advance().
    void enter_and_finish(const void* call_site) noexcept;

    /// Goes on as far as possible without blocking; true when the episode is over.
    /// Memory order: what any thread of any rank did before it entered this episode is visible once this is true.
    bool advance() noexcept;

    /// Waits for the rest of the episode. Memory order: as advance().
    void finish() noexcept;

    /// Whether the episode that is over for this thread has failed: the ranks have not been through it.
    bool failed() const noexcept;

private:
    /// Has the runner do the steps from `first` up to, but without, `last`.
    void run(std::uint32_t first, std::uint32_t last) noexcept;
    void meet() noexcept;
    void gather() noexcept;
    void go_outside() noexcept;
    void come_back() noexcept;
    void release() noexcept;
    void finish_run() noexcept;

    Crew& crew_;
    std::vector<WiredStep<NativeSync>> steps_;
    Runner<NativeSync> runner_;
    std::atomic<Episode>* arrived_ = nullptr;
    const void* call_site_ = nullptr;
    Episode episode_ = 0;
    Rank thread_;
    Stage stage_ = Stage::idle;
    bool sits_ = false;
    bool goes_outside_ = false;
};

/// All threads of one rank. Made by one of them.
class Crew {
public:
    /// Throws std::invalid_argument for what is wrong with the spelling, std::system_error when there is no memory.
    Crew(std::string_view spelling, Rank threads, Messenger may_go);

    /// Before the first episode. `name` is what reports call the barrier; without `timeout` there are none.
    void open(Outside outside, std::string name, std::optional<std::chrono::duration<double>> timeout);

    Rank threads() const noexcept { return segment_.ranks(); }
    Messenger messenger() const noexcept { return inside_.messenger; }
    Member& member(Rank thread) noexcept { return *members_[thread]; }

    /// Where the threads said they may run; complete once all of them sit.
    std::vector<Standing> standings() const;

    /// What is known of all threads of all ranks of this node.
    void tell(Crowding crowding) noexcept { crowding_.store(crowding, std::memory_order_relaxed); }

private:
    friend Member;

    void report(Rank waiting, Episode episode, std::chrono::duration<double> waited) const noexcept;

    Inside inside_;
    Segment segment_;
    std::atomic<Crowding> crowding_{Crowding::unknown};
    std::atomic<Episode> fails_from_{0};  ///< the first episode that the ranks were not through; 0: none
    std::vector<std::unique_ptr<Member>> members_;
    std::optional<Outside> outside_;
    std::string name_;
    std::optional<std::chrono::duration<double>> timeout_;
};

}  // namespace tollbar::hybrid
