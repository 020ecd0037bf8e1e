// SPDX-License-Identifier: Apache-2.0
// tollbar._native: plans, verify, price and drawings for Python. Errors of the library become ValueError.

#include "ending.hpp"
#include "parts.hpp"
#include "sending.hpp"

#include "analysis/unheard.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/plan.hpp>
#include <tollbar/price.hpp>
#include <tollbar/verify.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using namespace tollbar;
using namespace tollbar::detail;

template <>
struct python::Fields<Verdict> {
    static constexpr std::tuple list{&Verdict::fault, &Verdict::from, &Verdict::to, &Verdict::operations};
};
template <>
struct python::Fields<Price> {
    static constexpr std::tuple list{&Price::last_us,  &Price::first_us,   &Price::mean_us,
                                     &Price::messages, &Price::operations, &Price::completion_us};
};
template <>
struct python::Fields<Message> {
    static constexpr std::tuple list{&Message::from, &Message::to, &Message::sent_us, &Message::arrived_us,
                                     &Message::received_us};
};

namespace {

/// The analysis runs on C++ values only, so other Python threads may go on (and show progress) meanwhile.
using NoGil = nb::call_guard<python::LockGivenUp>;

/// Python's whole numbers may be negative or too large; the library's may not.
Rank to_rank(std::int64_t number, const char* meaning) {
    if (number < 0 || number > max_ranks)
        throw std::invalid_argument(std::string(meaning) + " " + std::to_string(number) + " is not one of 0.." +
                                    std::to_string(max_ranks));
    return static_cast<Rank>(number);
}

/// A rank as a number, a role by its letters.
using ShownMember = std::variant<Rank, std::string>;
using AnyMember = std::variant<std::int64_t, std::string>;  // as it comes

ShownMember show_member(Rank member) {
    if (is_role(member)) return member_text(member);
    return member;
}

/// The number of a member that is given as Python has it.
Rank to_member(const Plan& plan, const AnyMember& member) {
    if (const auto* rank = std::get_if<std::int64_t>(&member)) return to_rank(*rank, "rank");
    const std::string& letters = std::get<std::string>(member);
    for (Rank number = 0; number < plan.roles(); ++number)
        if (member_text(role(number)) == letters) return role(number);
    throw std::invalid_argument("role " + letters + " is not one of the " + std::to_string(plan.roles()) + " of '" +
                                plan.name() + "'");
}

Plan plan_of(std::string_view spelling, std::int64_t ranks) {
    return make_plan(spelling, to_rank(ranks, "number of ranks"));
}

Plan two_levels(std::int64_t ranks, const std::string& inner, std::int64_t group, const Plan& outer) {
    return combine(
        to_rank(ranks, "number of ranks"), [&inner](Rank members) { return make_plan(inner, members); },
        to_rank(group, "group size"), outer);
}

std::vector<std::string> steps(const Plan& plan, const AnyMember& self) {
    std::vector<std::string> words;
    for (const Step step : plan.program(to_member(plan, self))) words.push_back(to_text(Program{step}));
    return words;
}

std::vector<std::string> roles_of(const Plan& plan) {
    std::vector<std::string> letters;
    for (Rank number = 0; number < plan.roles(); ++number) letters.push_back(member_text(role(number)));
    return letters;
}

std::string show_plan(const Plan& plan) {
    std::string text = "<Plan " + plan.name() + ", " + std::to_string(plan.ranks()) + " ranks";
    if (plan.roles() != 0) text += ", " + std::to_string(plan.roles()) + (plan.roles() == 1 ? " role" : " roles");
    return text + ">";
}

std::string show_number(double number) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

LogP checked(LogP logp) {
    for (const double us : {logp.L, logp.o, logp.g, logp.receiver_us()})
        if (!std::isfinite(us) || us < 0)
            throw std::invalid_argument("LogP takes microseconds of at least 0, not " + show_number(us));
    return logp;
}

/// L,o,g or, with the overheads apart, L,o_s,o_r,g.
LogP parse_logp(std::string_view text) {
    std::array<double, 4> numbers{};
    const std::size_t count = std::size_t{1} + static_cast<std::size_t>(std::ranges::count(text, ','));
    const char* at = text.data();
    const char* const end = at + text.size();
    for (std::size_t i = 0; i < count; ++i) {
        const bool last = i + 1 == count;
        const auto wrong = [&] {
            return std::invalid_argument("'" + std::string(text) +
                                         "' is not L,o,g: three numbers of microseconds, such as 10,5,3; nor four, "
                                         "L,o_s,o_r,g");
        };
        if (count < 3 || count > numbers.size()) throw wrong();
        const auto [stop, error] = std::from_chars(at, end, numbers[i]);
        if (error != std::errc{} || (last ? stop != end : stop == end || *stop != ',')) throw wrong();
        at = stop + 1;
    }
    if (count == 3) return checked({.L = numbers[0], .o = numbers[1], .g = numbers[2]});
    return checked({.L = numbers[0], .o = numbers[1], .g = numbers[3], .o_r = numbers[2]});
}

std::string show_logp(const LogP& logp) {
    const std::string overheads = logp.o_r ? ", o_s=" + show_number(logp.o) + ", o_r=" + show_number(*logp.o_r)
                                           : ", o=" + show_number(logp.o);
    return "LogP(L=" + show_number(logp.L) + overheads + ", g=" + show_number(logp.g) + ")";
}

/// In the order of Verdict::Fault.
constexpr std::array fault_names{"none",        "bad_peer", "channel_twice", "unawaited",
                                 "unsignalled", "unplayed", "deadlock",      "unheard"};

std::optional<std::string_view> fault_name(const Verdict& verdict) {
    if (verdict.holds()) return std::nullopt;
    return fault_names.at(static_cast<std::size_t>(verdict.fault));
}

std::optional<ShownMember> at_fault(const Verdict& verdict, Rank member) {
    return verdict.holds() ? std::nullopt : std::optional<ShownMember>(show_member(member));
}

using LateRanks = std::map<std::int64_t, double>;

std::vector<Late> to_late(const LateRanks& ranks) {
    std::vector<Late> late;
    for (const auto& [rank, by_us] : ranks) late.push_back({to_rank(rank, "late rank"), by_us});
    return late;
}

void bind_plans(nb::module_& m) {
    nb::class_<Algorithm>(m, "Algorithm", "One family of the catalogue, spelled `name` or `name:parameters`.")
        .def_ro("name", &Algorithm::name, "The same string in C++, C, Python, the command and the documentation.")
        .def_ro("parameters", &Algorithm::parameters, "What may follow the colon; empty when nothing may.")
        .def_ro("defaults", &Algorithm::defaults, "What is taken when nothing follows.")
        .def_ro("restrictions", &Algorithm::restrictions, "Accepted values, in words.")
        .def_ro("paper", &Algorithm::paper, "Author and year of the first description.")
        .def_ro("inner", &Algorithm::inner, "Whether it may stand in front of '@' or '/' in a two-level plan.")
        .def_ro("player", &Algorithm::player, "Who plays its roles; empty when it has none.")
        .def_ro("runs_on", &Algorithm::runs_on,
                "The one kind of hardware or library it is for; empty when it runs everywhere.");

    nb::class_<Plan>(
        m, "Plan",
        "What every rank and every role does in one episode, in order: `!p` signals p, `?p` awaits p.\n"
        "A role is a member that is no rank, 'a', 'b' and so on: the last rank to arrive plays it, or a NIC.\n\n"
        "Made by plan(), parse_plan() or combine(). It need not be a barrier; verify() tells.")
        .def_prop_ro("name", &Plan::name, "As its user spells it, such as 'mcs:4,2'.")
        .def_prop_ro("ranks", &Plan::ranks, "Number of ranks.")
        .def_prop_ro("roles", &roles_of, "The roles, such as ['a', 'b'].")
        .def("program", &steps, "member"_a, "The steps of one rank or role, such as ['!1', '?3'].")
        .def_prop_ro("text", nb::overload_cast<const Plan&>(&to_text), NoGil(),
                     "All words, one line a rank, then one a role.")
        .def("__repr__", &show_plan);

    m.attr("max_ranks") = max_ranks;
    m.def(
        "catalogue", [] { return std::vector<Algorithm>(catalogue().begin(), catalogue().end()); },
        "All families of barriers, in the order of the documentation.");
    m.def("plan", &plan_of, "spelling"_a, "ranks"_a,
          "The plan with that spelling: `name[:parameters]`, or two levels `INNER@K/OUTER`.");
    m.def(
        "plan", [](std::string_view spelling, const Groups& groups) { return make_plan(spelling, groups); },
        "spelling"_a, "groups"_a,
        "The same for ranks that live in groups, such as [[0, 2], [1, 3]]: the groups of `INNER/OUTER`.");
    m.def("runs_on", &runs_on, "spelling"_a,
          "What the plan is for, when some part of it is for one kind of hardware or library only; else ''.");
    m.def("parse_plan", &parse_plan, "name"_a, "words"_a, NoGil(),
          "Reads a plan written out as Plan.text writes it, one line a rank or role.");
    m.def("combine", &two_levels, "ranks"_a, "inner"_a, "group"_a, "outer"_a,
          "Two levels: groups of `group` ranks run the rooted plan spelled `inner`; between its gather and its\n"
          "release their turning members run `outer`, whose ranks are the groups.");
    m.def("is_rooted", &is_rooted, "plan"_a, NoGil(),
          "Whether the plan is a gather tree towards rank 0 followed by a release tree from rank 0.");
}

void bind_verify(nb::module_& m) {
    python::class_to_send<Verdict>(m, "Verdict", "What verify() found; true when the plan is a barrier.")
        .def_prop_ro("holds", &Verdict::holds, "Whether nobody can leave before everybody has entered.")
        .def_prop_ro("fault", &fault_name,
                     nb::sig("def fault(self) -> typing.Literal['bad_peer', 'channel_twice', 'unawaited', "
                             "'unsignalled', 'unplayed', 'deadlock', 'unheard'] | None"),
                     "What is wrong; None when the plan holds.")
        .def_prop_ro(
            "from_rank", [](const Verdict& verdict) { return at_fault(verdict, verdict.from); },
            "First pair at fault: the rank, or role, that is not heard of; None when the plan holds.")
        .def_prop_ro(
            "to_rank", [](const Verdict& verdict) { return at_fault(verdict, verdict.to); },
            "First pair at fault: the rank, or role, that has not heard; None when the plan holds.")
        .def_ro("operations", &Verdict::operations, "Steps taken and runs of ranks touched: what the proof cost.")
        .def_prop_ro("explanation", &Verdict::explain, "One sentence, naming the first pair at fault.")
        .def("__bool__", &Verdict::holds)
        .def("__repr__", [](const Verdict& verdict) { return "<Verdict: " + verdict.explain() + ">"; });

    m.def("verify", &verify, "plan"_a, NoGil(),
          "Proves that the plan is a barrier for its number of ranks, without running it.\n\n"
          "Awaits name their sender, so every run has the same order of events: checking one checks all.");
    m.def(
        "unheard",
        [](const Plan& plan, const AnyMember& self, std::int64_t steps_done) {
            if (steps_done < 0) throw std::invalid_argument("a rank cannot have finished fewer than 0 steps");
            return unheard(plan, to_member(plan, self), static_cast<std::size_t>(steps_done));
        },
        "plan"_a, "rank"_a, "steps"_a, NoGil(),
        "The ranks that need not have entered yet when `rank`, or a role, has finished its first `steps` steps.");
}

void bind_price(nb::module_& m) {
    nb::class_<LogP>(m, "LogP", "Parameters of the model of Culler et al. 1993, all in microseconds.")
        .def(
            "__init__",
            [](LogP* self, double L, double o, double g, std::optional<double> o_r) {
                new (self) LogP(checked({L, o, g, o_r}));
            },
            "L"_a, "o"_a, "g"_a, "o_r"_a = nb::none())
        .def_static("parse", &parse_logp, "text"_a,
                    "Reads 'L,o,g', such as '10,5,3', or with the overheads apart 'L,o_s,o_r,g'.")
        .def_ro("L", &LogP::L, "Latency of a message.")
        .def_ro("o", &LogP::o, "CPU time a message costs its sender, and its receiver unless o_r is given.")
        .def_prop_ro("o_s", &LogP::o_s, "CPU time a message costs its sender.")
        .def_prop_ro("o_r", &LogP::receiver_us, "CPU time a message costs its receiver.")
        .def_prop_ro("path_us", &LogP::path_us, "o_s + L + o_r: one message on the longest path.")
        .def_ro("g", &LogP::g, "Least time between two sends, or two receives, of one rank.")
        .def("__repr__", &show_logp);

    nb::enum_<Receive>(m, "Receive", "When an incoming message takes its overhead o_r from the receiver.")
        .value("at_await", Receive::at_await, "When its await set is reached; inside a set in order of arrival.")
        .value("plan_order", Receive::plan_order, "When its own await is reached, one after another as listed.")
        .value("on_arrival", Receive::on_arrival, "As soon as CPU and port are free (LogGOPSim's rule).");

    python::class_to_send<Price>(m, "Price", "What one episode costs under LogP; times in microseconds.")
        .def_ro("last_us", &Price::last_us, "Completion of the last rank: the barrier's time.")
        .def_ro("first_us", &Price::first_us, "Completion of the first rank.")
        .def_ro("mean_us", &Price::mean_us, "Mean over the ranks.")
        .def_ro("messages", &Price::messages, "Signals of all ranks and roles together.")
        .def_ro("operations", &Price::operations, "Steps and events evaluated: what the answer cost.")
        .def_ro("completion_us", &Price::completion_us, "Completion of each rank.")
        .def("__repr__", [](const Price& price) {
            return "<Price: last " + show_number(price.last_us) + " us, first " + show_number(price.first_us) +
                   " us, " + std::to_string(price.messages) + " messages>";
        });

    python::class_to_send<Message>(m, "Message", "One message of the evaluated episode; times in microseconds.")
        .def_prop_ro(
            "from_rank", [](const Message& message) { return show_member(message.from); },
            "Who signals: a rank, or a role by its letter.")
        .def_prop_ro(
            "to_rank", [](const Message& message) { return show_member(message.to); }, "Who awaits.")
        .def_ro("sent_us", &Message::sent_us, "The sender's CPU starts on it.")
        .def_ro("arrived_us", &Message::arrived_us, "Sent + o + L.")
        .def_ro("received_us", &Message::received_us, "The receiver's CPU is done with it.");

    m.def(
        "price",
        [](const Plan& plan, const LogP& logp, Receive receive, const LateRanks& late) {
            return price(plan, logp, receive, to_late(late));
        },
        "plan"_a, "logp"_a, "receive"_a = Receive::at_await, "late"_a = LateRanks{}, NoGil(),
        "Evaluates one episode exactly (Hoefler et al., section 2, without its simplifications).\n\n"
        "`late` maps ranks to the microseconds by which they enter after the others.");
    m.def(
        "messages",
        [](const Plan& plan, const LogP& logp, Receive receive, const LateRanks& late) {
            return price_messages(plan, logp, receive, to_late(late));
        },
        "plan"_a, "logp"_a, "receive"_a = Receive::at_await, "late"_a = LateRanks{}, NoGil(),
        "The same evaluation with every message, in order of (received_us, to_rank, from_rank).");
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "Barriers as plans: make, prove, price and draw them.";
    m.attr("__version__") = TOLLBAR_VERSION;
    nb::set_leak_warnings(false);  // a program may end with barriers in its variables
    m.attr("__compiler__") = TOLLBAR_COMPILER;
    // Arguments that the library refuses have a type of their own: a ValueError of anything else is a bug.
    nb::exception<std::invalid_argument>(m, "InvalidArgument", PyExc_ValueError)
        .attr("__doc__") = "An argument makes no sense; the text says which, and what is accepted.";
    bind_plans(m);
    bind_verify(m);
    bind_price(m);
    bind_group(m);
    bind_workload(m);
    bind_barrier(m);
    bind_environment(m);
    bind_tuning(m);
    bind_nicd(m);
    bind_watch(m);
}
