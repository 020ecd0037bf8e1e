// SPDX-License-Identifier: Apache-2.0
// The processes that a launcher has started as the ranks of a launch. They meet, and keep their stamps, in memory of
// their own making, so that nothing of what is measured is needed to measure it.
#pragma once

#include "launch.hpp"

#include <cstddef>

namespace tollbar::bench {

/// The threads of one process: one, unless somebody knows better.
class ProcessThreads {
public:
    virtual ~ProcessThreads() = default;
    virtual Rank threads() const noexcept { return 1; }

    /// Runs action(thread) on each of them at once and returns when all are done.
    virtual void run(const std::function<void(Rank)>& action) { action(0); }

    /// Before the floors are measured: nobody may be spinning.
    virtual void rest() {}
};

/// A rank a process, on any number of machines: for what only rank 0 times. They meet by what they measure.
class LooseCrew final : public Crew {
public:
    explicit LooseCrew(const Launch& launch) : peers_(*launch.peers), places_(launch.places()) {}

    Rank ranks() const noexcept override { return peers_.ranks(); }
    void run(const Job& job) override { run_or_exit(places_, job, peers_.rank()); }
    bool is_first() const noexcept override { return peers_.rank() == 0; }
    std::uint64_t told(std::uint64_t mine) override { return peers_.told(mine); }

private:
    const Peers& peers_;
    Places places_;
};

/// Memory that all ranks share; it has no name any more once it is made.
class PeersMemory {
public:
    /// Collective. Null everywhere when the ranks have no memory in common.
    static std::unique_ptr<PeersMemory> make(const Peers& peers, std::size_t bytes);
    ~PeersMemory();
    PeersMemory(const PeersMemory&) = delete;
    PeersMemory& operator=(const PeersMemory&) = delete;

    std::byte* data() const noexcept { return memory_; }

private:
    PeersMemory(std::byte* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}

    std::byte* memory_;
    std::size_t bytes_;
};

/// All are on one machine, because their stamps are compared and come from one clock.
class ProcessCrew final : public Crew {
public:
    /// Collective. Each thread of each team is a rank of the launch. Throws std::runtime_error.
    explicit ProcessCrew(const Launch& launch,
                         std::unique_ptr<ProcessThreads> team = std::make_unique<ProcessThreads>());

    Rank ranks() const noexcept override { return peers_.ranks() * team_->threads(); }
    void run(const Job& job) override;
    void rest() override;
    std::unique_ptr<Visit> visit(const Pace& pace, std::uint64_t episodes) override;
    bool is_first() const noexcept override { return peers_.rank() == 0; }
    std::uint64_t told(std::uint64_t mine) override;

private:
    struct Board;
    class ProcessVisit;

    Board& board() const noexcept;
    std::byte* tolls() const noexcept;
    void meet() const noexcept;

    const Peers& peers_;
    std::unique_ptr<ProcessThreads> team_;
    Places places_;
    bool crowded_;
    std::uint64_t stamped_;   ///< that there is room for
    std::uint64_t isolated_;  ///< likewise
    std::unique_ptr<PeersMemory> memory_;
};

}  // namespace tollbar::bench
