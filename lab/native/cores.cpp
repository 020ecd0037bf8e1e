// SPDX-License-Identifier: Apache-2.0
// The simulator of cores for Python: machines by name or by their numbers, and what a barrier costs there.
#include "models.hpp"

#include "sending.hpp"
#include "simulating.hpp"

#include <tollbar/models/cores.hpp>

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using namespace tollbar::cores;

template <>
struct python::Fields<Outcome> {
    static constexpr std::tuple list{&Outcome::barrier_ns, &Outcome::misses, &Outcome::hand_overs,
                                     &Outcome::simulated_ns, &Outcome::events};
};

namespace {

constexpr std::array<std::string_view, 3> placements{"compact", "spread", "shuffled"};

/// The numbers of a machine by their names.
constexpr std::array<std::pair<const char*, double Machine::*>, 12> numbers{{
    {"cluster_ns", &Machine::cluster_ns},
    {"socket_ns", &Machine::socket_ns},
    {"second_socket_ns", &Machine::second_socket_ns},
    {"far_ns", &Machine::far_ns},
    {"busy", &Machine::busy},
    {"read_ns", &Machine::read_ns},
    {"cluster_read_ns", &Machine::cluster_read_ns},
    {"invalidate_ns", &Machine::invalidate_ns},
    {"pause_ns", &Machine::pause_ns},
    {"hit_ns", &Machine::hit_ns},
    {"add_ns", &Machine::add_ns},
    {"held", &Machine::held},
}};

using Numbers = std::map<std::string, double>;
using Cores = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Numbers numbers_of(const Machine& machine) {
    Numbers found;
    for (const auto& [name, number] : numbers) found[name] = machine.*number;
    return found;
}

Cores cores_of(const Machine& machine) {
    Cores cores;
    for (const Core& core : machine.cores) cores.emplace_back(core.cluster, core.socket);
    return cores;
}

Machine changed(const Machine& from, const std::optional<std::string>& name, const std::optional<Cores>& cores,
                const Numbers& values, std::optional<bool> clusters_cache) {
    Machine machine = from;
    if (name) machine.name = *name;
    if (cores) machine.cores.clear();
    for (const auto& [cluster, socket] : cores.value_or(Cores{})) machine.cores.push_back({cluster, socket});
    for (const auto& [key, value] : values) {
        bool known = false;
        for (const auto& [number_name, number] : numbers) {
            if (key != number_name) continue;
            machine.*number = value;
            known = true;
        }
        if (!known) throw std::invalid_argument("a machine has no number '" + key + "'");
    }
    if (clusters_cache) machine.clusters_cache = *clusters_cache;
    check(machine);
    return machine;
}

Outcome run(const std::string& barrier, std::int64_t threads, const Machine& machine, const std::string& placement,
            std::int64_t episodes, double spread_us, std::uint64_t seed, const python::Watch& watch) {
    const CoresRun request{.barrier = barrier,
                           .threads = python::count(threads, "threads"),
                           .placement = python::named<Placement>(placement, placements, "placement"),
                           .episodes = python::count(episodes, "episodes"),
                           .spread_ns = spread_us * 1000,
                           .seed = seed};
    const python::LockGivenUp others_go_on;
    return simulate(machine, request, python::watch_by(watch));
}

}  // namespace

void bind_cores(nb::module_& m) {
    nb::class_<Machine>(m, "CoresMachine", "What the caches of a machine cost, and where its cores lie.")
        .def_ro("name", &Machine::name)
        .def_prop_ro("cores", &cores_of, "Of each core its cluster and its socket.")
        .def_prop_ro("numbers", &numbers_of, "Times in nanoseconds, and the shares `busy` and `held`, by name.")
        .def_ro("clusters_cache", &Machine::clusters_cache, "Whether a cluster's cache serves its cores.")
        .def("changed", &changed, nb::kw_only(), "name"_a = nb::none(), "cores"_a = nb::none(), "numbers"_a = Numbers{},
             "clusters_cache"_a = nb::none(), "The machine with other cores or numbers.");

    python::class_to_send<Outcome>(m, "CoresOutcome", "What a simulation of cores gave.")
        .def_prop_ro(
            "barrier_us", [](const Outcome& outcome) { return outcome.barrier_ns / 1000; },
            "An episode; where entries are spread from the last entry to the last exit.")
        .def_ro("misses", &Outcome::misses, "Cache misses an episode, of all threads.")
        .def_prop_ro("simulated_us", [](const Outcome& outcome) { return outcome.simulated_ns / 1000; })
        .def_ro("events", &Outcome::events);

    m.attr("cores_peers") = peers();
    m.attr("cores_published") = published_names();
    m.attr("cores_machines") = machine_names();
    m.def("cores_machine", &machine, "name"_a, "One of cores_machines; they are modelled on what others measured.");
    m.def("simulate_cores", &run, "barrier"_a, "threads"_a, nb::kw_only(), "machine"_a, "placement"_a = "compact",
          "episodes"_a = 40, "spread_us"_a = 0.0, "seed"_a = 1, "watch"_a = nb::none(),
          "Runs a barrier of threads with a core each on simulated caches.\n\n"
          "barrier: a plan, tollbar::barrier, combination[/PLAN] between the clusters, one of cores_peers or\n"
          "cores_published.\n"
          "placement: compact, spread (clusters take turns) or shuffled. spread_us: each thread enters up to so much\n"
          "after it left. watch(simulated_us, passed, total) is called now and then; an exception it raises ends the "
          "simulation.");
    m.def("cores_one_way_ns", &one_way_ns, "machine"_a, "source"_a, "target"_a, nb::call_guard<python::LockGivenUp>(),
          "One trip of a line between two cores whose threads wait for each other.");
    m.def("cores_contended_add_ns", &contended_add_ns, "machine"_a, "threads"_a, nb::call_guard<python::LockGivenUp>(),
          "An addition to one word by so many threads at once.");
    m.def("cores_polled_add_ns", &polled_add_ns, "machine"_a, "threads"_a, nb::call_guard<python::LockGivenUp>(),
          "A hand-over of a ticket lock whose two words share a line.");
}
