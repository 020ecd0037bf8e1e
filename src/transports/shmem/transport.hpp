// SPDX-License-Identifier: Apache-2.0
// Takes the steps of one PE over symmetric memory.
#pragma once

#include "placement.hpp"
#include "signaller.hpp"

#include <tollbar/detail/waiting.hpp>

#include <span>

namespace tollbar::shmem {

/// What a PE does in a barrier, for Runner. One thread at a time.
///
/// Memory order: what any PE completed before it started this episode is visible after the last step.
class ShmemTransport {
public:
    using Step = shmem::Step;
    using Sync = NativeSync;

    /// `pes` are the ranks' PEs. `block` lies at the same place on all of them. `before` is the episode before the
    /// first.
    ShmemTransport(Block block, std::span<const int> pes, std::unique_ptr<Signaller> signaller, Patience patience,
                   Episode before);

    void entered(Episode episode) noexcept {
        block_.enter(episode);
        signaller_->begin(episode);
    }
    std::uint32_t take(const Step& step, Episode episode) noexcept;
    bool met(const Step& step, Episode episode) const noexcept;
    void progress() const noexcept;
    Patience patience(const Step&) const noexcept { return patience_; }

    /// Nobody wakes a PE: it yields for a while, and then naps.
    template <class Deadline>
    static bool sleep(const Step&, Episode, Stopwatch& asleep, Deadline deadline) noexcept {
        return nap<Sync>({.spins = 0, .yields = 0}, asleep, deadline);
    }
    static constexpr bool gone() noexcept { return false; }

    /// Whether the memory of all peers can be read and written by loads and stores. Else what they sent comes only
    /// while this PE makes progress.
    bool near() const noexcept { return near_; }

    /// Whether the slot of that step, of kind `told`, was told in this episode.
    bool told(const Step& step) const noexcept { return signaller_->told(step.slot); }

    /// What the slots or the counter of this PE say that they cannot; nothing when all is well.
    std::optional<Signaller::Fault> fault() const noexcept;

private:
    std::uint32_t meet(const Step& step, Episode episode) noexcept;

    Block block_;
    std::vector<int> pes_;
    std::unique_ptr<Signaller> signaller_;
    Patience patience_;
    Episode before_;
    bool near_;
    std::uint64_t overcount_ = 0;  ///< what the counter showed when somebody else had counted too
};

}  // namespace tollbar::shmem
