// SPDX-License-Identifier: Apache-2.0
#include "composite.hpp"

namespace tollbar::mpi {

std::uint32_t Composite::take_elsewhere(const Step& step, Episode episode) noexcept {
    switch (step.by) {
        case Step::By::message: return parts_.messages->take(step.message, episode);
        case Step::By::outer_arrival:
            return !gone_ && note(parts_.outer->arrive() ? OuterBarrier::State::over : OuterBarrier::State::gone);
        default: return outer_is_over() ? 1 : 0;
    }
}

bool Composite::outer_is_over() noexcept { return !gone_ && note(parts_.outer->test()); }

/// Memory order: release, pairs with gone() of the others here.
bool Composite::note(OuterBarrier::State state) noexcept {
    if (state == OuterBarrier::State::gone) {
        gone_ = true;
        if (parts_.outer_is_gone != nullptr) parts_.outer_is_gone->store(true, std::memory_order_release);
    }
    return state == OuterBarrier::State::over;
}

}  // namespace tollbar::mpi
