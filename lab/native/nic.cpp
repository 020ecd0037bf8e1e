// SPDX-License-Identifier: Apache-2.0
// The NIC timing model for Python: cards by their names or their parts, what became of the nodes, and what the
// paper's latencies say of the parts.
#include "models.hpp"

#include "sending.hpp"
#include "simulating.hpp"

#include <tollbar/models/nic.hpp>

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using namespace tollbar;
using namespace tollbar::nic_model;

template <>
struct python::Fields<Span> {
    static constexpr std::tuple list{&Span::rank, &Span::stage, &Span::peer, &Span::from_us, &Span::until_us};
};
template <>
struct python::Fields<Outcome> {
    static constexpr std::tuple list{&Outcome::last_us,  &Outcome::first_us, &Outcome::mean_us, &Outcome::barriers,
                                     &Outcome::messages, &Outcome::events,   &Outcome::history};
};

namespace {

constexpr std::array<const char*, 6> stages{"send", "sdma", "xmit", "recv", "rdma", "hrecv"};

Where where_of(const std::string& name) {
    if (name == "host") return Where::host;
    if (name == "nic") return Where::nic;
    throw std::invalid_argument("a barrier runs on one of host, nic, not '" + name + "'");
}

std::uint64_t at_least_0(std::int64_t number, const char* what) {
    if (number >= 0) return static_cast<std::uint64_t>(number);
    throw std::invalid_argument(std::string(what) + " is at least 0, not " + std::to_string(number));
}

Outcome run(const Plan& plan, const std::string& where, const Parameters& card, const std::vector<double>& compute_us,
            double variation, std::int64_t runs, std::uint64_t seed, const std::vector<double>& late_us,
            std::int64_t most_spans, const python::Watch& watch) {
    const Workload workload{.compute_us = compute_us,
                            .variation = variation,
                            .runs = at_least_0(runs, "a number of runs"),
                            .seed = seed,
                            .late_us = late_us};
    const auto spans = static_cast<std::size_t>(at_least_0(most_spans, "a number of spans"));
    const Where runs_on = where_of(where);
    const python::LockGivenUp others_go_on;
    return simulate(plan, runs_on, card, workload, spans, python::watch_by(watch));
}

using Terms = std::map<std::string, std::pair<double, double>>;

Terms terms(const Ranges& found) {
    const auto both = [](const Range& range) { return std::pair(range.low, range.high); };
    return {{"H", {found.host_step_us, found.host_step_us}},
            {"a", both(found.nic_fixed_us)},
            {"b", both(found.nic_step_us)},
            {"SDMA", both(found.sdma_us)},
            {"limit_factor", both(found.limit_factor)}};
}

Measured measured(std::int64_t nodes, double host_us, double nic_us) {
    if (nodes < 0 || nodes > max_ranks)
        throw std::invalid_argument("a number of nodes is from 2 to " + std::to_string(max_ranks) + ", not " +
                                    std::to_string(nodes));
    return {static_cast<Rank>(nodes), host_us, nic_us};
}

Measured printed(const std::string& name) {
    preset(name);  // refuses unknown names
    return std::ranges::find(printed_nics(), name, &PrintedNic::name)->at;
}

void bind_card(nb::module_& m) {
    nb::class_<Parameters>(m, "NicParts", "What a node's parts spend on a message, in microseconds.")
        .def(
            "__init__",
            [](Parameters* self, double send_us, double sdma_us, double xmit_us, double network_us, double recv_us,
               double rdma_us, double hrecv_us, double mpi_us) {
                new (self) Parameters{send_us, sdma_us, xmit_us, network_us, recv_us, rdma_us, hrecv_us, mpi_us};
            },
            nb::kw_only(), "send_us"_a = 0.0, "sdma_us"_a = 0.0, "xmit_us"_a = 0.0, "network_us"_a = 0.0,
            "recv_us"_a = 0.0, "rdma_us"_a = 0.0, "hrecv_us"_a = 0.0, "mpi_us"_a = 0.0,
            "Xmit lies within Network + Recv; mpi_us is what MPI adds to HRecv of a NIC-based barrier.")
        .def_ro("send_us", &Parameters::send_us, "The host starts a send, or the card's barrier.")
        .def_ro("sdma_us", &Parameters::sdma_us, "The message to the card; host-based only.")
        .def_ro("xmit_us", &Parameters::xmit_us, "The send port is busy.")
        .def_ro("network_us", &Parameters::network_us, "From the start of Xmit to the start of Recv.")
        .def_ro("recv_us", &Parameters::recv_us, "Into the card's buffer.")
        .def_ro("rdma_us", &Parameters::rdma_us, "The message, or the notice that the barrier is over, to the host.")
        .def_ro("hrecv_us", &Parameters::hrecv_us, "The host takes it.")
        .def_ro("mpi_us", &Parameters::mpi_us, "The part of HRecv that MPI adds to a NIC-based barrier.")
        .def_prop_ro("host_step_us", &Parameters::host_step_us, "H: a step of a host-based barrier.")
        .def_prop_ro("nic_fixed_us", &Parameters::nic_fixed_us, "a: Send + RDMA + HRecv.")
        .def_prop_ro("nic_step_us", &Parameters::nic_step_us, "b: Network + Recv.")
        .def("without_mpi", &Parameters::without_mpi, "The same card below MPI.");

    m.def("nic_parts", &preset, "name"_a, "share"_a = 0.5,
          "The card lanai4.3 or lanai7.2. Its printed latencies leave one term free: Send + RDMA + HRecv lies `share`\n"
          "of the way through its range; other sums are split evenly.");
    m.def(
        "nic_presets",
        [] {
            std::vector<std::string> names;
            for (const PrintedNic& card : printed_nics()) names.emplace_back(card.name);
            return names;
        },
        "The names that nic_parts() knows.");
}

void bind_findings(nb::module_& m) {
    m.def(
        "nic_part_ranges",
        [](const std::string& name, const std::optional<std::string>& faster, double ratio) {
            return terms(faster ? ranges(printed(name), printed(*faster), ratio) : ranges(printed(name)));
        },
        "name"_a, "faster"_a = nb::none(), "ratio"_a = 2.0,
        "nic_ranges() of the latencies that are printed of a card; with `faster`, of both cards together: its terms "
        "on\n"
        "the card are those of `name` over `ratio`, the host's are equal.");
    m.def(
        "nic_ranges",
        [](std::int64_t nodes, double host_us, double nic_us) {
            return terms(ranges(measured(nodes, host_us, nic_us)));
        },
        "nodes"_a, "host_us"_a, "nic_us"_a,
        "What two latencies of a pairwise exchange say of H, a, b, SDMA and the limit of the factor: least and "
        "greatest.");
    m.def(
        "nic_applications",
        [] {
            std::map<std::string, std::vector<double>> phases;
            for (const Application& application : applications())
                phases[std::string(application.name)] = application.compute_us;
            return phases;
        },
        "The synthetic applications of the NIC paper: computing times of their phases, by name.");
    m.def("nic_compute_us", &compute_for_efficiency_us, "barrier_us"_a, "efficiency"_a,
          "Least computing time between barriers for the efficiency C / (C + B).");
    m.def("nic_loop_us", &loop_for_efficiency_us, "barrier_us"_a, "efficiency"_a,
          "Computing and barrier together at that efficiency: what Figure 7 of the NIC paper shows.");
    m.def(
        "nic_steps",
        [](const Plan& plan) {
            Steps counted = steps(plan);
            return std::pair(counted.total, std::move(counted.of_rank));
        },
        "plan"_a, nb::call_guard<python::LockGivenUp>(),
        "Steps of a plan as the NIC paper counts them: in all, and those that each rank takes part in.");
}

}  // namespace

void bind_nic(nb::module_& m) {
    bind_card(m);
    bind_findings(m);

    python::class_to_send<Span>(m, "NicSpan", "A unit of a node at work; times in microseconds.")
        .def_ro("rank", &Span::rank)
        .def_prop_ro(
            "stage", [](const Span& span) { return stages.at(static_cast<std::size_t>(span.stage)); },
            nb::sig("def stage(self) -> typing.Literal['send', 'sdma', 'xmit', 'recv', 'rdma', 'hrecv']"),
            "Which unit.")
        .def_ro("peer", &Span::peer, "The other end of the message; the rank itself where there is none.")
        .def_ro("from_us", &Span::from_us)
        .def_ro("until_us", &Span::until_us);

    python::class_to_send<Outcome>(m, "NicOutcome", "What became of the nodes; times in microseconds from the start.")
        .def_ro("last_us", &Outcome::last_us, "The last node is through.")
        .def_ro("first_us", &Outcome::first_us)
        .def_ro("mean_us", &Outcome::mean_us)
        .def_ro("barriers", &Outcome::barriers)
        .def_ro("messages", &Outcome::messages, "Of all barriers.")
        .def_ro("events", &Outcome::events)
        .def_ro("history", &Outcome::history, "The first most_spans pieces of work, in the order they were given out.")
        .def_prop_ro("per_barrier_us", &Outcome::per_barrier_us, "Computing included.");

    m.def(
        "simulate_nic", &run, "plan"_a, "where"_a, "card"_a, nb::kw_only(), "compute_us"_a = std::vector<double>{0.0},
        "variation"_a = 0.0, "runs"_a = 1, "seed"_a = 1, "late_us"_a = std::vector<double>{}, "most_spans"_a = 0,
        "watch"_a = nb::none(),
        nb::sig("def simulate_nic(plan: tollbar._native.Plan, where: typing.Literal['host', 'nic'], card: NicParts, *, "
                "compute_us: collections.abc.Sequence[float] = [0.0], variation: float = 0.0, runs: int = 1, "
                "seed: int = 1, late_us: collections.abc.Sequence[float] = [], most_spans: int = 0, "
                "watch: collections.abc.Callable[[float, int, int], None] | None = None) -> NicOutcome"),
        "Runs barriers on `host` or `nic` by the timing model of Buntinas, Panda and Sadayappan.\n\n"
        "compute_us: of the phases, each followed by a barrier; all phases are done `runs` times.\n"
        "watch(simulated_us, passed, total) is called now and then; an exception it raises ends the simulation.");
}
