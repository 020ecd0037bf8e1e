// SPDX-License-Identifier: Apache-2.0
// Point-to-point calls between threads of one process, each of which stands for an MPI process: messages are counters.
#pragma once

#include "transports/mpi/p2p.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <sched.h>
#include <vector>

/// One end of one direction between two ranks.
struct tollbar_channel {
    std::atomic<std::uint64_t>* sent;
    std::uint64_t* expected;  ///< how many receives were started so far, by this channel and those before it
    bool receives;
};

namespace tollbar::testing {

/// What the ranks of one communicator share.
class LocalWorld {
public:
    explicit LocalWorld(std::uint32_t ranks)
        : ranks_(ranks), sent_(ranks * ranks), expected_(ranks * ranks), cards_(ranks), card_turn_(ranks),
          gathers_(ranks), broadcasts_(ranks) {}

    /// Rank r's calls; `self` outlives it.
    struct Seat {
        LocalWorld* world;
        std::uint32_t rank;
    };

    tollbar_p2p p2p(Seat& self) const {
        return {
            .state = &self,
            .rank = self.rank,
            .ranks = ranks_,
            .gather = gather,
            .broadcast = broadcast,
            .open_to = [](void* state, std::uint32_t peer) { return open(of(state), of(state).rank, peer, false); },
            .open_from = [](void* state, std::uint32_t peer) { return open(of(state), peer, of(state).rank, true); },
            .start = start,
            .done = done,
            .close = [](void*, tollbar_channel* channel) { delete channel; },
            .progress = [](void*) {}};
    }

private:
    static Seat& of(void* state) { return *static_cast<Seat*>(state); }

    static tollbar_channel* open(Seat& self, std::uint32_t from, std::uint32_t to, bool receives) {
        const std::size_t place = from * self.world->ranks_ + to;
        return new tollbar_channel{&self.world->sent_[place], &self.world->expected_[place], receives};
    }

    /// Memory order: a send is a release, pairs with done().
    static int start(void*, tollbar_channel* channel) {
        if (channel->receives)
            ++*channel->expected;
        else
            channel->sent->fetch_add(1, std::memory_order_release);
        return 0;
    }

    static int done(void*, tollbar_channel* channel) {
        return !channel->receives || channel->sent->load(std::memory_order_acquire) >= *channel->expected;
    }

    static int gather(void* state, const void* mine, void* all, std::uint32_t bytes, const tollbar_idle* idle) {
        Seat& self = of(state);
        LocalWorld& world = *self.world;
        const std::uint64_t turn = ++world.gathers_[self.rank];
        world.cards_[self.rank].assign(static_cast<const char*>(mine), static_cast<const char*>(mine) + bytes);
        world.card_turn_[self.rank].store(turn, std::memory_order_release);
        if (self.rank != 0) {
            while (world.taken_.load(std::memory_order_acquire) < turn) idle->call(idle->context, nullptr);
            return 0;
        }
        std::vector<unsigned char> heard(world.ranks_);
        for (std::uint32_t rank = 0; rank < world.ranks_; ++rank) {
            while (world.card_turn_[rank].load(std::memory_order_acquire) < turn) {
                for (std::uint32_t other = 0; other < world.ranks_; ++other)
                    heard[other] = world.card_turn_[other].load(std::memory_order_relaxed) >= turn;
                idle->call(idle->context, heard.data());
            }
            std::memcpy(static_cast<char*>(all) + rank * bytes, world.cards_[rank].data(), bytes);
        }
        world.taken_.store(turn, std::memory_order_release);
        return 0;
    }

    static int broadcast(void* state, void* data, std::uint32_t bytes, const tollbar_idle* idle) {
        Seat& self = of(state);
        LocalWorld& world = *self.world;
        const std::uint64_t turn = ++world.broadcasts_[self.rank];
        if (self.rank == 0) {
            while (world.read_.load(std::memory_order_acquire) < (turn - 1) * (world.ranks_ - 1))
                idle->call(idle->context, nullptr);
            world.news_.assign(static_cast<char*>(data), static_cast<char*>(data) + bytes);
            world.told_.store(turn, std::memory_order_release);
        } else {
            while (world.told_.load(std::memory_order_acquire) < turn) idle->call(idle->context, nullptr);
            std::memcpy(data, world.news_.data(), bytes);
            world.read_.fetch_add(1, std::memory_order_release);
        }
        return 0;
    }

    std::uint32_t ranks_;
    std::vector<std::atomic<std::uint64_t>> sent_;
    std::vector<std::uint64_t> expected_;  ///< each written by the receiving rank alone
    std::vector<std::vector<char>> cards_;
    std::vector<std::atomic<std::uint64_t>> card_turn_;
    std::vector<std::uint64_t> gathers_;     ///< of each rank, by its thread, whichever communicator they are for
    std::vector<std::uint64_t> broadcasts_;  ///< likewise
    std::atomic<std::uint64_t> taken_{0};
    std::vector<char> news_;
    std::atomic<std::uint64_t> told_{0};
    std::atomic<std::uint64_t> read_{0};
};

}  // namespace tollbar::testing
