// SPDX-License-Identifier: Apache-2.0
// One run of the simulator: instants at which something ends, and what processors do at them until nothing changes. A
// kernel decides who runs next (paper.hpp, fair.hpp).
#pragma once

#include "history.hpp"
#include "programs.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tollbar::scheduler {

class Engine {
public:
    virtual ~Engine() = default;
    Outcome run(const Watch& watch);

protected:
    /// `period`: of the kernel's clock, whose end is an instant.
    Engine(const Machine& machine, const std::vector<Application>& applications, const Window& window,
           Nanoseconds Clockwork::*period);

    /// Lets every processor act until nothing changes that others may see.
    void settle();
    /// Whether a period of the kernel's clock ends at this instant; the next one begins.
    bool ends_period();
    /// The processor has the thread from now on. Returns whether that takes a switch; the first thread costs none.
    bool assign(std::uint32_t processor, Thread thread);
    /// The thread of the processor leaves the barrier, and perhaps the machine.
    void pass(std::uint32_t processor);
    void note(std::uint32_t processor, Activity activity);
    std::uint32_t processors() const { return static_cast<std::uint32_t>(running_.size()); }

    const Clockwork clockwork_;
    Programs programs_;
    History history_;
    std::vector<std::optional<Thread>> running_;  // by processor: runs, or is being switched to
    Nanoseconds now_ = 0;
    std::uint64_t events_ = 0, periods_ = 0;

private:
    /// The next instant of the processor; never if it waits for others.
    virtual Nanoseconds next_instant(std::uint32_t processor) const = 0;
    /// Time has come to an instant: admits applications, settles, and does what the end of a period asks for.
    virtual void come_to_instant() = 0;
    /// The processor has no thread. Returns whether it has one now.
    virtual bool take_next(std::uint32_t processor) = 0;
    /// Does the kernel's work and the computing that are due. Returns whether the thread is at its barrier now; what
    /// others may see is noted in `changed`.
    virtual bool comes_to_barrier(std::uint32_t processor, bool& changed) = 0;
    /// The thread does what it can with others.
    virtual Barrier::Advance meet(std::uint32_t processor) = 0;
    /// Queues wake-ups by this thread for sleepers of its barrier that can continue; returns whether there are any.
    virtual bool rouses(std::uint32_t) { return false; }
    /// The thread waits in its way. Returns whether another one has the processor now, or the kernel has work.
    virtual bool gives_way(std::uint32_t processor, bool& changed) = 0;
    /// The thread has passed its last barrier and has left its processor.
    virtual void left(std::uint32_t processor) = 0;
    virtual void completed(Job&) {}

    void act(std::uint32_t processor, bool& changed);

    std::vector<bool> used_;  // by processor
    const Nanoseconds period_;
    const bool anywhere_;  // threads do not stay on a processor
    Nanoseconds period_end_;
    std::uint64_t switches_ = 0;
};

}  // namespace tollbar::scheduler
