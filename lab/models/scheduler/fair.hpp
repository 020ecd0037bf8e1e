// SPDX-License-Identifier: Apache-2.0
// A fair kernel: a queue a processor, in which threads and neighbours get equal shares. A thread that waits spins,
// offers its processor, or sleeps; a thread that lets sleepers go on wakes them one after the other.
#pragma once

#include "engine.hpp"
#include "fair_queue.hpp"

#include <cstdint>
#include <vector>

namespace tollbar::scheduler {

class FairKernel final : public Engine {
public:
    FairKernel(const Machine& machine, const std::vector<Application>& applications, const Window& window);

private:
    /// The first two are the kernel's own work: it ends before anybody else can have the processor.
    enum class Doing : std::uint8_t { switching, waking, computing, waiting };

    struct Processor {
        FairQueue queue;
        Doing doing = Doing::waiting;
        Nanoseconds left = 0;         // of the kernel's work
        Nanoseconds looked = 0;       // until then everybody is charged
        std::vector<Thread> wakes{};  // still to be woken by its thread
        Nanoseconds chooses = never;  // then it looks who shall run, or as soon as the kernel's work ends
    };

    Nanoseconds next_instant(std::uint32_t number) const override;
    void come_to_instant() override;
    bool take_next(std::uint32_t number) override;
    bool comes_to_barrier(std::uint32_t number, bool& changed) override;
    Barrier::Advance meet(std::uint32_t number) override { return programs_.meet(*running_[number]); }
    bool rouses(std::uint32_t number) override;
    bool gives_way(std::uint32_t number, bool& changed) override;
    void left(std::uint32_t number) override;

    void admit();
    /// Time has passed: charges it.
    void look(std::uint32_t number);
    void tick();
    /// Finishes the kernel's work that is due. Returns whether none is left.
    bool works_off(std::uint32_t number);
    void wake(Thread sleeper, std::uint32_t waker);
    void dispatch(std::uint32_t number, Thread thread);
    /// The kernel works for the processor's thread.
    void work(std::uint32_t number, Doing doing, Nanoseconds lasts, Activity activity);
    std::uint32_t processor_of(Thread thread) const;

    std::vector<Share> shares_;
    std::vector<Processor> processors_;
    std::vector<std::vector<Thread>> sleepers_;  // of each application, in the order in which they fell asleep
};

}  // namespace tollbar::scheduler
