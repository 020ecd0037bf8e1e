// SPDX-License-Identifier: Apache-2.0
// The names by which programs call the door where it is preloaded. They carry no version, so that they take the calls
// of programs that were linked with glibc before 2.34 and after.
#include "door.hpp"

#include "base/checkers.hpp"
#include "base/environment.hpp"
#include "base/say.h"

using namespace tollbar::detail;

namespace {

/// Before there are threads: a checker takes what one of them finds out for a race, as it knows no atomic accesses.
[[gnu::constructor]] void find_out_early() noexcept {
    if (checker() != nullptr) pthread_door::find_glibc();
}

bool is_for_checker() noexcept {
    const char* const tool = checker();
    if (tool != nullptr && environment::verbosity() >= 1)
        tollbar_say_once("pthread checker", "pthread barriers are left as they are: the program runs under %s", tool);
    return tool != nullptr;
}

}  // namespace

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): glibc's are reserved
#pragma GCC visibility push(default)
extern "C" {

int pthread_barrier_init(pthread_barrier_t* object, const pthread_barrierattr_t* attributes, unsigned count) noexcept {
    return is_for_checker() ? pthread_door::init_of_glibc(object, attributes, count)
                            : pthread_door::init(object, attributes, count);
}

int pthread_barrier_wait(pthread_barrier_t* object) noexcept {
    return pthread_door::wait(object, __builtin_return_address(0));
}

int pthread_barrier_destroy(pthread_barrier_t* object) noexcept { return pthread_door::destroy(object); }
}
#pragma GCC visibility pop
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
