// SPDX-License-Identifier: Apache-2.0
// The words of the measuring programs: what ranks compute between barriers.
#include "parts.hpp"

#include <tollbar/models/workload.hpp>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using namespace tollbar;

void bind_workload(nb::module_& m) {
    m.def(
        "parse_workload",
        [](const std::string& spelling) {
            Workload workload = parse_workload(spelling);
            return std::pair(std::move(workload.compute_us), workload.variation);
        },
        "spelling"_a,
        "What ranks compute between barriers: the computing times of the phases, and by which share they vary.\n"
        "US, an application's name, or either with ~SHARE behind it.");
}
