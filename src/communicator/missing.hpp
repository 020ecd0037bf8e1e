// SPDX-License-Identifier: Apache-2.0
// Reports name the ranks that have not come to a communicator's barrier, as TOLLBAR_TIMEOUT prints it.
#pragma once

#include "meeting.hpp"

#include "missing/members.hpp"
#include "missing/reporting.hpp"

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace tollbar::detail {
class Places;
}

namespace tollbar::detail::mpi {

class Team;

/// "rank 5 of MPI_COMM_WORLD", or "" where the communicator `name` is that one, or a rank is not in it.
std::string in_world(const tollbar_p2p& p2p, const std::string& name, std::span<const Rank> ranks);

/// The name of one communicator and of its ranks, and the reports that use them.
class Reports {
public:
    /// `options` are completed.
    Reports(const tollbar_p2p& p2p, const tollbar_mpi_options& options, const Meeting& meeting);

    bool wanted() const noexcept { return timeout_.has_value(); }
    const Timeout& timeout() const noexcept { return timeout_; }

    /// With TOLLBAR_VERBOSE=1, rank 0 says once what runs.
    void announce(const std::string& plan) const;

    /// One line to the file of TOLLBAR_REPORT, from the lowest rank of each node that has waited as long; names every
    /// rank known to be missing and where it was seen last.
    void report(const Team& team, std::chrono::duration<double> waited) const;

    /// One line on stderr, from a rank whose node's NIC is gone in the episode under way.
    void tell_lost(const Team& team) const noexcept;

    /// "rank 2 (host a, process 4711) has not arrived: ..."; the missing of the episode under way.
    std::string missing(const Team& team) const;

    /// The same for programs, in ascending order of ranks.
    std::vector<tollbar_missing> list(const Team& team) const;

private:
    std::vector<missing::Member> missing(const Team& team, Places& places) const;

    /// Behind the numbers of ranks: their world ranks, and `where` they run.
    std::string known_as(std::span<const Rank> ranks, const std::string& where) const;

    /// The ranks behind a number of `unheard`.
    std::vector<Rank> ranks_of(Rank number, bool by_nodes) const;

    tollbar_p2p p2p_;
    std::string name_;
    std::string host_;
    std::vector<Rank> node_of_;       ///< kept only when reports are wanted
    std::vector<Address> addresses_;  ///< likewise
    Timeout timeout_;
    Episode before_;  ///< barriers that are counted, though another way made them
};

}  // namespace tollbar::detail::mpi
