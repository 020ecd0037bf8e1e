// SPDX-License-Identifier: Apache-2.0
// The measure of --measure round-trips, in place of barriers: one message between two ranks, by the words of a node and
// by the messages of the MPI.
#include "measures.hpp"
#include "word_link.hpp"

#include <tollbar/detail/cpus.hpp>

#include <memory>
#include <new>
#include <optional>
#include <stdexcept>

namespace tollbar::bench {

namespace {

/// Memory order: that of the messages.
class MessageEnd {
public:
    MessageEnd(Rank rank, const tollbar_p2p& p2p, Occupancy occupancy) : p2p_(p2p), occupancy_(occupancy) {
        const Rank peer = 1 - rank;
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

    void begin(std::uint32_t number) noexcept {
        for (std::uint32_t channel = 0; channel < number; ++channel) p2p_.start(p2p_.state, in_[channel]);
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
            if (occupancy_ == Occupancy::oversubscribed) NativeSync::yield();
        }
    }

    tollbar_p2p p2p_;
    Occupancy occupancy_;
    std::vector<tollbar_channel*> out_;
    std::vector<tollbar_channel*> in_;
};

}  // namespace

int measure_round_trips(const Launch& launch, const PointToPoint& p2p) {
    const Peers& peers = *launch.peers;
    const bool roomy = std::min<std::size_t>(launch.cpus.size(), quota_cpus()) >= 2;
    const Occupancy occupancy = roomy ? Occupancy::exclusive : Occupancy::oversubscribed;
    LooseCrew crew(launch);
    RoundTrips<MessageEnd> messages(launch, crew, "messages", p2p.get(), occupancy);

    const std::unique_ptr<PeersMemory> memory = PeersMemory::make(peers, sizeof(WordLink));
    std::optional<RoundTrips<WordEnd>> words;
    if (memory) {
        if (peers.rank() == 0) new (memory->data()) WordLink;
        // As the ranks of a node ring when they have a CPU each.
        const bool asymmetric = peers.all(roomy && NativeSync::register_for_heavy_fence());
        words.emplace(launch, crew, "words", std::launder(reinterpret_cast<WordLink*>(memory->data())),
                      Waking{.scope = Scope::shared, .asymmetric = asymmetric}, occupancy);
    }
    Rounds rounds(launch, crew);
    const int status = rounds.run([&](std::uint32_t round) {
        rounds.floors(round);
        peers.told(round);
        if (words) words->round(round);
        messages.round(round);
        return true;
    });
    PMPI_Barrier(MPI_COMM_WORLD);  // the last messages have been received
    return status;
}

}  // namespace tollbar::bench
