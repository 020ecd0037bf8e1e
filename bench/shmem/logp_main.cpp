// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-logp-shmem: round trips between two PEs, by puts into slots and by stores into them. PE 0 prints.
#include "program.hpp"

#include "floors.hpp"
#include "json.hpp"
#include "round_trips.hpp"

#include "transports/shmem/block.hpp"
#include "transports/shmem/open_mpi.hpp"

#include <tollbar/detail/crowding.hpp>

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

    SlotEnd(Rank rank, const Slots& slots, By by, Crowding crowding)
        : peer_(1 - static_cast<int>(rank)), slots_(slots), by_(by), crowding_(crowding),
          near_(shmem_ptr(slots.slot(0, 0), peer_) != nullptr) {}

    /// Whether the other PE's memory can be written by stores.
    bool near() const noexcept { return near_; }

    void begin(std::uint32_t) noexcept {
        ++episode_;
        phase_ = shmem::phase_of(episode_);
        word_ = shmem::slot_word(signature, episode_);
    }

    void send(std::uint32_t channel) noexcept {
        std::uint64_t* const slot = slots_.slot(phase_, channel);
        if (by_ == By::puts) {
            shmem_uint64_p(slot, word_, peer_);
        } else {
            auto* const there = static_cast<std::uint64_t*>(shmem_ptr(slot, peer_));
            std::atomic_ref(*there).store(word_, std::memory_order_release);  // pairs with the fence in receive()
        }
    }

    void receive(std::uint32_t channel) noexcept {
        constexpr std::uint32_t looks_a_progress_near = 32;
        std::uint64_t* const slot = slots_.slot(phase_, channel);
        for (std::uint32_t look = 1; shmem_uint64_test(slot, SHMEM_CMP_EQ, word_) == 0; ++look) {
            if (!near_ || look % looks_a_progress_near == 0) shmem::make_progress();
            crowding_ == Crowding::crowded ? NativeSync::yield() : NativeSync::pause();
        }
        std::atomic_thread_fence(std::memory_order_acquire);
    }

private:
    int peer_;
    const Slots& slots_;
    By by_;
    Crowding crowding_;
    bool near_;
    Episode episode_ = 0;
    unsigned phase_ = 0;
    std::uint64_t word_ = 0;
};

int measure(const ShmemProgram& program) {
    if (program.options.ranks != 2)
        throw WrongUse("there are two PEs in a round trip, not " + std::to_string(program.options.ranks));
    const Rank rank = program.job.rank();
    const Pace pace = pace_for(program.options, program.cpus.size());
    print_environment(program.name, program.options, program.cpus, pace, ShmemProgram::versions());

    const Crowding crowding = std::min<std::size_t>(program.cpus.size(), quota_cpus()) >= 2 ? Crowding::roomy
                                                                                            : Crowding::crowded;
    const Slots put_into;
    const Slots stored_into;
    const Symmetric<std::uint64_t> told(1);
    const auto agree = [&](std::uint64_t mine) {
        if (rank == 0) {
            told[0] = mine;
            shmem_putmem(told.data(), told.data(), sizeof mine, 1);
        }
        shmem_barrier_all();
        return told[0];
    };
    SlotEnd by_puts(rank, put_into, SlotEnd::By::puts, crowding);
    RoundTrips puts(rank, by_puts, pace.batch_ns, agree);
    SlotEnd by_stores(rank, stored_into, SlotEnd::By::stores, crowding);
    RoundTrips stores(rank, by_stores, pace.batch_ns, agree);

    const Places places(program.options.placement, program.cpus);
    const Ticks began = ticks();
    for (std::uint32_t round = 0; round < program.options.rounds; ++round) {
        if (rank == 0) print_floors(measure_floors(program.cpus), round);
        agree(round);
        places.take(rank);
        puts.round("puts", round);
        if (by_stores.near()) stores.round("stores", round);
    }
    Record("done")
        .field("rounds", program.options.rounds)
        .field("elapsed_ms", nanoseconds(ticks() - began) / 1e6)
        .print();
    return 0;
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    return tollbar::bench::run_shmem_program("tollbar-bench-logp-shmem", count, words, {}, tollbar::bench::measure);
}
