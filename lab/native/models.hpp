// SPDX-License-Identifier: Apache-2.0
// The module's parts, each in a file of its name.
#pragma once

#include <nanobind/nanobind.h>

void bind_logp(nanobind::module_& m);       ///< LogP beyond a price
void bind_scheduler(nanobind::module_& m);  ///< the simulator of schedulers
void bind_cores(nanobind::module_& m);      ///< the simulator of caches
void bind_nic(nanobind::module_& m);        ///< the simulator of NICs
