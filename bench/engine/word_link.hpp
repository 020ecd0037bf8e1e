// SPDX-License-Identifier: Apache-2.0
// Words of shared memory between two ranks, laid out and used as the barriers' are: the two directions of channel 0
// in one line, every further channel in a line of its own.
#pragma once

#include "round_trips.hpp"

#include <tollbar/detail/waiting.hpp>
#include <tollbar/detail/words.hpp>

#include <array>
#include <cstdint>

namespace tollbar::bench {

using namespace detail;

/// May lie in memory that processes share.
struct WordLink {
    struct alignas(line_bytes) SharedLine {
        std::array<Word<NativeSync>, 2> words{};  ///< towards rank 1, and back
    };

    std::array<SharedLine, most_messages> lines{};
    std::array<Sleepers<NativeSync>, 2> sleepers{};  ///< of either rank
};

/// Memory order: as that of every word, release in send(), acquire in receive(). Shares no line with the other end.
class alignas(line_bytes) WordEnd {
public:
    WordEnd(Rank rank, WordLink* link, Waking waking, Occupancy occupancy) noexcept
        : rank_(rank), link_(*link), waking_(waking),
          budget_(wait_budget_for<NativeSync>(wait_policy::automatic, occupancy)) {}

    void begin(std::uint32_t) noexcept { ++episode_; }
    void send(std::uint32_t channel) noexcept { step(channel, 1 - rank_).signal(episode_, waking_); }
    void receive(std::uint32_t channel) noexcept {
        const WordStep<NativeSync> awaited = step(channel, rank_);
        wait<NativeSync>(AwaitedWord<NativeSync>{*awaited.word, episode_, *awaited.sleepers, episode_, waking_},
                         budget_, Never{});
    }

private:
    /// The step that tells that rank by the word of that channel.
    WordStep<NativeSync> step(std::uint32_t channel, Rank to) const noexcept {
        return {.word = &link_.lines[channel].words[1 - to],
                .sleepers = &link_.sleepers[to],
                .share = 1,
                .skip = 0,
                .kind = WordKind::await,
                .between_processors = false};
    }

    Rank rank_;
    WordLink& link_;
    Waking waking_;
    WaitBudget budget_;
    Episode episode_ = 0;
};

}  // namespace tollbar::bench
