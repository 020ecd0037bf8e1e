// SPDX-License-Identifier: Apache-2.0
// Both files of the program, in the namespace that the build names.
#include "meeting.hpp"

namespace FILE_NAME {

void enter(tollbar::participant& self) { self.arrive(); }

void leave(tollbar::participant& self) { self.wait(); }

void arrive(tollbar::barrier<>& barrier, std::ptrdiff_t times) { static_cast<void>(barrier.arrive(times)); }

}  // namespace FILE_NAME
