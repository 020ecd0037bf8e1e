// SPDX-License-Identifier: Apache-2.0
// Point-to-point calls between threads of one process, each of which stands for an MPI process: messages are counters,
// and those with data letters.
#pragma once

#include "transports/mpi/p2p.h"

#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <sched.h>
#include <vector>

namespace tollbar::testing {

/// The data on its way in one direction between two ranks.
struct Mailbox {
    std::mutex mutex;
    std::deque<std::vector<char>> letters;
};

}  // namespace tollbar::testing

/// One end of one direction between two ranks.
struct tollbar_channel {
    std::atomic<std::uint64_t>* sent;
    std::uint64_t* expected;  ///< how many receives were started so far, by this channel and those before it
    bool receives;
    tollbar::testing::Mailbox* mailbox;
    void* data;  ///< goes by the mailbox
    std::uint32_t bytes;
    bool under_way = false;  ///< a receive of data
};

namespace tollbar::testing {

/// What the ranks of one communicator share.
class LocalWorld {
public:
    explicit LocalWorld(std::uint32_t ranks)
        : ranks_(ranks), sent_(ranks * ranks), expected_(ranks * ranks), mailboxes_(ranks * ranks) {}

    /// Rank r's calls; `self` outlives it.
    struct Seat {
        LocalWorld* world;
        std::uint32_t rank;
        int channels = -1;  ///< for messages without data, that it gets before it is refused; negative: any number
    };

    tollbar_p2p p2p(Seat& self) const {
        return {.state = &self,
                .rank = self.rank,
                .ranks = ranks_,
                .is_apart = nullptr,
                .open = open,
                .start = start,
                .done = done,
                .close =
                    [](void*, tollbar_channel* channel) {
                        delete channel;
                        return 0;
                    },
                .error = [](void*) { return 0; },
                .progress = [](void*) {},
                .world_rank = nullptr};
    }

private:
    static Seat& of(void* state) { return *static_cast<Seat*>(state); }

    static tollbar_channel* open(void* state, std::uint32_t peer, tollbar_way way, void* data, std::uint32_t bytes) {
        Seat& self = of(state);
        if (data == nullptr && self.channels == 0) return nullptr;
        if (data == nullptr && self.channels > 0) --self.channels;
        const bool receives = way == TOLLBAR_FROM_PEER;
        const std::size_t from = receives ? peer : self.rank, to = receives ? self.rank : peer;
        const std::size_t place = from * self.world->ranks_ + to;
        return new tollbar_channel{.sent = &self.world->sent_[place],
                                   .expected = &self.world->expected_[place],
                                   .receives = receives,
                                   .mailbox = &self.world->mailboxes_[place],
                                   .data = data,
                                   .bytes = bytes};
    }

    static void put(tollbar_channel& channel) {
        const std::lock_guard lock(channel.mailbox->mutex);
        const char* data = static_cast<char*>(channel.data);
        channel.mailbox->letters.emplace_back(data, data + channel.bytes);
    }

    static bool take(tollbar_channel& channel) {
        const std::lock_guard lock(channel.mailbox->mutex);
        if (channel.mailbox->letters.empty()) return false;
        std::memcpy(channel.data, channel.mailbox->letters.front().data(), channel.bytes);
        channel.mailbox->letters.pop_front();
        return true;
    }

    /// Memory order: a send is a release, pairs with done().
    static int start(void*, tollbar_channel* channel) {
        if (channel->data != nullptr)
            channel->receives ? void(channel->under_way = true) : put(*channel);
        else if (channel->receives)
            ++*channel->expected;
        else
            channel->sent->fetch_add(1, std::memory_order_release);
        return 0;
    }

    static int done(void*, tollbar_channel* channel) {
        if (channel->data != nullptr) {
            if (channel->under_way) channel->under_way = !take(*channel);
            return channel->under_way ? 0 : 1;
        }
        return !channel->receives || channel->sent->load(std::memory_order_acquire) >= *channel->expected;
    }

    std::uint32_t ranks_;
    std::vector<std::atomic<std::uint64_t>> sent_;
    std::vector<std::uint64_t> expected_;  ///< each written by the receiving rank alone
    std::vector<Mailbox> mailboxes_;
};

}  // namespace tollbar::testing
