// SPDX-License-Identifier: Apache-2.0
// Barriers that a program measures between hosts whose NICs run the barrier: plans, a count at a NIC, a count in the
// switch.
#pragma once

#include "launch.hpp"
#include "network.hpp"

#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tollbar::bench {

/// The daemons of the hosts' NICs and of the switch between them, for as long as this lives.
class Nics {
public:
    /// Throws std::runtime_error that says what is missing.
    explicit Nics(std::shared_ptr<const Network> network);
    Nics(const Nics&) = delete;
    Nics& operator=(const Nics&) = delete;
    ~Nics();

    const Network& network() const noexcept { return *network_; }
    std::string socket(Rank rank) const;

private:
    void start(std::vector<std::string> words);
    std::string key_file() const;
    void write_key() const;

    std::shared_ptr<const Network> network_;
    std::vector<pid_t> daemons_;
};

/// "card:PLAN": the exchanges and both counts, asleep, asleep after a look, and busy polling; in `skipped` where there
/// can be no NICs.
void add_nics(Roster& roster, Rank ranks, const std::shared_ptr<const Network>& network);

}  // namespace tollbar::bench
