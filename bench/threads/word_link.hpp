// SPDX-License-Identifier: Apache-2.0
// Words of shared memory between two ranks, laid out and used as the barriers' are: the two directions of channel 0
// in one line, every further channel in a line of its own.
#pragma once

#include "round_trips.hpp"

#include <tollbar/waiting.hpp>
#include <tollbar/wired.hpp>

#include <array>
#include <cstdint>

namespace tollbar::bench {

/// May lie in memory that processes share.
struct WordLink {
    struct alignas(line_bytes) Line {
        std::array<Word<NativeSync>, 2> words{};  ///< towards rank 1, and back
    };

    std::array<Line, most_messages> lines{};
    std::array<Bell<NativeSync>, 2> bells{};  ///< of either rank
};

/// Memory order: as that of every word, release in send(), acquire in receive(). Shares no line with the other end.
class alignas(line_bytes) WordEnd {
public:
    WordEnd(Rank rank, WordLink& link, Ringing ringing, Crowding crowding) noexcept
        : rank_(rank), link_(link), ringing_(ringing),
          patience_(patience_for<NativeSync>(wait_policy::automatic, crowding)) {}

    void begin(std::uint32_t) noexcept { ++episode_; }
    void send(std::uint32_t channel) noexcept { step(channel, 1 - rank_).signal(episode_, ringing_); }
    void receive(std::uint32_t channel) noexcept {
        const WiredStep<NativeSync> awaited = step(channel, rank_);
        await(*awaited.word, episode_, *awaited.bell, patience_, ringing_, Never{});
    }

private:
    /// What is done to the word of that channel towards that rank.
    WiredStep<NativeSync> step(std::uint32_t channel, Rank to) const noexcept {
        return {.word = &link_.lines[channel].words[1 - to],
                .bell = &link_.bells[to],
                .share = 1,
                .skip = 0,
                .deed = Deed::await,
                .between_processors = false};
    }

    Rank rank_;
    WordLink& link_;
    Ringing ringing_;
    Patience patience_;
    Episode episode_ = 0;
};

}  // namespace tollbar::bench
