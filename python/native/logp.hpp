// SPDX-License-Identifier: Apache-2.0
// Adds to the module what stands beside a price: closed forms and the period of a loop.
#pragma once

#include <nanobind/nanobind.h>

void bind_logp(nanobind::module_& m);
