// SPDX-License-Identifier: Apache-2.0
// pthread_barrier_init, _wait and _destroy on gates. They have names of their own here, so that what is preloaded into
// programs can be linked into tests and measured beside glibc's.
#pragma once

#include <pthread.h>

namespace tollbar::detail::pthread_door {

/// 0, or EINVAL where glibc gives it: a count of 0, or of INT_MAX and more. A process-shared barrier that is not in
/// anonymous memory becomes glibc's: programs without this library may map it, too.
int init(pthread_barrier_t* object, const pthread_barrierattr_t* attributes, unsigned count) noexcept;

/// Makes it glibc's barrier, which wait() and destroy() know as such.
int init_of_glibc(pthread_barrier_t* object, const pthread_barrierattr_t* attributes, unsigned count) noexcept;

/// Looks for glibc's functions now, and not at their first call.
void find_glibc() noexcept;

/// 0, or PTHREAD_BARRIER_SERIAL_THREAD for one thread of each phase, the last. `caller` is named where TOLLBAR_TIMEOUT
/// asks who is missing. No cancellation point; leaves errno as it is.
/// Memory order: what every thread did before its call is visible to every thread after.
int wait(pthread_barrier_t* object, const void* caller) noexcept;

/// Waits for the threads that still leave the last phase; then the memory is the caller's.
/// Memory order: all accesses of those threads to the object happen before it returns.
int destroy(pthread_barrier_t* object) noexcept;

}  // namespace tollbar::detail::pthread_door
