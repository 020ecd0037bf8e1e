// SPDX-License-Identifier: Apache-2.0
// A user's program that predicts: two threads on one processor, and eight nodes whose network cards meet.
#include <tollbar/algorithms.hpp>
#include <tollbar/models/nic.hpp>
#include <tollbar/models/scheduler.hpp>

#include <cstdio>

int main() {
    using namespace tollbar;
    const scheduler::Machine machine{.processors = 1};
    const scheduler::Application program{.threads = 2, .barriers = 3, .waiting = scheduler::Waiting::smart};
    const scheduler::Outcome run = scheduler::simulate(machine, {program});

    const nic_model::Parameters nic = nic_model::preset("lanai4.3");
    const Plan plan = make_plan("pairwise", 8);
    const double host_us = nic_model::simulate(plan, nic_model::Where::host, nic).last_us;
    const double nic_us = nic_model::simulate(plan, nic_model::Where::nic, nic).last_us;

    std::printf("met %d times, NICs are %s\n", static_cast<int>(run.applications.at(0).barriers),
                nic_us < host_us ? "faster" : "slower");
}
