// SPDX-License-Identifier: Apache-2.0
// Adds to the module groups of ranks, each with a participant a thread.
#pragma once

#include <nanobind/nanobind.h>

void bind_group(nanobind::module_& m);
