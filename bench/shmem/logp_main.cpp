// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-logp-shmem: round trips between two PEs, by puts into slots and by stores into them. PE 0 prints.
#include "process_crew.hpp"
#include "round_trips.hpp"
#include "shmem_job.hpp"

#include "transports/shmem/block.hpp"
#include "transports/shmem/open_mpi.hpp"

#include <tollbar/detail/cpus.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>

namespace tollbar::bench {

namespace {

constexpr shmem::Signature signature = 1;

/// The slots of either PE, as those of a barrier lie.
class Slots {
public:
    Slots() : memory_(shmem::Block::bytes_for(most_messages)), block_(memory_.data(), most_messages) {}

    std::uint64_t* slot(unsigned phase, std::uint32_t channel) const noexcept { return block_.slot(phase, channel); }

private:
    Symmetric<std::byte> memory_;
    shmem::Block block_;
};

/// Tells and hears as a barrier does. Memory order: an end that stores releases, whoever hears acquires.
class SlotEnd {
public:
    enum class By : std::uint8_t { puts, stores };

    SlotEnd(Rank rank, const Slots* slots, By by, Occupancy occupancy)
        : peer_(1 - static_cast<int>(rank)), slots_(*slots), by_(by), occupancy_(occupancy),
          near_(shmem_ptr(slots_.slot(0, 0), peer_) != nullptr) {}

    void begin(std::uint32_t) noexcept {
        ++episode_;
        parity_ = shmem::parity_of(episode_);
        word_ = shmem::slot_word(signature, episode_);
    }

    void send(std::uint32_t channel) noexcept {
        std::uint64_t* const slot = slots_.slot(parity_, channel);
        if (by_ == By::puts) {
            shmem_uint64_p(slot, word_, peer_);
        } else {
            auto* const there = static_cast<std::uint64_t*>(shmem_ptr(slot, peer_));
            std::atomic_ref(*there).store(word_, std::memory_order_release);  // pairs with the fence in receive()
        }
    }

    void receive(std::uint32_t channel) noexcept {
        constexpr std::uint32_t looks_a_progress_near = 32;
        std::uint64_t* const slot = slots_.slot(parity_, channel);
        for (std::uint32_t look = 1; shmem_uint64_test(slot, SHMEM_CMP_EQ, word_) == 0; ++look) {
            if (!near_ || look % looks_a_progress_near == 0) shmem::make_progress();
            occupancy_ == Occupancy::oversubscribed ? NativeSync::yield() : NativeSync::pause();
        }
        std::atomic_thread_fence(std::memory_order_acquire);
    }

private:
    int peer_;
    const Slots& slots_;
    By by_;
    Occupancy occupancy_;
    bool near_;  ///< whether its memory can be written by stores
    Episode episode_ = 0;
    unsigned parity_ = 0;
    std::uint64_t word_ = 0;
};

int measure(Launch& launch) {
    launch.begin(shmem_versions());
    const bool roomy = std::min<std::size_t>(launch.cpus.size(), quota_cpus()) >= 2;
    const Occupancy occupancy = roomy ? Occupancy::exclusive : Occupancy::oversubscribed;
    const Slots put_into;
    const Slots stored_into;
    LooseCrew crew(launch);
    RoundTrips<SlotEnd> puts(launch, crew, "puts", &put_into, SlotEnd::By::puts, occupancy);
    std::optional<RoundTrips<SlotEnd>> stores;
    const int peer = 1 - static_cast<int>(launch.peers->rank());
    if (shmem_ptr(stored_into.slot(0, 0), peer) != nullptr)
        stores.emplace(launch, crew, "stores", &stored_into, SlotEnd::By::stores, occupancy);
    Rounds rounds(launch, crew);
    return rounds.run([&](std::uint32_t round) {
        rounds.floors(round);
        launch.peers->told(round);
        puts.round(round);
        if (stores) stores->round(round);
        return true;
    });
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run({.name = "tollbar-bench-logp-shmem",
                .measure = measure,
                .join = [] { return std::make_unique<PeJob>(); },
                .launcher = "oshrun"},
               count, words);
}
