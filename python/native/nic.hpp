// SPDX-License-Identifier: Apache-2.0
// Adds the timing model of barriers on NICs to the module.
#pragma once

#include <nanobind/nanobind.h>

void bind_nic(nanobind::module_& m);
