// SPDX-License-Identifier: Apache-2.0
// The ways of signalling that Raymond's experiments compare with puts ("Implementing Split-Mode Barriers in
// OpenSHMEM"): atomic updates of counters. The library has none of them.
#pragma once

#include "transports/shmem/transport.hpp"

#include <tollbar/detail/runner.hpp>
#include <tollbar/plan.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tollbar::bench {

using namespace detail;

/// A counter for each slot of a block, updated by PEs that signal and taken back by their receiver.
class Counters {
public:
    virtual ~Counters() = default;

    /// Signals `pe` by that slot. Everything that this PE completed before is visible there once signalled() is true.
    virtual void signal(int pe, std::uint32_t slot) noexcept = 0;

    /// Whether that slot was signalled in this episode.
    /// Memory order: acquire when it was; pairs with what the other PE completed.
    virtual bool signalled(std::uint32_t slot) const noexcept = 0;

    /// Takes back the signals of this episode.
    virtual void take_back() noexcept = 0;
};

struct CounterKind {
    const char* name;
    std::unique_ptr<Counters> (*make)(shmem::Block block);
};

/// amo32: increments of 32-bit counters; amo64: fetching increments of 64-bit counters; posted: increments of 64-bit
/// counters that are not waited for, with N at most N of them outstanding. The receiver takes all of them back.
extern const std::array<CounterKind, 6> counter_kinds;

/// Takes the steps of a PE by counters in the place of slots, and ends with a step that takes the signals back.
class CounterTransport : public shmem::ShmemTransport {
public:
    CounterTransport(ShmemTransport transport, std::unique_ptr<Counters> counters)
        : ShmemTransport(std::move(transport)), counters_(std::move(counters)) {}

    std::vector<Step> locate(const std::vector<shmem::Step>& placed) const {
        std::vector<Step> steps = ShmemTransport::locate(placed);
        steps.push_back({{.kind = Step::Kind::flush}});
        return steps;
    }
    std::uint32_t take(const Step& step, Episode) noexcept {
        if (step.kind == Step::Kind::await) return signalled(step) ? 1 : 0;
        if (step.kind == Step::Kind::signal) counters_->signal(step.pe, step.slot);
        if (step.kind == Step::Kind::flush) counters_->take_back();
        return 1;
    }
    bool met(const Step& step, Episode) const noexcept {
        if (signalled(step)) return true;
        if (!near()) progress();
        return false;
    }
    bool signalled(const Step& step) const noexcept { return counters_->signalled(step.slot); }

private:
    std::unique_ptr<Counters> counters_;
};

/// A split barrier of all PEs that signal by counters. Its plan has no roles. Made and destroyed collectively.
class CounterBarrier {
public:
    CounterBarrier(const CounterKind& kind, const std::string& plan);
    ~CounterBarrier();
    CounterBarrier(const CounterBarrier&) = delete;
    CounterBarrier& operator=(const CounterBarrier&) = delete;

    void post() noexcept;
    bool test() noexcept;
    bool wait_until(Deadline deadline) noexcept { return runner_->finish(deadline); }
    void wait() noexcept { runner_->finish(Never{}); }

    /// The PEs that have not posted: exactly where their memory can be read, else as far as signals tell.
    std::vector<Rank> missing() const;

private:
    Plan plan_;
    shmem::Block block_;
    std::vector<CounterTransport::Step> steps_;
    std::optional<Runner<CounterTransport>> runner_;
};

}  // namespace tollbar::bench
