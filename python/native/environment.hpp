// SPDX-License-Identifier: Apache-2.0
// Adds the table of environment variables and their reader to the module.
#pragma once

#include <nanobind/nanobind.h>

void bind_environment(nanobind::module_& m);
