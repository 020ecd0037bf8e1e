// SPDX-License-Identifier: Apache-2.0
// What the measuring programs of OpenSHMEM have in common: the job, the command line, and who prints.
#include "program.hpp"

#include "flags.hpp"

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace tollbar::bench {

namespace {

ShmemProgram read(const char* name, const MpiJob& job, int count, char** words, const std::vector<NumberFlag>& flags) {
    std::vector<const char*> left(words, words + count);
    ShmemProgram program{.name = name, .job = job, .options = {}, .cpus = usable_cpus(), .numbers = {}};
    for (const NumberFlag& flag : flags) {
        const std::string text = take_value(left, flag.name);
        program.numbers.push_back(text.empty() ? flag.value : read_number(flag.name, text, flag.lowest, flag.highest));
    }
    program.options = parse_options(static_cast<int>(left.size()), left.data());
    program.options.ranks = job.ranks();
    if (job.ranks() < 2 && !program.options.help)
        throw WrongUse("there is one PE; start more by the launcher: oshrun -n 2 " + std::string(name));
    return program;
}

std::string usage_of(const std::vector<NumberFlag>& flags) {
    std::string text;
    for (const NumberFlag& flag : flags)
        text += "  " + std::string(flag.name) + " N  from " + std::to_string(flag.lowest) + " to " +
                std::to_string(flag.highest) + " (default " + std::to_string(flag.value) + ")\n";
    return "and, where the launcher says how many PEs there are:\n" + text;
}

}  // namespace

Versions ShmemProgram::versions() {
    std::array<char, SHMEM_MAX_NAME_LEN> vendor{};
    int major = 0;
    int minor = 0;
    shmem_info_get_name(vendor.data());
    shmem_info_get_version(&major, &minor);
    return {{"mpi", MpiJob::mpi()},
            {"shmem", std::string(vendor.data())},
            {"shmem_api", std::to_string(major) + "." + std::to_string(minor)}};
}

int run_shmem_program(const char* name, int count, char** words, const std::vector<NumberFlag>& flags,
                      const std::function<int(const ShmemProgram&)>& act) {
    const ShmemJob shmem;
    const MpiJob job(&count, &words);
    // Nothing but PE 0's records is to be read.
    if (job.rank() != 0 && std::freopen("/dev/null", "w", stdout) == nullptr) return 1;
    try {
        const ShmemProgram program = read(name, job, count, words, flags);
        if (!program.options.help) return act(program);
        std::fputs((usage(name) + usage_of(flags)).c_str(), stdout);
        return 0;
    } catch (const WrongUse& wrong) {
        if (job.rank() == 0) std::fprintf(stderr, "%s: %s\n", name, wrong.what());
        return 2;  // everybody has read the same words
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: PE %u: %s\n", name, job.rank(), error.what());
        shmem_global_exit(1);
        return 1;
    }
}

}  // namespace tollbar::bench
