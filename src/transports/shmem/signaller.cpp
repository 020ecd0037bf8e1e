// SPDX-License-Identifier: Apache-2.0
// Tells by puts and by stores.
#include "signaller.hpp"

#include <atomic>
#include <shmem.h>
#include <utility>
#include <vector>

namespace tollbar::shmem {

namespace {

class Slots final : public Signaller {
public:
    /// `near`: by PE, the blocks that this one can store into.
    Slots(Block block, Signature signature, std::vector<Block> near)
        : block_(block), signature_(signature), near_(std::move(near)) {}

    void begin(Episode episode) noexcept override {
        episode_ = episode;
        phase_ = phase_of(episode);
        word_ = slot_word(signature_, episode);
    }

    void tell(int pe, std::uint32_t slot) noexcept override {
        const Block there = near_.empty() ? Block() : near_[static_cast<std::size_t>(pe)];
        if (there.words() == nullptr) {
            shmem_uint64_p(block_.slot(phase_, slot), word_, pe);
        } else {
            // Pairs with the acquire in told().
            std::atomic_ref(*there.slot(phase_, slot)).store(word_, std::memory_order_release);
        }
    }

    bool told(std::uint32_t slot) const noexcept override {
        if (shmem_uint64_test(block_.slot(phase_, slot), SHMEM_CMP_EQ, word_) == 0) return false;
        // Pairs with the other PE's quiet before it told, or with the release of its store.
        std::atomic_thread_fence(std::memory_order_acquire);
        return true;
    }

    std::optional<Fault> fault() const noexcept override {
        for (unsigned phase = 0; phase < phases; ++phase)
            for (std::uint32_t slot = 0; slot < block_.slots(); ++slot) {
                const std::uint64_t word = std::atomic_ref(*block_.slot(phase, slot)).load(std::memory_order_acquire);
                const Reading reading = read_slot(word, phase, signature_, episode_);
                if (reading == Reading::foreign || reading == Reading::impossible) return Fault{reading, word, slot};
            }
        return std::nullopt;
    }

private:
    Block block_;
    Signature signature_;
    std::vector<Block> near_;
    Episode episode_ = 0;
    unsigned phase_ = 0;
    std::uint64_t word_ = 0;
};

std::unique_ptr<Signaller> make_puts(Block block, Signature signature) {
    return std::make_unique<Slots>(block, signature, std::vector<Block>());
}

std::unique_ptr<Signaller> make_stores(Block block, Signature signature) {
    std::vector<Block> near;
    near.reserve(static_cast<std::size_t>(shmem_n_pes()));
    for (int pe = 0; pe < shmem_n_pes(); ++pe) near.emplace_back(shmem_ptr(block.words(), pe), block.slots());
    return std::make_unique<Slots>(block, signature, std::move(near));
}

}  // namespace

// The numbers of tollbar_shmem_signals.
const SignalKind by_puts{.number = 0, .make = make_puts};
const SignalKind by_stores{.number = 7, .make = make_stores};

}  // namespace tollbar::shmem
