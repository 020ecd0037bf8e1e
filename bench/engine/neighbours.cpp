// SPDX-License-Identifier: Apache-2.0
// Neighbours: who else wants the CPUs while a program measures.
#include "neighbours.hpp"

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

int beside(Neighbours neighbours, const std::function<int()>& measure) {
    if (neighbours == Neighbours::alone) return measure();
    std::optional<CpuGroups> group;  // outlives the children: they are inside
    Children children;
    if (neighbours == Neighbours::cgroup || neighbours == Neighbours::quota)
        group.emplace(1, autogroup_nice().value_or(0));
    if (neighbours == Neighbours::quota) group->limit(0, quota_of_cpus);
    if (neighbours == Neighbours::neighbour || neighbours == Neighbours::neighbours) start_loop(children);
    if (neighbours == Neighbours::neighbours) start_loop(children);
    if (neighbours == Neighbours::session) start_loop(children, leave_session);
    if (neighbours == Neighbours::cgroup) start_loop(children, [&] { group->enter(0); });
    const pid_t measuring = children.split();
    if (measuring != 0) return children.wait_for(measuring);
    if (neighbours == Neighbours::quota) group->enter(0);
    if (group) group->forget();
    return measure();
}

}  // namespace tollbar::bench
