// SPDX-License-Identifier: Apache-2.0
// Neighbours: who else wants the CPUs while a program measures.
#pragma once

#include "options.hpp"

#include <functional>

namespace tollbar::bench {

/// Has a forked process measure beside those neighbours and gives its exit status; alone, measures in this one.
/// Everything started and made for it has ended and is gone afterwards, after SIGINT, SIGTERM and SIGHUP too. The
/// caller must have no other threads. Throws std::runtime_error that says why there is no such neighbours here.
int beside(Neighbours neighbours, const std::function<int()>& measure);

}  // namespace tollbar::bench
