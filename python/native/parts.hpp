// SPDX-License-Identifier: Apache-2.0
// The parts of the module beside plans, proofs and prices; each in a file of its name.
#pragma once

#include <nanobind/nanobind.h>

void bind_group(nanobind::module_& m);        ///< groups of ranks, each with a participant a thread
void bind_workload(nanobind::module_& m);     ///< what measuring programs compute and measure
void bind_barrier(nanobind::module_& m);      ///< what the Python classes of barriers are made of
void bind_environment(nanobind::module_& m);  ///< the table of variables, and where files lie
void bind_tuning(nanobind::module_& m);       ///< the tuning file
void bind_nicd(nanobind::module_& m);         ///< talk with the daemon of a NIC
void bind_watch(nanobind::module_& m);        ///< the calls that ranks of an MPI are in
