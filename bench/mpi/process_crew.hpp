// SPDX-License-Identifier: Apache-2.0
// The processes of a job as the ranks of a launch. They meet, and keep their stamps, in memory of their own making, so
// that nothing of the measured MPI is needed to measure it.
#pragma once

#include "job.hpp"

#include "crew.hpp"
#include "visit.hpp"

#include <cstddef>
#include <functional>

namespace tollbar::bench {

/// The threads of one process of the job: one, unless somebody knows better.
class Team {
public:
    virtual ~Team() = default;
    virtual Rank threads() const noexcept { return 1; }

    /// Runs action(thread) on each of them at once and returns when all are done.
    virtual void run(const std::function<void(Rank)>& action) { action(0); }

    /// Before the floors are measured: nobody may be spinning.
    virtual void rest() {}
};

/// Each process has one and goes through the launch on its own. All are on one machine, because their stamps are
/// compared and come from one clock.
class ProcessCrew final : public Crew {
public:
    /// Collective. Each thread of each team is a rank of the launch. Throws std::runtime_error.
    ProcessCrew(const MpiJob& job, Places places, const Pace& pace, bool crowded, Team& team);
    ~ProcessCrew() override;
    ProcessCrew(const ProcessCrew&) = delete;
    ProcessCrew& operator=(const ProcessCrew&) = delete;

    Rank ranks() const noexcept override { return job_.ranks() * team_.threads(); }
    void run(const Job& job) override;
    void rest() override;
    std::unique_ptr<Visit> visit(const Pace& pace, std::uint64_t episodes) override;
    bool is_first() const noexcept override { return job_.rank() == 0; }
    bool agree(bool mine) override;

private:
    struct Board;
    class ProcessVisit;

    Board& board() const noexcept;
    void meet() const noexcept;

    const MpiJob& job_;
    Team& team_;
    Places places_;
    bool crowded_;
    std::uint64_t stamped_;   ///< that there is room for
    std::uint64_t isolated_;  ///< likewise
    std::size_t bytes_ = 0;
    std::byte* memory_ = nullptr;
};

}  // namespace tollbar::bench
