// SPDX-License-Identifier: Apache-2.0
// A rank of a named group in a program of its own: visitor NAME RANKS RANK PLAN BOARD'S-DESCRIPTOR.
#include "toll.hpp"

#include <cstdio>
#include <cstdlib>

int main(int count, char** arguments) {
    using namespace tollbar;
    using namespace tollbar::detail;
    if (count != 6) return 2;
    const auto ranks = static_cast<Rank>(std::atoi(arguments[2]));
    const auto rank = static_cast<Rank>(std::atoi(arguments[3]));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        testing::Board board(ranks, std::atoi(arguments[5]));
        group group = group::open(arguments[1], ranks, {.plan = arguments[4]});
        testing::serve(group, board, rank);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "visitor %s: %s\n", arguments[3], error.what());
        return 1;
    }
}
