// SPDX-License-Identifier: Apache-2.0
// tollbar's split barriers of OpenSHMEM: every way of signalling, in several rounds and in one shot.
#include "variants.hpp"

#include <cerrno>
#include <stdexcept>

namespace tollbar::bench {

namespace {

std::vector<Variant> all() {
    std::vector<Variant> all{{"default", "auto", Shot::chosen, TOLLBAR_SHMEM_AUTO, nullptr, 0}};
    for (const CounterKind& counters : counter_kinds)
        all.push_back({"dissemination", counters.name, Shot::rounds, TOLLBAR_SHMEM_AUTO, &counters, 0});
    const Variant slots[] = {
        {"dissemination", "puts", Shot::rounds, TOLLBAR_SHMEM_PUTS, nullptr, 0},
        {"dissemination", "engine", Shot::rounds, TOLLBAR_SHMEM_PUTS, nullptr, 1},
        {"dissemination", "stores", Shot::rounds, TOLLBAR_SHMEM_STORES, nullptr, 0},
        {"one-shot", "puts", Shot::one, TOLLBAR_SHMEM_PUTS, nullptr, 0},
        {"one-shot", "stores", Shot::one, TOLLBAR_SHMEM_STORES, nullptr, 0},
        {"counter", "puts", Shot::counter, TOLLBAR_SHMEM_PUTS, nullptr, 0},
        {"counter", "stores", Shot::counter, TOLLBAR_SHMEM_STORES, nullptr, 0},
    };
    all.insert(all.end(), std::begin(slots), std::end(slots));
    return all;
}

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
    for (const Variant& variant : all()) {
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
    if (variant.counters != nullptr)
        counters_.emplace(*variant.counters, plan_of(variant.shot));
    else if (make(variant, &barrier_) != 0)
        throw std::runtime_error(tollbar_shmem_last_error());
}

}  // namespace tollbar::bench
