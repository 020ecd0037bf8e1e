// SPDX-License-Identifier: Apache-2.0
// Dynamic sparse data exchange over OpenSHMEM (Raymond, "Implementing Split-Mode Barriers in OpenSHMEM"): nobody knows
// who will write to him. Notices go out by fetch-and-add and put, and the split barrier says when there are no more.
#pragma once

#include "shmem_job.hpp"

#include <sched.h>

#include <array>
#include <atomic>
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

/// The letters that one rank has sent and received.
struct Mail {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t damaged = 0;
};

/// One PE's end of the exchange. The queue of notices is a ring that is never reset: nobody gets more notices in an
/// iteration than there are other PEs.
class Exchange {
public:
    /// Collective.
    Exchange(Rank self, Rank ranks, std::uint64_t seed)
        : self_(self), ranks_(ranks), outbox_(Letters::count(ranks) * longest_letter), queue_(ranks), tail_(1),
          letters_(self, ranks, seed, outbox_.data()) {}

    /// Writes the letters of the next iteration and leaves a notice of each.
    void send() {
        ++iteration_;
        std::uint64_t slot = 0;
        for (const Letter& letter : letters_.write(iteration_)) {
            const int to = static_cast<int>(letter.to);
            const std::uint64_t place = shmem_ulong_atomic_fetch_inc(tail_.data(), to);
            shmem_ulong_p(&queue_[place % ranks_], notice(slot++, letter.bytes), to);
            ++mail_.sent;
        }
    }

    /// Fetches the letters whose notices are here; says whether there was any.
    bool receive() {
        bool any = false;
        for (; fetch(); any = true) {
        }
        return any;
    }

    /// Fetches the rest, once the barrier has told that all notices are here.
    void receive_rest() {
        const std::uint64_t tail = load(tail_[0]);
        while (taken_ < tail)
            if (!fetch()) return;  // counted as lost
    }

    const Mail& mail() const noexcept { return mail_; }

private:
    static constexpr std::uint64_t iteration_mask = (1U << 24) - 1;

    static std::uint64_t load(std::uint64_t& word) noexcept {
        // Pairs with whatever the library has put there: a notice is read once it is whole.
        return std::atomic_ref<std::uint64_t>(word).load(std::memory_order_acquire);
    }

    /// {iteration: 24 | PE: 16 | slot: 8 | bytes - 1: 16}
    std::uint64_t notice(std::uint64_t slot, std::uint64_t bytes) const noexcept {
        return (iteration_ & iteration_mask) << 40 | std::uint64_t{self_} << 24 | slot << 16 | (bytes - 1);
    }

    bool fetch() {
        const std::uint64_t found = load(queue_[taken_ % ranks_]);
        if (found >> 40 != (iteration_ & iteration_mask)) return false;
        const auto from = static_cast<Rank>(found >> 24 & 0xffff);
        const std::size_t slot = found >> 16 & 0xff;
        const std::size_t bytes = (found & 0xffff) + 1;
        shmem_getmem(inbox_.data(), letters_.text(slot), bytes, static_cast<int>(from));
        if (!is_whole({inbox_.data(), bytes}, mark_of(iteration_, from, self_))) ++mail_.damaged;
        ++mail_.received;
        ++taken_;
        return true;
    }

    Rank self_;
    Rank ranks_;
    Symmetric<unsigned char> outbox_;
    Symmetric<std::uint64_t> queue_;
    Symmetric<std::uint64_t> tail_;
    Letters letters_;
    std::array<unsigned char, longest_letter> inbox_{};
    std::uint64_t iteration_ = 0;
    std::uint64_t taken_ = 0;
    Mail mail_;
};

/// The paper's loop. A barrier has post(), which completes what the PE has put before, and test().
template <class Barrier>
void exchange_by(Exchange& exchange, Barrier& barrier, std::uint64_t iterations, bool crowded) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
        exchange.send();
        barrier.post();
        unsigned idle = 0;
        while (!barrier.test())
            if (!exchange.receive() && crowded && ++idle % idle_tests == 0) sched_yield();
        exchange.receive_rest();
        shmem_barrier_all();  // the letters have been fetched
    }
}

}  // namespace tollbar::bench
