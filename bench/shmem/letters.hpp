// SPDX-License-Identifier: Apache-2.0
// What the PEs of a dynamic sparse data exchange tell each other: to whom, how much, and which bytes.
#pragma once

#include <tollbar/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

namespace tollbar::bench {

constexpr std::size_t longest_letter = 1024;
constexpr unsigned idle_tests = 4;  ///< after so many that find nothing a rank gives its CPU away, where they share it

/// One letter of an iteration; its text is in the sender's outbox.
struct Letter {
    Rank to;
    std::uint32_t bytes;
};

/// The byte that fills a letter: whoever reads it knows it from outside.
inline unsigned char mark_of(std::uint64_t iteration, Rank from, Rank to) noexcept {
    return static_cast<unsigned char>(iteration * 31 + from * 7 + to * 3 + 1);
}

/// Whether each byte is the mark.
inline bool is_whole(std::span<const unsigned char> text, unsigned char mark) noexcept {
    unsigned char differing = 0;
    for (const unsigned char byte : text) differing |= byte ^ mark;
    return differing == 0;
}

/// Chooses for each iteration ceil(log2 ranks) different ranks and 1 to 1024 bytes for each, and writes them.
class Letters {
public:
    /// `outbox` has room for count(ranks) letters of the longest.
    Letters(Rank self, Rank ranks, std::uint64_t seed, unsigned char* outbox)
        : self_(self), ranks_(ranks), outbox_(outbox), letters_(count(ranks)), random_(seed * 1'000'003 + self) {}

    static std::size_t count(Rank ranks) noexcept {
        std::size_t rounds = 0;
        for (std::uint64_t reached = 1; reached < ranks; reached *= 2) ++rounds;
        return rounds;
    }

    const std::vector<Letter>& write(std::uint64_t iteration) {
        for (std::size_t i = 0; i < letters_.size(); ++i) {
            do letters_[i].to = static_cast<Rank>(random_() % ranks_);
            while (letters_[i].to == self_ || chosen_before(i));
            letters_[i].bytes = static_cast<std::uint32_t>(1 + random_() % longest_letter);
            std::memset(text(i), mark_of(iteration, self_, letters_[i].to), letters_[i].bytes);
        }
        return letters_;
    }

    unsigned char* text(std::size_t index) const noexcept { return outbox_ + index * longest_letter; }

private:
    bool chosen_before(std::size_t index) const noexcept {
        for (std::size_t i = 0; i < index; ++i)
            if (letters_[i].to == letters_[index].to) return true;
        return false;
    }

    Rank self_;
    Rank ranks_;
    unsigned char* outbox_;
    std::vector<Letter> letters_;
    std::minstd_rand random_;
};

/// What has gone out and come in on one rank.
struct Mail {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t damaged = 0;
};

}  // namespace tollbar::bench
