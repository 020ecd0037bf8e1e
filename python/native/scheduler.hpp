// SPDX-License-Identifier: Apache-2.0
// Adds the scheduler simulator to the module.
#pragma once

#include <nanobind/nanobind.h>

void bind_scheduler(nanobind::module_& m);
