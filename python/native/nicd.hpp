// SPDX-License-Identifier: Apache-2.0
// Adds to the module a talk with the daemon of the network card.
#pragma once

#include <nanobind/nanobind.h>

void bind_nicd(nanobind::module_& m);
