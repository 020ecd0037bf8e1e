// SPDX-License-Identifier: Apache-2.0
// The functions beside a price: the closed forms of the LogP paper, the period of a loop of barriers, and parameters
// for messages that carry something and ranks that handle many.
#include "ending.hpp"
#include "models.hpp"
#include "sending.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/models/logp.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace nb = nanobind;
using namespace nb::literals;
using namespace tollbar;

template <>
struct python::Fields<ClosedForm> {
    static constexpr std::tuple list{&ClosedForm::full_us, &ClosedForm::simplified_us};
};

namespace {

/// The form of a plan of the catalogue. Its spelling, not its steps, says which formula is meant; the plan was
/// made from it, so it need not be checked again.
std::optional<ClosedForm> form_of(const Plan& plan, const LogP& logp) {
    const std::string_view spelling = plan.name();
    const std::size_t colon = std::min(spelling.find(':'), spelling.size());
    const std::string_view name = spelling.substr(0, colon);
    const auto known = std::ranges::find(catalogue(), name, &Algorithm::name);
    if (known == catalogue().end()) return std::nullopt;
    const std::string_view digits = colon == spelling.size() ? known->defaults : spelling.substr(colon + 1);
    Rank parameter = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), parameter);
    return closed_form(name, parameter, plan.ranks(), logp);
}

}  // namespace

void bind_logp(nb::module_& m) {
    python::class_to_send<ClosedForm>(m, "ClosedForm", "The LogP paper's formulas for a plan's price.")
        .def_ro("full_us", &ClosedForm::full_us, "As the paper derives it.")
        .def_ro("simplified_us", &ClosedForm::simplified_us,
                "As the paper prints it after its \"~\", which assumes o > g.");
    m.def("closed_form", &form_of, "plan"_a, "logp"_a,
          "The paper's formula for a plan of the catalogue, selected by its spelling: central, combining:N,\n"
          "tournament, dissemination. None for the others, for which the paper has no formula.");
    m.def("loop_period_us", &loop_period_us, "plan"_a, "logp"_a, "receive"_a = Receive::at_await,
          nb::call_guard<python::LockGivenUp>(),
          "The period of a loop of nothing but this barrier, as a benchmark reports it that divides a loop's time by\n"
          "its length. Below the price of a single barrier where ranks that leave early begin the next one early.");
    m.def("with_payload", &with_payload, "logp"_a, "G"_a, "bytes"_a,
          "LogGP (Alexandrov et al. 1995): L and g when every message carries so many bytes, each after the first\n"
          "taking G microseconds.");
    m.def("with_occupancy", &with_occupancy, "logp"_a, "occupancy_us"_a,
          "Separates two costs: a message on the longest path still costs 2o + L, and each further message of a rank\n"
          "costs that rank the occupancy.");
}
