// SPDX-License-Identifier: Apache-2.0
// Checks spellings, and chooses a plan for callers that name none.
#include "choice.hpp"

#include "algorithms/defaults.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "transports/shmem/open_mpi.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/detail/cpus.hpp>
#include <tollbar/price.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace tollbar::detail::shmem {

namespace {

/// With so many PEs everybody still tells everybody else faster than there are second rounds.
constexpr Rank one_shot_up_to = 16;

/// From here on P^2 signals cost more than two that follow each other, through the counter.
constexpr Rank counter_from = 9;

/// A put between hosts with RDMA hardware: about 1 us under way, a tenth of it for the CPU and the card.
constexpr LogP put_between_hosts{.L = 1.0, .o = 0.1, .g = 0.1};

void demand_plan(const std::string& spelling, Rank pes) {
    slots_needed(spelling, pes);
    const std::string_view where = runs_on(spelling);
    if (!where.empty() && where != "OpenSHMEM")
        throw std::invalid_argument("plan '" + spelling + "' is for " + std::string(where));
}

std::string cheapest(Rank pes) {
    const auto cost_us = [&](unsigned ways) {
        return price(make_plan(defaults::in_ways(ways), pes), put_between_hosts).last_us;
    };
    constexpr std::array ways{1U, 2U, 3U, 7U};
    const auto cheaper = [&](unsigned one, unsigned other) { return cost_us(one) < cost_us(other); };
    return defaults::in_ways(*std::min_element(ways.begin(), ways.end(), cheaper));
}

}  // namespace

void demand_engine(const tollbar_shmem_options& options) {
    if (options.engine != 0 && !progress_can_be_joined())
        throw c_door::Refusal{ENOTSUP, "engine: this OpenSHMEM has no progress that can be joined (Open MPI has)"};
}

Signals signals_of(const tollbar_shmem_options& options, bool shared) {
    std::uint32_t number;  // C may have stored any number
    static_assert(sizeof number == sizeof options.signals);
    std::memcpy(&number, &options.signals, sizeof number);
    switch (number) {
        case TOLLBAR_SHMEM_AUTO: return shared ? Signals::stores : Signals::puts;
        case TOLLBAR_SHMEM_PUTS: return Signals::puts;
        case TOLLBAR_SHMEM_STORES: return Signals::stores;
        default:
            throw std::invalid_argument(
                "signals is TOLLBAR_SHMEM_AUTO, TOLLBAR_SHMEM_PUTS or TOLLBAR_SHMEM_STORES, not " +
                std::to_string(number));
    }
}

std::string named_plan(const tollbar_shmem_options& options, Rank pes) {
    if (options.plan == nullptr || *options.plan == '\0') return "";
    demand_plan(options.plan, pes);
    return options.plan;
}

bool shares_memory(const std::vector<int>& pes, const void* symmetric) {
    return std::ranges::all_of(pes, [&](int pe) { return shmem_ptr(symmetric, pe) != nullptr; });
}

std::string default_plan(Signals signals, bool shared, Rank pes, bool crowded) {
    if (std::string named = environment::plan(); !named.empty()) {
        try {
            demand_plan(named, pes);
            return named;
        } catch (const std::invalid_argument& error) {
            if (shmem_my_pe() == 0) environment::refuse_plan(error.what());
        }
    }
    if (pes == 1) return std::string(defaults::by_messages);
    if (pes < counter_from && !(crowded && shared && pes > 2)) return defaults::in_ways(pes - 1);
    const bool one_shot = pes <= one_shot_up_to || crowded;
    return one_shot && (shared || signals == Signals::puts) ? std::string(defaults::at_one_counter) : cheapest(pes);
}

std::uint32_t slots_needed(const std::string& spelling, Rank pes) { return slots_of(make_plan(spelling, pes)); }

bool crowded_here(const void* symmetric) {
    const int all = shmem_n_pes();
    int here = 0;
    for (int pe = 0; pe < all; ++pe)
        if (shmem_ptr(symmetric, pe) != nullptr) ++here;
    return static_cast<std::uint32_t>(here <= 1 ? all : here) > masked_cpus();
}

}  // namespace tollbar::detail::shmem
