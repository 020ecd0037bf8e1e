// SPDX-License-Identifier: Apache-2.0
// Predictions for machines that are not here: NICs, more threads than processors, and the caches of many cores.
#include <tollbar/algorithms.hpp>
#include <tollbar/models/cores.hpp>
#include <tollbar/models/logp.hpp>
#include <tollbar/models/nic.hpp>
#include <tollbar/models/progress.hpp>
#include <tollbar/models/scheduler.hpp>
#include <tollbar/models/workload.hpp>

#include <iostream>

int main() {
    namespace nic_model = tollbar::nic_model;
    namespace scheduler = tollbar::scheduler;
    namespace cores = tollbar::cores;

    const tollbar::Plan pairwise = tollbar::make_plan("pairwise", 16);
    const nic_model::Parameters nic = nic_model::preset(nic_model::printed_nics().front().name);
    const tollbar::LogP logp{.L = 10, .o = 5, .g = 3};  // microseconds
    std::cout << "one barrier after another: " << tollbar::loop_period_us(pairwise, logp) << " us each\n";

    const tollbar::Workload work = tollbar::parse_workload("100~0.1");
    const double host_us = nic_model::simulate(pairwise, nic_model::Where::host, nic, work).per_barrier_us();
    const double nic_us = nic_model::simulate(pairwise, nic_model::Where::nic, nic, work).per_barrier_us();
    std::cout << "16 hosts: a NIC saves " << host_us - nic_us << " us of " << host_us << '\n';

    const scheduler::Machine machine{.processors = 4};
    const scheduler::Application application{.threads = 16, .waiting = scheduler::Waiting::smart};
    std::cout << "16 threads on 4 processors: " << scheduler::simulate(machine, {application}).completed_us << " us\n";

    const tollbar::Watch watch = [](const tollbar::Progress& progress) {  // long simulations say how far they are
        std::cerr << progress.passed << " of " << progress.total << '\n';
    };
    const cores::Outcome caches = cores::simulate(cores::machine(cores::machine_names().front()), {.threads = 16},
                                                  watch);
    std::cout << "16 cores: " << caches.barrier_ns << " ns a barrier, " << caches.misses << " misses\n";
}
