// SPDX-License-Identifier: Apache-2.0
// Takes the place of candidates_door.cpp where libtollbar_pthread.so is not built.
#include "candidates.hpp"

namespace tollbar::bench {

bool add_door(Roster&, Rank) { return false; }

}  // namespace tollbar::bench
