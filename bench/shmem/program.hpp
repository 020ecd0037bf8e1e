// SPDX-License-Identifier: Apache-2.0
// What the measuring programs of OpenSHMEM have in common: the job, the command line, and who prints.
#pragma once

#include "shmem_job.hpp"

#include "candidate.hpp"
#include "cpus.hpp"
#include "environment.hpp"
#include "job.hpp"
#include "options.hpp"
#include "rounds.hpp"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace tollbar::bench {

/// A flag of one program: a whole number.
struct NumberFlag {
    const char* name;
    std::uint64_t value;  ///< when it is not given
    std::uint64_t lowest;
    std::uint64_t highest;
};

struct ShmemProgram {
    const char* name;
    const MpiJob& job;
    Options options;
    std::vector<int> cpus;
    std::vector<std::uint64_t> numbers;  ///< the values of the program's own flags, in order

    bool crowded() const noexcept { return job.ranks() > cpus.size(); }

    /// What stands in the environment record.
    static Versions versions();
};

/// Begins the job, reads the command line, acts; one line on stderr for what cannot be. Gives the exit status.
int run_shmem_program(const char* name, int count, char** words, const std::vector<NumberFlag>& flags,
                      const std::function<int(const ShmemProgram&)>& act);

}  // namespace tollbar::bench
