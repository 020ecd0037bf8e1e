// SPDX-License-Identifier: Apache-2.0
// tollbar_lab._native: the models for Python. It shares the types of tollbar._native, which it imports first: plans,
// LogP.
#include "models.hpp"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

NB_MODULE(_native, m) {
    m.doc() = "The cost of barriers on machines that are not here.";
    nb::module_::import_("tollbar._native");
    bind_logp(m);
    bind_scheduler(m);
    bind_cores(m);
    bind_nic(m);
}
