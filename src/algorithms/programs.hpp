// SPDX-License-Identifier: Apache-2.0
// One function a family: the program of one member, from arithmetic alone.
#pragma once

#include <tollbar/plan.hpp>

namespace tollbar::detail {

// exchange.cpp: every rank ends up knowing of every other, and none leads.
Program dissemination(Rank self, Rank ranks, Rank ways);
Program pairwise(Rank self, Rank ranks);
Program butterfly(Rank self, Rank ranks);

// rooted.cpp: gather to rank 0, release from rank 0.
Program central(Rank self, Rank ranks);
Program combining(Rank self, Rank ranks, Rank n);
Program fway_tournament(Rank self, Rank ranks, Rank f);
Program mcs(Rank self, Rank ranks, Rank arrival_arity, Rank wakeup_arity);
Program tournament(Rank self, Rank ranks);
Program bst(Rank self, Rank ranks);

// counted.cpp: all ranks meet at role(0), of which there is one unless there is a single rank.
Program counted(Rank self, Rank ranks);

}  // namespace tollbar::detail
