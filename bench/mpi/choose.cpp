// SPDX-License-Identifier: Apache-2.0
// Joins without a plan, once for each objective.
#include "choose.hpp"

#include "candidates.hpp"
#include "json.hpp"

#include "communicator/participant.h"

#include <array>
#include <string>
#include <string_view>
#include <system_error>

namespace tollbar::bench {

namespace {

struct Objective {
    tollbar_objective value;
    const char* name;
};

constexpr std::array objectives{Objective{TOLLBAR_OBJECTIVE_LATENCY, "latency"},
                                Objective{TOLLBAR_OBJECTIVE_SKEW, "skew"}, Objective{TOLLBAR_OBJECTIVE_WAIT, "wait"}};

/// As the doors call an MPI in the tuning file: "openmpi-4.1.4" for "Open MPI 4.1.4".
std::string key_of(std::string_view mpi) {
    const std::size_t blank = mpi.rfind(' ');
    const std::string_view name = mpi.substr(0, blank);
    const std::string version(blank == std::string_view::npos ? "" : mpi.substr(blank + 1));
    if (name == "Open MPI") return "openmpi-" + version;
    if (name == "MPICH") return "mpich-" + version;
    if (name == "Intel MPI") return "impi-" + version;
    return "any";
}

}  // namespace

void choose_plans(const MpiJob& job, double budget_ms) {
    const PointToPoint p2p;
    const std::string key = key_of(MpiJob::mpi());
    for (const Objective& objective : objectives) {
        tollbar_mpi_options options{};
        options.name = "tollbar bench";
        options.mpi = key.c_str();
        options.objective = objective.value;
        options.budget_ms = budget_ms;
        tollbar_mpi_participant* participant = nullptr;
        if (const int error = tollbar_mpi_join(&p2p.get(), &options, &participant); error != 0)
            throw std::system_error(error, std::generic_category(), "joining");
        Record("choice")
            .field("ranks", job.ranks())
            .field("mpi", key)
            .field("objective", objective.name)
            .field("plan", tollbar_mpi_plan(participant))
            .print();
        tollbar_mpi_arrive_and_wait(participant, nullptr);
        tollbar_mpi_leave(participant);
    }
}

}  // namespace tollbar::bench
