// SPDX-License-Identifier: Apache-2.0
// A harness whose ranks sit at the desks of a board, whatever carries them: threads, processes, other programs.
#pragma once

#include "board.hpp"
#include "conformance.hpp"

#include <stdexcept>

namespace tollbar::testing {

class DeskHarness : public Harness {
public:
    explicit DeskHarness(Rank ranks) : board_(ranks) {}

    Rank ranks() const override { return board_.ranks(); }

    void begin(Rank rank, Call call, std::uint64_t argument = 0) override {
        board_[rank].call = call;
        board_[rank].argument = argument;
        count_one(board_[rank].orders);
    }

    bool ended(Rank rank) override {
        return board_[rank].reports.load(std::memory_order_acquire) ==
               board_[rank].orders.load(std::memory_order_relaxed);
    }

    Answer end(Rank rank) override {
        while (!ended(rank))
            if (!changes(board_[rank].reports, board_[rank].orders.load(std::memory_order_relaxed) - 1) && !alive(rank))
                throw std::runtime_error("rank " + std::to_string(rank) + " is dead");
        Answer answer{board_[rank].done, {}};
        for (Rank other = 0; other < ranks(); ++other)
            if ((board_[rank].missing >> other & 1) != 0) answer.missing.push_back(other);
        return answer;
    }

    void run(FreeRun how) override {
        for (Rank rank = 0; rank < ranks(); ++rank) {
            board_[rank].free_run = how;
            begin(rank, Call::run);
        }
        for (Rank rank = 0; rank < ranks(); ++rank) end(rank);
    }

    std::uint64_t unpaid() const override {
        std::uint64_t unpaid = 0;
        for (Rank rank = 0; rank < ranks(); ++rank) unpaid += board_[rank].unpaid + board_[rank].early;
        return unpaid;
    }

protected:
    /// Whether what carries the rank is still there.
    virtual bool alive(Rank rank) = 0;

    Board board_;
};

}  // namespace tollbar::testing
