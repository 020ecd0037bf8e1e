// SPDX-License-Identifier: Apache-2.0
// The part of a visiting PE that does not depend on its barrier's signals.
#pragma once

#include "transports/visitor.hpp"

#include <shmem.h>
#include <string>
#include <vector>

namespace tollbar::testing {

/// Open MPI answers other PEs only while it is called; an idle PE calls it.
inline void (*answer)() = nullptr;

template <class Near>
class Far : public Near {
public:
    using Near::Near;
    void idle() {
        if (answer != nullptr) answer();
    }
};

/// Does at the barrier what this PE's desk says, until it says stop.
template <class M, class Barrier>
void serve(Barrier* barrier, Board& board, bool far) {
    const auto self = static_cast<Rank>(shmem_my_pe());
    if (far)
        Visitor<Far<M>>(Far<M>(barrier), board, self).serve();
    else
        Visitor<M>(M(barrier), board, self).serve();
}

/// Serves with a barrier whose signals are not the library's; false where it knows none of that name.
using ServeOther = bool (*)(const std::string& signals, const std::string& plan, Board& board, bool far);

/// Servers from source files that another part of the build links in.
inline std::vector<ServeOther>& others() {
    static std::vector<ServeOther> all;
    return all;
}

}  // namespace tollbar::testing
