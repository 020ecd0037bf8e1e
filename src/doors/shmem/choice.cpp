// SPDX-License-Identifier: Apache-2.0
// Checks spellings, and has a rule for who names none.
#include "choice.hpp"

#include "doors/c/error.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/crowding.hpp>
#include <tollbar/price.hpp>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace tollbar::shmem {

using c_door::Refusal;

namespace {

/// With so many PEs everybody still tells everybody else faster than there are second rounds.
constexpr Rank one_shot_up_to = 16;

/// From here on P^2 signals cost more than two that follow each other, through the counter.
constexpr Rank counter_from = 9;

/// A put between hosts with RDMA hardware: about 1 us under way, a tenth of it for the CPU and the card.
constexpr LogP put_between_hosts{.L = 1.0, .o = 0.1, .g = 0.1};

std::string fault_of(const std::string& spelling, Rank pes) {
    if (spelling == counter) return "";
    try {
        make_plan(spelling, pes);
        return "";
    } catch (const std::invalid_argument& error) {
        return std::string(error.what()) + " (also accepted here: counter)";
    }
}

std::string cheapest(Rank pes) {
    constexpr std::array ways{1, 2, 3, 7};
    std::string best;
    double least = std::numeric_limits<double>::infinity();
    for (const int way : ways) {
        const std::string spelling = "dissemination:" + std::to_string(way);
        const double cost = price(make_plan(spelling, pes), put_between_hosts).last_us;
        if (cost < least) {
            least = cost;
            best = spelling;
        }
    }
    return best;
}

std::string for_pes(Rank pes, bool crowded, Signals signals) {
    if (pes == 1) return "dissemination";
    if (pes < counter_from) return "dissemination:" + std::to_string(pes - 1);
    const bool one_shot = pes <= one_shot_up_to || crowded;
    return one_shot && signals == Signals::puts ? std::string(counter) : cheapest(pes);
}

/// TOLLBAR_PLAN, if it names a plan for that many PEs.
std::string from_environment(Rank pes, Signals signals) {
    const char* value = std::getenv("TOLLBAR_PLAN");
    if (value == nullptr || *value == '\0') return "";
    std::string fault = fault_of(value, pes);
    if (fault.empty() && value == counter && signals != Signals::puts) fault = "counter goes with puts only";
    if (fault.empty()) return value;
    static bool said = false;
    if (!said && shmem_my_pe() == 0)
        std::fprintf(stderr, "tollbar: TOLLBAR_PLAN: %s; choosing by the number of PEs\n", fault.c_str());
    said = true;
    return "";
}

}  // namespace

Signals signals_of(const tollbar_shmem_options& options) {
    if (options.signals < TOLLBAR_SHMEM_PUTS || options.signals > TOLLBAR_SHMEM_STORES)
        throw Refusal{EINVAL, "signals is a tollbar_shmem_signals, 0 to 7, not " + std::to_string(options.signals)};
    return static_cast<Signals>(options.signals);
}

Spelling choose_plan(const tollbar_shmem_options& options, Rank pes, bool crowded) {
    const Signals signals = signals_of(options);
    if (options.plan != nullptr && *options.plan != '\0') {
        if (const std::string fault = fault_of(options.plan, pes); !fault.empty()) throw Refusal{EINVAL, fault};
        if (options.plan == counter && signals != Signals::puts)
            throw Refusal{EINVAL, "counter goes with TOLLBAR_SHMEM_PUTS only"};
        return {options.plan, true};
    }
    const std::string named = from_environment(pes, signals);
    return {named.empty() ? for_pes(pes, crowded, signals) : named, false};
}

std::optional<Plan> plan_of(const std::string& spelling, Rank pes) {
    if (spelling == counter) return std::nullopt;
    return make_plan(spelling, pes);
}

std::uint32_t slots_needed(const std::string& spelling, Rank pes) {
    const auto plan = plan_of(spelling, pes);
    return plan ? slots_of(*plan) : 1;
}

bool crowded_here(const void* symmetric) {
    const int all = shmem_n_pes();
    int here = 0;
    for (int pe = 0; pe < all; ++pe)
        if (shmem_ptr(symmetric, pe) != nullptr) ++here;
    return static_cast<std::uint32_t>(here <= 1 ? all : here) > usable_cpus();
}

}  // namespace tollbar::shmem
