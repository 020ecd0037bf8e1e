// SPDX-License-Identifier: Apache-2.0
// Episodes across the end of 32 and of 64 bits, by counters: every toll is paid.
#include "counters.hpp"
#include "transports/shmem/wrap.hpp"

#include <utility>

using namespace tollbar;
using namespace tollbar::testing;

int main() {
    const auto by_counters = [](ShmemTransport transport, Block block) {
        return bench::CounterTransport(std::move(transport), bench::counter_kinds.front().make(block));
    };
    run_across([&](Episode before) {
        const Plan plan = make_plan("dissemination", static_cast<Rank>(shmem_n_pes()));
        return across(before, plan, Signals::puts, false, by_counters);
    });
}
