// SPDX-License-Identifier: Apache-2.0
// Recorded programs whose threads send each other messages between barriers.
#pragma once

#include <tollbar/models/scheduler.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tollbar::scheduler {

/// Messages that were sent and not yet received, by sender and receiver.
class Messages {
public:
    void send(std::uint32_t from, std::uint32_t to) { ++under_way_[{from, to}]; }
    void receive(std::uint32_t from, std::uint32_t to) { --under_way_[{from, to}]; }
    bool has(std::uint32_t from, std::uint32_t to) const {
        const auto found = under_way_.find({from, to});
        return found != under_way_.end() && found->second > 0;
    }
    /// Sender and receiver of a message that was not received.
    std::optional<std::pair<std::uint32_t, std::uint32_t>> left() const {
        for (const auto& [channel, messages] : under_way_)
            if (messages > 0) return channel;
        return std::nullopt;
    }

private:
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> under_way_;
};

/// Throws std::invalid_argument, whose text begins with `name`, for events that cannot be run to their end. How many
/// barriers there are.
std::uint64_t check_events(const std::vector<std::vector<Event>>& events, const std::string& name);

}  // namespace tollbar::scheduler
