// SPDX-License-Identifier: Apache-2.0
// Adds to the module the tuning file: its grammar and its writer.
#pragma once

#include <nanobind/nanobind.h>

void bind_tuning(nanobind::module_& m);
