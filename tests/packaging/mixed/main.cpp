// SPDX-License-Identifier: Apache-2.0
// usage: mixed right|MISUSE     right use across both files, or a wrong call in the file that the word names
#include "meeting.hpp"

#include <cstdio>
#include <string>

namespace {

/// Episodes that are entered in one file and left in the other, in every order.
void use_rightly(tollbar::participant& self) {
    for (int episode = 0; episode < 3; ++episode) {
        with_checks::enter(self);
        without_checks::leave(self);
        without_checks::enter(self);
        with_checks::leave(self);
        with_checks::enter(self);
        with_checks::leave(self);
        without_checks::enter(self);
        without_checks::leave(self);
    }
    std::puts("right");
}

}  // namespace

int main(int, char** words) {
    const std::string asked = words[1];
    tollbar::group group(1, {.plan = "turnstile"});
    tollbar::participant self = group.join(0);
    tollbar::barrier<> barrier(4);

    if (asked == "right") use_rightly(self);
    if (asked == "checked wait") with_checks::leave(self);
    if (asked == "unchecked wait") without_checks::leave(self);
    if (asked == "checked arrive") with_checks::arrive(barrier, 5);
    if (asked == "unchecked arrive") without_checks::arrive(barrier, 5);
    std::puts("end");
}
