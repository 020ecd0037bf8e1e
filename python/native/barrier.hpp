// SPDX-License-Identifier: Apache-2.0
// Adds to the module barriers as Python's threading and multiprocessing have them.
#pragma once

#include <nanobind/nanobind.h>

void bind_barrier(nanobind::module_& m);
