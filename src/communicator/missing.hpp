// SPDX-License-Identifier: Apache-2.0
// Who has not come to a communicator's barrier, in the words that TOLLBAR_TIMEOUT prints.
#pragma once

#include "participant.hpp"

#include <chrono>
#include <string>

namespace tollbar::mpi {

/// What is said about one communicator, and to whom.
class Reports {
public:
    Reports(const tollbar_p2p& p2p, const tollbar_mpi_options& options, const Agreement& agreement);

    const std::string& name() const noexcept { return name_; }
    bool wanted() const noexcept { return timeout_s_ > 0; }
    std::chrono::duration<double> timeout() const noexcept { return std::chrono::duration<double>(timeout_s_); }

    /// With TOLLBAR_VERBOSE=1, rank 0 says once what runs.
    void announce(const std::string& plan) const;

    /// One line where TOLLBAR_REPORT says, from the lowest rank of each node that has waited so long; names everybody
    /// known to be missing and where they were last seen.
    void report(const Participant& participant, std::chrono::duration<double> waited,
                const void* call_site) const noexcept;

    /// One line on stderr, from a rank whose node's card is gone in the episode under way.
    void tell_lost(const Participant& participant) const noexcept;

    /// "rank 2 (host a, process 4711) has not arrived: ..."; who is missing in the episode under way.
    std::string missing(const Participant& participant) const;

private:
    std::string name_;
    std::string host_;
    Rank rank_;
    Rank ranks_;
    std::vector<Rank> node_of_;       ///< kept only when reports are wanted
    std::vector<Address> addresses_;  ///< likewise
    double timeout_s_;
    Episode before_;  ///< barriers that are counted, though another way made them
};

}  // namespace tollbar::mpi
