// SPDX-License-Identifier: Apache-2.0
// Barriers that run on the NIC or on the host: the timing model of Buntinas, Panda and Sadayappan,
// "Performance Benefits of NIC-Based Barrier on Myrinet/GM", as an event-driven simulator. Deterministic, no I/O.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/models/progress.hpp>
#include <tollbar/models/workload.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace tollbar::nic_model {

/// The side that executes the plan.
enum class Where : std::uint8_t {
    host,  ///< every message goes down from the host and up to it
    nic,   ///< the host starts the NIC, which reports the end; messages go between NICs
};

/// The times that a node's parts spend on a message (Figure 2), in microseconds. Each of its five units - host (Send,
/// HRecv), SDMA, send port (Xmit), receive port (Recv), RDMA - does one thing at a time, first come first served.
struct Parameters {
    double send_us = 0;     ///< the host starts a send, or the NIC's barrier
    double sdma_us = 0;     ///< the message to the NIC; host-based only
    double xmit_us = 0;     ///< the send port is busy; overlaps Network, so at most Network + Recv
    double network_us = 0;  ///< from the start of Xmit to the start of Recv
    double recv_us = 0;     ///< into the NIC's buffer
    double rdma_us = 0;     ///< the message, or the notice that the barrier is over, to the host
    double hrecv_us = 0;    ///< the host takes it
    double mpi_us = 0;      ///< the part of HRecv that MPI adds to a NIC-based barrier; at most HRecv

    /// The time of a step by the hosts, what a barrier on the NICs takes besides its steps, and the time of a step
    /// there.
    double host_step_us() const noexcept { return send_us + sdma_us + network_us + recv_us + rdma_us + hrecv_us; }
    double nic_fixed_us() const noexcept { return send_us + rdma_us + hrecv_us; }
    double nic_step_us() const noexcept { return network_us + recv_us; }

    /// The same NIC below MPI.
    Parameters without_mpi() const noexcept;
};

/// The work of a unit: send, sdma, xmit, recv, rdma or hrecv, the times of Parameters.
enum class Stage : std::uint8_t { send, sdma, xmit, recv, rdma, hrecv };

/// A unit of a node at work.
struct Span {
    Rank rank;        ///< the node
    Stage stage;      ///< its unit, by what that does
    Rank peer;        ///< the other end of the message; the node itself where there is none
    double from_us;   ///< from the start of the run
    double until_us;  ///< the same
};

/// The run of all nodes; times from the start.
struct Outcome {
    double last_us = 0;          ///< when the last node finishes
    double first_us = 0;         ///< when the first node finishes
    double mean_us = 0;          ///< when nodes finish on average
    std::uint64_t barriers = 0;  ///< how many were run
    std::uint64_t messages = 0;  ///< of all barriers
    std::uint64_t events = 0;    ///< what it cost to simulate
    std::vector<Span> history;   ///< in the order in which the work was given out

    /// The time of the last node over the number of barriers.
    double per_barrier_us() const noexcept { return last_us / static_cast<double>(barriers); }
};

/// Runs the workload on plan.ranks() nodes; its progress counts node passages of a barrier, and the history keeps the
/// first `most_spans` pieces of work.
///
///     Parameters nic = preset("lanai4.3");
///     double us = simulate(make_plan("pairwise", 16), Where::nic, nic).last_us;   // 105.37
///
/// A role has a node of its own, without a host's start and notice: the switch, or a NIC that gathers. The
/// signals that it releases together leave as one broadcast.
///
/// A message that arrives early waits, on the NIC or in the host's memory, until it is awaited. A node without steps
/// finishes at once. Throws std::invalid_argument for parameters that make no sense and for plans that cannot end.
Outcome simulate(const Plan& plan, Where where, const Parameters& parameters, const Workload& workload = {},
                 std::size_t most_spans = 0, const Watch& watch = {});

/// Steps in the sense of the paper's section 2.2: a message's step is one more than its sender has behind it.
struct Steps {
    std::uint32_t total = 0;             ///< log2 N for pairwise, floor(log2 N) + 2 off powers of two
    std::vector<std::uint32_t> of_rank;  ///< in how many of them the rank sends or is sent something
};

/// Throws std::invalid_argument for a plan that cannot end.
Steps steps(const Plan& plan);

/// Latencies of a pairwise exchange on that many nodes, as measured.
struct Measured {
    Rank nodes;      ///< how many
    double host_us;  ///< by the hosts' messages
    double nic_us;   ///< on the NICs
};

/// A NIC of the paper, with the numbers the paper prints.
struct PrintedNic {
    std::string_view name;  ///< as preset() takes it
    Measured at;            ///< below MPI
    double mpi_us;          ///< Parameters::mpi_us
};

/// lanai4.3 and lanai7.2.
std::span<const PrintedNic> printed_nics() noexcept;

/// Parameters that reproduce the printed numbers. These leave one parameter free: a = Send + RDMA + HRecv is put
/// `share` of the way from its least to its greatest value (see `ranges`). The sums are split evenly; latencies of a
/// pairwise exchange do not depend on the split. Throws std::invalid_argument naming the NICs there are, or for a
/// share not in 0..1.
Parameters preset(std::string_view name, double share = 0.5);

/// The least and the greatest value of a parameter, in microseconds; of a factor without unit.
struct Range {
    double low;   ///< the least
    double high;  ///< the greatest
};

/// The parameters that latencies determine: one sum exactly, the other parameters within bounds, all of them
/// non-negative.
struct Ranges {
    double host_step_us;  ///< Send + SDMA + Network + Recv + RDMA + HRecv, the only one that is identifiable
    Range nic_fixed_us;   ///< a = Send + RDMA + HRecv
    Range nic_step_us;    ///< b = Network + Recv
    Range sdma_us;        ///< SDMA
    Range limit_factor;   ///< host-based over NIC-based for ever more nodes
};

/// From one point. Throws std::invalid_argument where no non-negative parameters give it.
Ranges ranges(const Measured& at);

/// For the slower of two NICs in the same hosts, when the NIC's terms of the faster are those of the slower over
/// the factor `ratio` and the host's terms are equal. Throws std::invalid_argument where nothing fits.
Ranges ranges(const Measured& slow, const Measured& fast, double ratio);

/// Computing between barriers of `barrier_us` at efficiency e = C / (C + B), the definition of section 4.3;
/// `efficiency` is a share. Throws std::invalid_argument.
double compute_for_efficiency_us(double barrier_us, double efficiency);

/// The whole loop C + B at that efficiency, a share: what the paper's Figure 7 shows in fact. Throws
/// std::invalid_argument.
double loop_for_efficiency_us(double barrier_us, double efficiency);

}  // namespace tollbar::nic_model
#pragma GCC visibility pop
