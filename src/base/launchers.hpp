// SPDX-License-Identifier: Apache-2.0
// The variables by which launchers tell a process its rank, in one table: for jobs with an MPI and without.
#pragma once

#include <array>

namespace tollbar::detail {

/// The names of its variables; "": it has none for that.
struct Launcher {
    const char* rank;
    const char* size;
    const char* size_here;
    std::array<const char*, 3> job;  ///< together the same in all ranks of a job, and in those of no other job
    bool of_mpi;                     ///< it starts ranks of an MPI; some start others as well
};

/// The first one whose rank is a number counts. Slurm comes last: it numbers whatever it starts, also the one process
/// that starts all ranks by another launcher.
inline constexpr std::array launchers{
    Launcher{
        "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", {"PMIX_NAMESPACE", "", ""}, true},
    Launcher{"PMIX_RANK", "SLURM_NTASKS", "", {"PMIX_NAMESPACE", "", ""}, true},
    Launcher{"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", {"PMI_PORT", "", ""}, true},
    Launcher{"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID"}, false},
    Launcher{"SLURM_PROCID", "SLURM_NTASKS", "", {"SLURM_JOB_ID", "SLURM_STEP_ID", ""}, true},
};

}  // namespace tollbar::detail
