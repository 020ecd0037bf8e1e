// SPDX-License-Identifier: Apache-2.0
// tollbar's split barriers of OpenSHMEM: every way of signalling, in several rounds and in one shot.
#include "variants.hpp"

#include <tollbar/shmem.h>

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace tollbar::bench {

namespace {

enum class Shot : std::uint8_t {
    chosen,  ///< whatever plan the library takes
    rounds,  ///< dissemination, one signal a round
    one,     ///< dissemination in one round: everybody tells everybody
    counter  ///< everybody counts up one word, the last one releases
};

struct OfLibrary {
    const char* name;
    const char* how;
    Shot shot;
    tollbar_shmem_signals signals;
    int engine = 0;
};

constexpr OfLibrary of_library[] = {
    {"default", "auto", Shot::chosen, TOLLBAR_SHMEM_AUTO},
    {"dissemination", "puts", Shot::rounds, TOLLBAR_SHMEM_PUTS},
    {"dissemination", "engine", Shot::rounds, TOLLBAR_SHMEM_PUTS, 1},
    {"dissemination", "stores", Shot::rounds, TOLLBAR_SHMEM_STORES},
    {"one-shot", "puts", Shot::one, TOLLBAR_SHMEM_PUTS},
    {"one-shot", "stores", Shot::one, TOLLBAR_SHMEM_STORES},
    {"counter", "puts", Shot::counter, TOLLBAR_SHMEM_PUTS},
    {"counter", "stores", Shot::counter, TOLLBAR_SHMEM_STORES},
};

std::string plan_of(Shot shot) {
    switch (shot) {
        case Shot::chosen: return "";
        case Shot::rounds: return "dissemination";
        case Shot::one: return "dissemination:" + std::to_string(shmem_n_pes() - 1);
        case Shot::counter: return "counter";
    }
    return "";
}

int make(const OfLibrary& variant, tollbar_shmem_barrier** barrier) {
    const std::string plan = plan_of(variant.shot);
    tollbar_shmem_options options{};
    options.plan = plan.c_str();
    options.signals = variant.signals;
    options.engine = variant.engine;
    return tollbar_shmem_barrier_create(nullptr, &options, barrier);
}

class LibrarySplit final : public Split {
public:
    explicit LibrarySplit(const OfLibrary& variant) {
        if (make(variant, &barrier_) != 0) throw std::runtime_error(tollbar_shmem_last_error());
    }
    ~LibrarySplit() override { tollbar_shmem_barrier_destroy(barrier_); }
    LibrarySplit(const LibrarySplit&) = delete;
    LibrarySplit& operator=(const LibrarySplit&) = delete;

    void post() noexcept override { tollbar_shmem_barrier_post(barrier_); }
    bool test() noexcept override { return tollbar_shmem_barrier_test(barrier_) != EAGAIN; }
    void wait() noexcept override { tollbar_shmem_barrier_wait(barrier_); }

private:
    tollbar_shmem_barrier* barrier_ = nullptr;
};

}  // namespace

std::vector<Variant> variants(std::vector<Skipped>& skipped) {
    std::vector<Variant> able;
    for (const OfLibrary& variant : of_library) {
        tollbar_shmem_barrier* barrier = nullptr;
        if (const int error = make(variant, &barrier); error == ENOTSUP || error == EINVAL) {
            skipped.push_back({std::string(variant.name) + "+" + variant.how, tollbar_shmem_last_error()});
            continue;
        }
        tollbar_shmem_barrier_destroy(barrier);
        able.push_back({variant.name, variant.how, [&variant] { return std::make_unique<LibrarySplit>(variant); }});
    }
    for (const auto add : FurtherVariants::all()) add(able);
    return able;
}

}  // namespace tollbar::bench
