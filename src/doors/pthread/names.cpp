// SPDX-License-Identifier: Apache-2.0
// The names by which programs call the door where it is preloaded. They carry no version, so that they take the calls
// of programs that were linked with glibc before 2.34 and after.
#include "door.hpp"

using namespace tollbar::detail;

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): glibc's are reserved
#pragma GCC visibility push(default)
extern "C" {

int pthread_barrier_init(pthread_barrier_t* object, const pthread_barrierattr_t* attributes, unsigned count) noexcept {
    return pthread_door::init(object, attributes, count);
}

int pthread_barrier_wait(pthread_barrier_t* object) noexcept {
    return pthread_door::wait(object, __builtin_return_address(0));
}

int pthread_barrier_destroy(pthread_barrier_t* object) noexcept { return pthread_door::destroy(object); }
}
#pragma GCC visibility pop
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
