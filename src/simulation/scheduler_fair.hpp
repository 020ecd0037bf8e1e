// SPDX-License-Identifier: Apache-2.0
// One run under a fair kernel: a queue a processor, in which threads and neighbours get equal shares. Who waits spins,
// offers its processor, or sleeps; whoever lets sleepers go on wakes them one after the other.
#pragma once

#include "scheduler_fair_queue.hpp"
#include "scheduler_history.hpp"
#include "scheduler_programs.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tollbar::scheduler {

class FairSimulation {
public:
    FairSimulation(const Machine& machine, const std::vector<Application>& applications, const Window& window);
    Outcome run(const Watch& watch);

private:
    /// The first two are the kernel's own work: it ends before anybody else can have the processor.
    enum class Doing : std::uint8_t { switching, waking, computing, waiting };

    struct Processor {
        FairQueue queue;
        std::optional<Thread> thread{};  // runs, or is being switched to
        Doing doing = Doing::waiting;
        Nanoseconds left = 0;         // of the kernel's work
        Nanoseconds looked = 0;       // until then everybody is charged
        std::vector<Thread> wakes{};  // still to be woken by its thread
        Nanoseconds chooses = never;  // then it looks who shall run, or as soon as the kernel's work ends
        bool used = false;            // its first thread costs no switch
    };

    Nanoseconds next_instant(Nanoseconds tick);
    void admit();
    /// Time has passed: charges it.
    void look(Processor& processor);
    void tick();
    void settle();
    /// Does what the processor can do at this instant; whether that was anything others may see.
    bool act(std::uint32_t number);
    /// Finishes the kernel's work that is due; whether none is left.
    bool works_off(std::uint32_t number);
    /// Who has fallen asleep at the barrier of the thread and can go on now is to be woken by it. Whether there is one.
    bool rouses(std::uint32_t number);
    void wake(Thread sleeper, std::uint32_t waker);
    void pass(std::uint32_t number);
    /// The thread waits in its way. Whether somebody else has the processor now, or the kernel has work.
    bool gives_way(std::uint32_t number);
    /// The processor has no thread. Whether it has one now.
    bool take_next(std::uint32_t number);
    void dispatch(std::uint32_t number, Thread thread);
    void note(std::uint32_t number, Activity activity);
    std::uint32_t processor_of(Thread thread);

    Clockwork clockwork_;
    Programs programs_;
    std::vector<Share> shares_;
    std::vector<std::uint32_t> yields_;  // of each thread at its barrier
    std::vector<Processor> processors_;
    std::vector<std::vector<Thread>> sleepers_;  // of each application, in the order in which they fell asleep
    History history_;
    Nanoseconds now_ = 0;
    std::uint64_t switches_ = 0, ticks_ = 0, events_ = 0;
};

}  // namespace tollbar::scheduler
