// SPDX-License-Identifier: Apache-2.0
// The paper's kernel: turns of one quantum, which end at the same instant on every processor.
#pragma once

#include "engine.hpp"
#include "partitions.hpp"
#include "queues.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tollbar::scheduler {

class PaperKernel final : public Engine {
public:
    PaperKernel(const Machine& machine, const std::vector<Application>& applications, const Window& window);

private:
    struct Processor {
        bool switching = false;
        Nanoseconds busy_until = never;  // end of the switch or of the computing; never when spinning or idle
        Nanoseconds dispatched = 0;      // when it took its thread
    };

    Nanoseconds next_instant(std::uint32_t number) const override { return processors_[number].busy_until; }
    void come_to_instant() override;
    bool take_next(std::uint32_t number) override;
    bool comes_to_barrier(std::uint32_t number, bool& changed) override;
    Barrier::Advance meet(std::uint32_t number) override;
    bool gives_way(std::uint32_t number, bool& changed) override;
    void left(std::uint32_t number) override { note(number, Activity::idle); }
    void completed(Job& job) override;

    void admit();
    /// Partitions have changed.
    void move(const std::vector<Partitions::Move>& moves);
    /// Until the thread of the processor has had the word it needs: those who are there come first.
    Nanoseconds access_time(std::uint32_t number);
    /// The queue's thread at `index` gets the processor, after `left` of an earlier switch and a switch.
    void dispatch(std::uint32_t number, Queue& queue, std::size_t index, Nanoseconds left);
    /// Switches nearly as long as a quantum can starve a thread for ever.
    void check_that_something_moves();

    /// Computing that ends with the quantum counts: its thread does what it can at the barrier, but yields no more.
    void note_arrivals();
    void end_quantum();
    /// As many threads as wait in the one queue replace those that have had their processors longest.
    void rotate_shared();
    /// The processor's thread goes to the tail of the queue.
    void preempt(std::uint32_t number, Queue& queue);
    void idle(std::uint32_t number);
    /// The rest of the switch that the processor is in.
    Nanoseconds switch_left(std::uint32_t number) const;

    Queues queues_;
    std::optional<Partitions> partitions_;  // where they change
    std::vector<Processor> processors_;
    std::uint64_t moves_before_ = 0;
};

}  // namespace tollbar::scheduler
