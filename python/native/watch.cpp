// SPDX-License-Identifier: Apache-2.0
// Reads how far the ranks of a job are that `tollbar run --timeout` watches.
#include "ending.hpp"
#include "parts.hpp"

#include "base/report.hpp"
#include "doors/pmpi/watch/watch.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

void bind_watch(nb::module_& m) {
    m.def(
        "listed", [](const std::vector<std::uint32_t>& ranks) { return tollbar::detail::listed(ranks); }, "ranks"_a,
        "Ranks, which ascend, in words: \"3\", \"3 and 5\"; of more than eight, three and more that follow each other\n"
        "are together: \"0-16 and 18-40\".");
    m.def(
        "waits_in", &tollbar::detail::watch::waits_in, "path"_a, "apart_s"_a, nb::call_guard<python::LockGivenUp>(),
        "The sentences about ranks that have waited between two looks, `apart_s` seconds apart, at the file in which\n"
        "they keep account of their calls: `path` is /proc/PID/fd/N of one of them. Raises RuntimeError where it is\n"
        "no such file of this user's.");
    m.def("remove_left_overs", &tollbar::detail::watch::remove_left_overs,
          "Removes the files of accounts of this user's jobs that were killed in MPI_Init, and of which none is left.");
}
