// SPDX-License-Identifier: Apache-2.0
// Numbers the slots in the order of awaits.
#include "slots.hpp"

#include <algorithm>

namespace tollbar::shmem {

namespace {

/// Which of the awaits of `program` hears `from`.
std::uint32_t await_of(const Program& program, Rank from) {
    std::uint32_t slot = 0;
    for (const Step step : program) {
        if (step == await(from)) break;
        if (is_await(step)) ++slot;
    }
    return slot;
}

}  // namespace

std::vector<Wire> wire(const Plan& plan, Rank self) {
    std::vector<Wire> wires;
    std::uint32_t heard = 0;
    for (const Step step : plan.program(self)) {
        const bool sends = is_signal(step);
        wires.push_back(
            {.sends = sends, .peer = step.peer, .slot = sends ? await_of(plan.program(step.peer), self) : heard++});
    }
    return wires;
}

std::uint32_t slots_of(const Plan& plan) {
    std::ptrdiff_t most = 0;
    for (Rank rank = 0; rank < plan.ranks(); ++rank)
        most = std::max(most, std::ranges::count_if(plan.program(rank), is_await));
    return static_cast<std::uint32_t>(most);
}

}  // namespace tollbar::shmem
