// SPDX-License-Identifier: Apache-2.0
// The scheduler simulator for Python: applications and policies by their names, the outcome with its history.
#include "models.hpp"

#include "sending.hpp"
#include "simulating.hpp"

#include <tollbar/models/scheduler.hpp>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using namespace tollbar::scheduler;

using python::count;
using python::named;

template <>
struct python::Fields<Event> {
    static constexpr std::tuple list{&Event::kind, &Event::us, &Event::thread};
};
template <>
struct python::Fields<Application> {
    static constexpr std::tuple list{&Application::threads,      &Application::compute_us, &Application::variation,
                                     &Application::barriers,     &Application::arrival_us, &Application::barrier,
                                     &Application::waiting,      &Application::placement,  &Application::order,
                                     &Application::processor_of, &Application::processors, &Application::yields,
                                     &Application::events,       &Application::profile_us};
};
template <>
struct python::Fields<Span> {
    static constexpr std::tuple list{&Span::processor, &Span::activity, &Span::application,
                                     &Span::thread,    &Span::from_us,  &Span::until_us};
};
template <>
struct python::Fields<Completion> {
    static constexpr std::tuple list{&Completion::arrival_us,      &Completion::completed_us,
                                     &Completion::barriers,        &Completion::computing_us,
                                     &Completion::spinning_us,     &Completion::floor_us,
                                     &Completion::most_threads,    &Completion::fewest_processors,
                                     &Completion::most_processors, &Completion::moves};
};
template <>
struct python::Fields<Outcome> {
    static constexpr std::tuple list{
        &Outcome::completed_us,  &Outcome::applications, &Outcome::switches,     &Outcome::quanta,  &Outcome::events,
        &Outcome::computing_us,  &Outcome::spinning_us,  &Outcome::switching_us, &Outcome::idle_us, &Outcome::waking_us,
        &Outcome::neighbours_us, &Outcome::history,      &Outcome::history_cut};
};

namespace {

// In the order of the enumerations.
constexpr std::array<std::string_view, 5> policies{"partition", "coscheduled", "global", "dedicated", "dynamic"};
constexpr std::array<std::string_view, 3> waitings{"spin", "smart", "naive"};
constexpr std::array<std::string_view, 3> placements{"cyclic", "block", "given"};
constexpr std::array<std::string_view, 2> orders{"numbered", "shuffled"};
constexpr std::array<std::string_view, 4> event_kinds{"compute", "send", "receive", "barrier"};
constexpr std::array<std::string_view, 3> kernels{"paper", "fair", "older-fair"};
constexpr std::array<const char*, activities> activity_names{"idle",     "switching", "computing",
                                                             "spinning", "waking",    "neighbour"};

Event event(const std::string& kind, double value) {
    Event made{.kind = named<Event::Kind>(kind, event_kinds, "event")};
    if (made.kind == Event::Kind::compute) made.us = value;
    if (made.kind == Event::Kind::send || made.kind == Event::Kind::receive)
        made.thread = count(static_cast<std::int64_t>(value), "a thread");
    return made;
}

Application application(std::int64_t threads, double compute_us, double variation, std::int64_t barriers,
                        double arrival_us, const std::string& barrier, const std::string& waiting,
                        const std::string& placement, const std::string& order,
                        const std::vector<std::int64_t>& processor_of, std::int64_t processors, std::int64_t yields,
                        const std::vector<std::vector<double>>& profile_us,
                        const std::vector<std::vector<std::pair<std::string, double>>>& events) {
    Application made;
    made.threads = count(threads, "threads");
    made.compute_us = compute_us;
    made.variation = variation;
    if (barriers < 0) throw std::invalid_argument("a number of barriers is not " + std::to_string(barriers));
    made.barriers = static_cast<std::uint64_t>(barriers);
    made.arrival_us = arrival_us;
    made.barrier = barrier;
    made.waiting = named<Waiting>(waiting, waitings, "way of waiting");
    made.placement = named<Placement>(placement, placements, "placement");
    made.order = named<Order>(order, orders, "order");
    for (const std::int64_t processor : processor_of) made.processor_of.push_back(count(processor, "processors"));
    made.processors = count(processors, "processors");
    made.yields = count(yields, "yields");
    made.profile_us = profile_us;
    for (const auto& of_thread : events) {
        made.events.emplace_back();
        for (const auto& [kind, value] : of_thread) made.events.back().push_back(event(kind, value));
    }
    return made;
}

Outcome run(const std::vector<Application>& applications, std::int64_t processors, double quantum_us, double switch_us,
            const std::string& policy, std::uint64_t seed, const std::string& kernel, std::int64_t neighbours,
            double access_us, double move_us, double tick_us, double wake_us, double call_us, double from_us,
            double until_us, std::size_t most_spans, const python::Watch& watch) {
    const Machine machine{.processors = count(processors, "processors"),
                          .quantum_us = quantum_us,
                          .switch_us = switch_us,
                          .policy = named<Policy>(policy, policies, "policy"),
                          .seed = seed,
                          .kernel = named<Kernel>(kernel, kernels, "kernel"),
                          .neighbours = count(neighbours, "neighbours"),
                          .access_us = access_us,
                          .move_us = move_us,
                          .tick_us = tick_us,
                          .wake_us = wake_us,
                          .call_us = call_us};
    const python::LockGivenUp others_go_on;
    return simulate(machine, applications, {from_us, until_us, most_spans}, python::watch_by(watch));
}

}  // namespace

void bind_scheduler(nb::module_& m) {
    python::class_to_send<Application>(m, "SchedulerApplication", "A program whose threads repeat {compute; barrier}.")
        .def(
            "__init__",
            [](Application* self, std::int64_t threads, double compute_us, double variation, std::int64_t barriers,
               double arrival_us, const std::string& barrier, const std::string& waiting, const std::string& placement,
               const std::string& order, const std::vector<std::int64_t>& processor_of, std::int64_t processors,
               std::int64_t yields, const std::vector<std::vector<double>>& profile_us,
               const std::vector<std::vector<std::pair<std::string, double>>>& events) {
                new (self)
                    Application(application(threads, compute_us, variation, barriers, arrival_us, barrier, waiting,
                                            placement, order, processor_of, processors, yields, profile_us, events));
            },
            nb::kw_only(), "threads"_a = 16, "compute_us"_a = 1000.0, "variation"_a = 0.0, "barriers"_a = 60,
            "arrival_us"_a = 0.0, "barrier"_a = "centralized", "waiting"_a = "spin", "placement"_a = "cyclic",
            "order"_a = "numbered", "processor_of"_a = std::vector<std::int64_t>{}, "processors"_a = 0, "yields"_a = 0,
            "profile_us"_a = std::vector<std::vector<double>>{},
            "events"_a = std::vector<std::vector<std::pair<std::string, double>>>{},
            "barrier: centralized, tree, combination, or a plan. waiting: spin, smart (yield when another local\n"
            "thread can go on), naive (yield always). placement: cyclic, block, or given by processor_of.\n"
            "order: of the queues at first; numbered, or shuffled by the seed.\n"
            "processors: its partition, 0 for an equal share. yields: so often smart yields before it sleeps, under a\n"
            "fair kernel. profile_us: computing times of each thread, recorded;\n"
            "they take the place of threads, compute_us, variation and barriers. events: the same with messages, of "
            "each\n"
            "thread ('compute', us), ('send', thread), ('receive', thread), ('barrier', 0).");

    python::class_to_send<Span>(m, "SchedulerSpan", "A stretch of one activity of a processor; times in microseconds.")
        .def_ro("processor", &Span::processor)
        .def_prop_ro(
            "activity", [](const Span& span) { return activity_names.at(static_cast<std::size_t>(span.activity)); },
            nb::sig("def activity(self) -> typing.Literal['idle', 'switching', 'computing', 'spinning', 'waking', "
                    "'neighbour']"),
            "What the processor did.")
        .def_ro("application", &Span::application, "Means nothing while idle.")
        .def_ro("thread", &Span::thread, "Inside its application; means nothing while idle.")
        .def_ro("from_us", &Span::from_us)
        .def_ro("until_us", &Span::until_us);

    python::class_to_send<Completion>(m, "SchedulerCompletion",
                                      "What became of one application; times in microseconds.")
        .def_ro("arrival_us", &Completion::arrival_us)
        .def_ro("completed_us", &Completion::completed_us, "On the clock of the machine.")
        .def_prop_ro("elapsed_us", &Completion::elapsed_us, "From its arrival.")
        .def_prop_ro("per_barrier_us", &Completion::per_barrier_us, "Elapsed over barriers, computing included.")
        .def_ro("barriers", &Completion::barriers)
        .def_ro("computing_us", &Completion::computing_us, "Of all its threads.")
        .def_ro("spinning_us", &Completion::spinning_us, "Processor time spent at the barrier.")
        .def_ro("floor_us", &Completion::floor_us, "Computing of its most loaded processor: nothing can be faster.")
        .def_ro("most_threads", &Completion::most_threads, "On one of its processors.")
        .def_ro("fewest_processors", &Completion::fewest_processors, "That it had at a time.")
        .def_ro("most_processors", &Completion::most_processors, "That it had at a time.")
        .def_ro("moves", &Completion::moves, "Of its threads to another processor, because partitions changed.");

    python::class_to_send<Outcome>(m, "SchedulerOutcome", "What a simulation gave; sums are over all processors.")
        .def_ro("completed_us", &Outcome::completed_us, "When the last application was through.")
        .def_ro("applications", &Outcome::applications)
        .def_ro("switches", &Outcome::switches)
        .def_ro("quanta", &Outcome::quanta)
        .def_ro("events", &Outcome::events)
        .def_ro("computing_us", &Outcome::computing_us)
        .def_ro("spinning_us", &Outcome::spinning_us)
        .def_ro("switching_us", &Outcome::switching_us)
        .def_ro("idle_us", &Outcome::idle_us)
        .def_ro("waking_us", &Outcome::waking_us)
        .def_ro("neighbours_us", &Outcome::neighbours_us)
        .def_prop_ro("utilisation", &Outcome::utilisation, "Share of the processors' time spent computing.")
        .def_ro("history", &Outcome::history, "In order of processor, then time.")
        .def_ro("history_cut", &Outcome::history_cut, "Whether most_spans cut it.");

    m.def("simulate_scheduler", &run, "applications"_a, nb::kw_only(), "processors"_a = 8, "quantum_us"_a = 20000.0,
          "switch_us"_a = 100.0, "policy"_a = "partition", "seed"_a = 1, "kernel"_a = "paper", "neighbours"_a = 0,
          "access_us"_a = 0.0, "move_us"_a = 0.0, "tick_us"_a = 4000.0, "wake_us"_a = 2.0, "call_us"_a = 0.0,
          "from_us"_a = 0.0, "until_us"_a = 0.0, "most_spans"_a = 100000, "watch"_a = nb::none(),
          "Runs programs with barriers on too few processors, as Markatos et al. 1991 simulate them.\n\n"
          "kernel: paper, fair (Linux since 6.17; quantum_us is its slice) or older-fair. neighbours: threads of\n"
          "others that never wait, one a processor. access_us: a word of memory serves one access at a time, each so\n"
          "long.\n"
          "policy: partition, coscheduled, global (one queue), dedicated, or dynamic (partitions are divided anew when "
          "an\n"
          "application arrives or completes; move_us: what the switch to a moved thread takes longer). The history "
          "holds from_us .. until_us.\n"
          "watch(simulated_us, passed, total) is called now and then; an exception it raises ends the simulation.");
}
