// SPDX-License-Identifier: Apache-2.0
// Episodes across the end of 32 and of 64 bits, by puts and stores: every toll is paid, no slot is blamed.
#include "wrap.hpp"

using namespace tollbar;
using namespace tollbar::testing;

int main() {
    const auto as_it_is = [](ShmemTransport transport, Block) { return transport; };
    run_across([&](Episode before) {
        const auto ranks = static_cast<Rank>(shmem_n_pes());
        return across(before, make_plan("dissemination", ranks), Signals::puts, false, as_it_is) +
               across(before, make_plan("mcs", ranks), Signals::stores, true, as_it_is) +
               across(before, make_plan("mcs", ranks), Signals::stores, false, as_it_is) +
               across(before, make_plan("counter", ranks), Signals::stores, true, as_it_is) +
               across(before, make_plan("counter", ranks), Signals::puts, false, as_it_is);
    });
}
