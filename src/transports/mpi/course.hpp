// SPDX-License-Identifier: Apache-2.0
// One rank's program in one communicator, in which each step goes by a word of the node's memory or by a message; or
// by the node's card, which runs the nodes' part of the program as a whole.
#pragma once

#include "carrier.h"
#include "node_card.hpp"

#include <tollbar/plan.hpp>
#include <tollbar/waiting.hpp>
#include <tollbar/wired.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

namespace tollbar {

/// What a rank does next, and how it gets through.
struct CourseStep {
    enum class By : std::uint8_t {
        word,
        message,
        card,
        gone_out,  ///< the message that was sent has left; courses add these themselves
    };

    By by;
    WiredStep<NativeSync> wired;         ///< by word; its deed is signal, await or add
    tollbar_channel* channel = nullptr;  ///< by message
    NodeCard* card = nullptr;            ///< by card
    bool sends = false;                  ///< by message: sends, or receives; by card: arrives, or awaits the end
};

/// How the ranks that share the node's words wait and wake; without such words, how this rank waits.
struct CourseWaiting {
    wait_policy policy = wait_policy::automatic;
    Ringing ringing{};
    const std::atomic<Crowding>* crowding = nullptr;
    std::atomic<bool>* lost = nullptr;  ///< where the node has a card: its leader says here that it is gone
};

/// Whether a rank may spin where the node's ranks have a CPU each.
enum class Manners : std::uint8_t { usual, polite };

/// Runs a program, episode after episode. One thread at a time.
///
///     course.start();
///     while (!course.advance()) compute_something();   // or course.finish(Never{})
///
/// Receives are posted when an episode starts, so that messages find them; what is under way in between is one
/// message a channel. An episode is not over before what was sent in it has left: over a connection that is still being
/// made it would stay here until this rank calls the MPI again, and who awaits it with it.
class Course {
public:
    /// `carrier` outlives the course and its channels are closed with it.
    Course(const tollbar_carrier& carrier, std::vector<CourseStep> steps, CourseWaiting waiting);
    ~Course();
    Course(const Course&) = delete;
    Course& operator=(const Course&) = delete;

    Episode episode() const noexcept { return episode_; }
    bool finished() const noexcept { return next_ == steps_.size(); }
    std::size_t steps_done() const noexcept { return next_; }

    /// Whether it goes on when the card ends the episode.
    bool awaits_card() const noexcept {
        return !finished() && steps_[next_].by == CourseStep::By::card && !steps_[next_].sends;
    }

    /// Whether no further episode ends, because the node's card is gone.
    /// Memory order: acquire; what its leader ended before it found that out has ended here.
    bool lost() const noexcept {
        return lost_ || (waiting_.lost != nullptr && waiting_.lost->load(std::memory_order_acquire));
    }

    /// From the next wait on.
    void set_manners(Manners manners) noexcept { manners_ = manners; }

    /// Enters the next episode. Only when finished().
    void start() noexcept {
        ++episode_;
        next_ = 0;
        if (receives_) post_receives();
    }

    /// Goes on as far as the awaits allow; true when the episode is over. Never blocks.
    /// Memory order: what any rank wrote before it started this episode is visible once this returns true.
    bool advance() noexcept {
        while (next_ != steps_.size())
            if (!take(steps_[next_])) return false;
        return true;
    }

    /// Waits for the rest of the episode and keeps the MPI's progress meanwhile; false when the deadline passed
    /// first, and may then be called again, or when it will never end, as lost() tells. Memory order: as advance().
    template <class Deadline>
    bool finish(Deadline deadline) noexcept {
        return advance() || wait_for_rest(deadline);
    }

private:
    /// Does a step if nothing stands in its way.
    bool take(const CourseStep& step) noexcept {
        if (step.by == CourseStep::By::word ? !take_word(step.wired) : !take_from_afar(step)) return false;
        ++next_;
        return true;
    }

    bool take_word(const WiredStep<NativeSync>& step) const noexcept {
        switch (step.deed) {
            case Deed::await: return step.met(episode_);
            case Deed::signal: step.signal(episode_, waiting_.ringing); return true;
            default: step.add_and_wake(episode_, waiting_.ringing); return true;
        }
    }

    bool take_from_afar(const CourseStep& step) noexcept;
    bool take_message(const CourseStep& step) noexcept;
    bool take_card(const CourseStep& step) noexcept;
    void lose() noexcept;
    void post_receives() noexcept;

    template <class Deadline>
    bool wait_for_rest(Deadline deadline) noexcept;

    /// When the wait began, as far as anybody asked: most waits are over before the clock is worth a look.
    class Since {
    public:
        std::chrono::steady_clock::duration waited() noexcept {
            const auto now = std::chrono::steady_clock::now();
            if (at_ == decltype(at_){}) at_ = now;
            return now - at_;
        }

    private:
        std::chrono::steady_clock::time_point at_{};
    };

    /// Polls, yields or naps once, as the `turn`-th fruitless look at the present step deserves.
    template <class Deadline>
    void pass_time(std::uint32_t turn, Since& since, Deadline deadline) noexcept;

    Crowding crowding() const noexcept {
        if (manners_ == Manners::polite) return Crowding::crowded;
        return waiting_.crowding == nullptr ? Crowding::roomy : waiting_.crowding->load(std::memory_order_relaxed);
    }

    tollbar_carrier carrier_;
    std::vector<CourseStep> steps_;
    CourseWaiting waiting_;
    std::size_t next_;
    Episode episode_ = 0;
    Manners manners_ = Manners::usual;
    bool receives_;
    bool lost_ = false;  ///< found by this rank
};

extern template bool Course::wait_for_rest(Never) noexcept;
extern template bool Course::wait_for_rest(Deadline) noexcept;

}  // namespace tollbar
