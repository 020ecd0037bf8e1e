// SPDX-License-Identifier: Apache-2.0
// Company: who else wants the CPUs while a program measures.
#include "company.hpp"

#include "children.hpp"
#include "cpu_groups.hpp"

#include <optional>

namespace tollbar::bench {

namespace {

constexpr double quota_of_cpus = 1.5;

/// An endless loop, in the place that it is led to.
void start_loop(
    Children& children, const std::function<void()>& lead = [] {}) {
    children.start([&] {
        lead();
        for (volatile unsigned turns = 0;;) turns = turns + 1;
    });
}

}  // namespace

int beside(Company company, const std::function<int()>& measure) {
    if (company == Company::alone) return measure();
    std::optional<CpuGroups> group;  // outlives the children: they are inside
    Children children;
    if (company == Company::cgroup || company == Company::quota) group.emplace(1, autogroup_nice().value_or(0));
    if (company == Company::quota) group->limit(0, quota_of_cpus);
    if (company == Company::neighbour || company == Company::neighbours) start_loop(children);
    if (company == Company::neighbours) start_loop(children);
    if (company == Company::session) start_loop(children, leave_session);
    if (company == Company::cgroup) start_loop(children, [&] { group->enter(0); });
    const pid_t measuring = children.split();
    if (measuring != 0) return children.wait_for(measuring);
    if (company == Company::quota) group->enter(0);
    if (group) group->forget();
    return measure();
}

}  // namespace tollbar::bench
