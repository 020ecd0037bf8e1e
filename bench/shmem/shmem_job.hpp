// SPDX-License-Identifier: Apache-2.0
// The OpenSHMEM job that a measuring program is, and memory in its symmetric heap. Its PEs are the ranks of an MPI as
// well, because what is compared needs both.
#pragma once

#include "job.hpp"

#include <shmem.h>

#include <cstddef>
#include <new>
#include <span>

namespace tollbar::bench {

/// OpenSHMEM from its beginning to its end; where it lies on an MPI, that one too.
class ShmemJob {
public:
    ShmemJob() { shmem_init(); }
    ~ShmemJob() { shmem_finalize(); }
    ShmemJob(const ShmemJob&) = delete;
    ShmemJob& operator=(const ShmemJob&) = delete;
};

/// The PEs, which are the ranks of an MPI as well.
class PeJob final : private ShmemJob, public MpiJob {
public:
    void abort() const noexcept override { shmem_global_exit(1); }
};

/// The versions of the OpenSHMEM and of the MPI below it, for the environment record.
inline Versions shmem_versions() {
    char vendor[SHMEM_MAX_NAME_LEN] = "";
    int major = 0;
    int minor = 0;
    shmem_info_get_name(vendor);
    shmem_info_get_version(&major, &minor);
    return {
        {"mpi", mpi_version()}, {"shmem", vendor}, {"shmem_api", std::to_string(major) + "." + std::to_string(minor)}};
}

/// Objects at one address in the heap of every PE, all zero. Making and unmaking are collective.
template <class T>
class Symmetric {
public:
    explicit Symmetric(std::size_t count) : objects_(static_cast<T*>(shmem_calloc(count, sizeof(T)))), count_(count) {
        if (objects_ == nullptr) throw std::bad_alloc();
        shmem_barrier_all();
    }
    ~Symmetric() { shmem_free(objects_); }
    Symmetric(const Symmetric&) = delete;
    Symmetric& operator=(const Symmetric&) = delete;

    T* data() const noexcept { return objects_; }
    T& operator[](std::size_t index) const noexcept { return objects_[index]; }
    std::size_t size() const noexcept { return count_; }

private:
    T* objects_;
    std::size_t count_;
};

}  // namespace tollbar::bench
