// SPDX-License-Identifier: Apache-2.0
// Adds the simulator of cores to the module.
#pragma once

#include <nanobind/nanobind.h>

void bind_cores(nanobind::module_& m);
