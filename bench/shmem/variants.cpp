// SPDX-License-Identifier: Apache-2.0
// tollbar's split barriers of OpenSHMEM: every way of signalling, in several rounds and in one shot.
#include "variants.hpp"

#include <array>
#include <cerrno>
#include <stdexcept>

namespace tollbar::bench {

namespace {

constexpr std::array all{
    Variant{"default", "auto", Shot::chosen, TOLLBAR_SHMEM_PUTS, 0},
    Variant{"dissemination", "amo32", Shot::rounds, TOLLBAR_SHMEM_AMO32, 0},
    Variant{"dissemination", "amo64", Shot::rounds, TOLLBAR_SHMEM_AMO64, 0},
    Variant{"dissemination", "posted", Shot::rounds, TOLLBAR_SHMEM_POSTED, 0},
    Variant{"dissemination", "posted:1", Shot::rounds, TOLLBAR_SHMEM_POSTED_1, 0},
    Variant{"dissemination", "posted:2", Shot::rounds, TOLLBAR_SHMEM_POSTED_2, 0},
    Variant{"dissemination", "posted:4", Shot::rounds, TOLLBAR_SHMEM_POSTED_4, 0},
    Variant{"dissemination", "puts", Shot::rounds, TOLLBAR_SHMEM_PUTS, 0},
    Variant{"dissemination", "engine", Shot::rounds, TOLLBAR_SHMEM_PUTS, 1},
    Variant{"dissemination", "stores", Shot::rounds, TOLLBAR_SHMEM_STORES, 0},
    Variant{"one-shot", "puts", Shot::one, TOLLBAR_SHMEM_PUTS, 0},
    Variant{"one-shot", "stores", Shot::one, TOLLBAR_SHMEM_STORES, 0},
    Variant{"counter", "puts", Shot::counter, TOLLBAR_SHMEM_PUTS, 0},
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

int make(const Variant& variant, tollbar_shmem_barrier** barrier) {
    const std::string plan = plan_of(variant.shot);
    tollbar_shmem_options options{};
    options.plan = plan.c_str();
    options.signals = variant.signals;
    options.engine = variant.engine;
    return tollbar_shmem_barrier_create(nullptr, &options, barrier);
}

}  // namespace

std::vector<Variant> variants(std::vector<Skipped>& skipped) {
    std::vector<Variant> able;
    for (const Variant& variant : all) {
        tollbar_shmem_barrier* barrier = nullptr;
        if (const int error = make(variant, &barrier); error == ENOTSUP || error == EINVAL) {
            skipped.push_back({std::string(variant.name) + "+" + variant.how, tollbar_shmem_last_error()});
            continue;
        }
        tollbar_shmem_barrier_destroy(barrier);
        able.push_back(variant);
    }
    return able;
}

VariantSplit::VariantSplit(const Variant& variant) {
    if (make(variant, &barrier_) != 0) throw std::runtime_error(tollbar_shmem_last_error());
}

}  // namespace tollbar::bench
