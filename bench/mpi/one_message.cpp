// SPDX-License-Identifier: Apache-2.0
// What --measure round-trips measures instead of barriers: one message between two ranks, by the words of a node and by
// the messages of the MPI.
#include "one_message.hpp"

#include "floors.hpp"
#include "json.hpp"
#include "word_link.hpp"

#include "transports/mpi/arena.hpp"

#include <tollbar/detail/crowding.hpp>

#include <unistd.h>

#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

namespace tollbar::bench {

namespace {

std::uint64_t told(std::uint64_t mine) {
    PMPI_Bcast(&mine, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return mine;
}

bool all(bool mine) {
    int found = mine ? 1 : 0;
    PMPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return found == 1;
}

/// A link in the memory that the transport takes its words from; none where the ranks cannot share it. Collective.
class SharedLink {
public:
    explicit SharedLink(const MpiJob& job) {
        const bool first = job.rank() == 0;
        const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
        const std::uint64_t id = told(static_cast<std::uint64_t>(now) ^ static_cast<std::uint64_t>(getpid()) << 40);
        attempt([&] {
            if (first) arena_ = Arena::make(id);
        });
        told(0);  // it is made
        attempt([&] {
            if (!first) arena_ = Arena::open(id);
        });
        if (!all(arena_ != nullptr)) arena_ = nullptr;
        Offset block = 0;
        if (first && arena_) {
            Arena::unlink(id);
            block = arena_->take(sizeof(WordLink), job.ranks());
            if (block != 0) new (arena_->at(block)) WordLink;
        }
        block = told(block);
        if (block != 0) link_ = std::launder(reinterpret_cast<WordLink*>(arena_->at(block)));
    }

    WordLink* get() const noexcept { return link_; }

private:
    template <class Do>
    static void attempt(Do act) {
        try {
            act();
        } catch (const std::exception&) {
            return;  // the rank goes on without, and so do all
        }
    }

    std::shared_ptr<Arena> arena_;
    WordLink* link_ = nullptr;
};

/// Memory order: that of the messages.
class MessageEnd {
public:
    MessageEnd(const MpiJob& job, const PointToPoint& p2p, Crowding crowding) : p2p_(p2p.get()), crowding_(crowding) {
        const Rank peer = 1 - job.rank();
        for (std::uint32_t channel = 0; channel < most_messages; ++channel) {
            out_.push_back(opened(p2p_.open(p2p_.state, peer, TOLLBAR_TO_PEER, nullptr, 0)));
            in_.push_back(opened(p2p_.open(p2p_.state, peer, TOLLBAR_FROM_PEER, nullptr, 0)));
        }
    }
    ~MessageEnd() {
        for (tollbar_channel* channel : out_) p2p_.close(p2p_.state, channel);
        for (tollbar_channel* channel : in_) p2p_.close(p2p_.state, channel);
    }
    MessageEnd(const MessageEnd&) = delete;
    MessageEnd& operator=(const MessageEnd&) = delete;

    void begin(std::uint32_t messages) noexcept {
        for (std::uint32_t channel = 0; channel < messages; ++channel) p2p_.start(p2p_.state, in_[channel]);
    }
    void send(std::uint32_t channel) noexcept {
        wait_until_done(out_[channel]);
        p2p_.start(p2p_.state, out_[channel]);
    }
    void receive(std::uint32_t channel) noexcept { wait_until_done(in_[channel]); }

private:
    static tollbar_channel* opened(tollbar_channel* channel) {
        if (channel == nullptr) throw std::runtime_error("the MPI does not let messages be set up");
        return channel;
    }

    /// As a course passes its time.
    void wait_until_done(tollbar_channel* channel) const noexcept {
        while (p2p_.done(p2p_.state, channel) <= 0) {
            p2p_.progress(p2p_.state);
            if (crowding_ == Crowding::crowded) NativeSync::yield();
        }
    }

    tollbar_p2p p2p_;
    Crowding crowding_;
    std::vector<tollbar_channel*> out_;
    std::vector<tollbar_channel*> in_;
};

}  // namespace

void measure_round_trips(const MpiJob& job, const PointToPoint& p2p, const Options& options,
                         const std::vector<int>& cpus, const Pace& pace) {
    if (job.ranks() != 2)
        throw WrongUse("--measure round-trips: there are two ranks in a trip, not " + std::to_string(job.ranks()));
    const Crowding crowding = std::min<std::size_t>(cpus.size(), quota_cpus()) >= 2 ? Crowding::roomy
                                                                                    : Crowding::crowded;
    const SharedLink shared(job);
    MessageEnd by_messages(job, p2p, crowding);
    RoundTrips messages(job.rank(), by_messages, pace.batch_ns, told);

    std::optional<WordEnd> by_words;
    std::optional<RoundTrips<WordEnd>> words;
    if (shared.get() != nullptr) {
        // As the ranks of a node ring when they have a CPU each.
        const bool asymmetric = all(crowding == Crowding::roomy && NativeSync::register_for_heavy_fence());
        by_words.emplace(job.rank(), *shared.get(), Waking{.scope = Scope::shared, .asymmetric = asymmetric}, crowding);
        words.emplace(job.rank(), *by_words, pace.batch_ns, told);
    }

    const Places places(options.placement, cpus);
    const Ticks began = ticks();
    for (std::uint32_t round = 0; round < options.rounds; ++round) {
        if (job.rank() == 0) print_floors(measure_floors(cpus), round);
        told(round);
        places.take(job.rank());
        if (words) words->round("words", round);
        messages.round("messages", round);
    }
    PMPI_Barrier(MPI_COMM_WORLD);  // the last messages have been received
    Record("done").field("rounds", options.rounds).field("elapsed_ms", nanoseconds(ticks() - began) / 1e6).print();
}

}  // namespace tollbar::bench
