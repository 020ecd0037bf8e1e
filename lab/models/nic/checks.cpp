// SPDX-License-Identifier: Apache-2.0
// Refuses NICs, workloads and measurements that make no sense.
#include "checks.hpp"

#include "analysis/checks.hpp"
#include "models/checks.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace tollbar::nic_model {

using namespace detail;

using models::check_time;

namespace {

constexpr std::uint64_t most_barriers = 1'000'000'000;

}  // namespace

void check_share(double share, const std::string& what) {
    if (!(share >= 0 && share <= 1)) throw std::invalid_argument(what + " is from 0 to 1, not " + shortest(share));
}

void check(const Parameters& parameters) {
    const std::array<std::pair<double, const char*>, 8> times{{{parameters.send_us, "Send"},
                                                               {parameters.sdma_us, "SDMA"},
                                                               {parameters.xmit_us, "Xmit"},
                                                               {parameters.network_us, "Network"},
                                                               {parameters.recv_us, "Recv"},
                                                               {parameters.rdma_us, "RDMA"},
                                                               {parameters.hrecv_us, "HRecv"},
                                                               {parameters.mpi_us, "the part of MPI"}}};
    for (const auto& [us, name] : times) check_time(us, name);
    if (parameters.xmit_us > parameters.nic_step_us())
        throw std::invalid_argument("Xmit of " + shortest(parameters.xmit_us) +
                                    " us is longer than Network + Recv of " + shortest(parameters.nic_step_us()) +
                                    " us; it lies within them");
    if (parameters.mpi_us > parameters.hrecv_us)
        throw std::invalid_argument("MPI's part of " + shortest(parameters.mpi_us) + " us is longer than HRecv of " +
                                    shortest(parameters.hrecv_us) + " us, which holds it");
}

void check(const Workload& workload, Rank ranks) {
    if (workload.compute_us.empty()) throw std::invalid_argument("a workload has at least 1 phase, not 0");
    for (const double us : workload.compute_us) check_time(us, "a computing time");
    check_share(workload.variation, "the variation of a computing time");
    if (workload.runs < 1 || workload.runs > most_barriers / workload.compute_us.size())
        throw std::invalid_argument("a workload has 1 to " + std::to_string(most_barriers) + " barriers, not " +
                                    std::to_string(workload.runs) + " runs of " +
                                    std::to_string(workload.compute_us.size()));
    if (!workload.late_us.empty() && workload.late_us.size() != ranks)
        throw std::invalid_argument("the lateness is given of " + std::to_string(workload.late_us.size()) +
                                    " nodes, there are " + std::to_string(ranks));
    for (const double us : workload.late_us) check_time(us, "a node's lateness");
}

void check(const Measured& at) {
    if (at.nodes < 2)
        throw std::invalid_argument("latencies of at least 2 nodes are needed, not of " + std::to_string(at.nodes));
    check_time(at.host_us, "the host-based latency");
    check_time(at.nic_us, "the NIC-based latency");
}

std::invalid_argument never_ends(const Plan& plan, const Verdict& verdict) {
    return std::invalid_argument("plan '" + plan.name() + "' never ends: " + verdict.explain());
}

}  // namespace tollbar::nic_model
