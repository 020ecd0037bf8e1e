// SPDX-License-Identifier: Apache-2.0
// Checks spellings, and has a rule for who names none.
#include "choice.hpp"

#include "algorithms/defaults.hpp"
#include "runtime/environment.hpp"
#include "runtime/error.hpp"

#include <tollbar/algorithms.hpp>
#include <tollbar/detail/crowding.hpp>
#include <tollbar/price.hpp>

#include <array>
#include <cerrno>
#include <limits>
#include <stdexcept>

namespace tollbar::shmem {

using runtime::Refusal;

namespace {

/// With so many PEs everybody still tells everybody else faster than there are second rounds.
constexpr Rank one_shot_up_to = 16;

/// From here on P^2 signals cost more than two that follow each other, through the counter.
constexpr Rank counter_from = 9;

/// A put between hosts with RDMA hardware: about 1 us under way, a tenth of it for the CPU and the card.
constexpr LogP put_between_hosts{.L = 1.0, .o = 0.1, .g = 0.1};

std::string fault_of(const std::string& spelling, Rank pes) {
    try {
        slots_needed(spelling, pes);
        const std::string_view where = runs_on(spelling);
        return where.empty() || where == "OpenSHMEM" ? "" : "plan '" + spelling + "' is for " + std::string(where);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

std::string cheapest(Rank pes) {
    constexpr std::array ways{1, 2, 3, 7};
    std::string best;
    double least = std::numeric_limits<double>::infinity();
    for (const int way : ways) {
        const std::string spelling = defaults::in_ways(static_cast<unsigned>(way));
        const double cost = price(make_plan(spelling, pes), put_between_hosts).last_us;
        if (cost < least) {
            least = cost;
            best = spelling;
        }
    }
    return best;
}

std::string for_pes(Rank pes, bool crowded, const SignalKind& signals) {
    if (pes == 1) return std::string(defaults::by_messages);
    if (pes < counter_from) return defaults::in_ways(pes - 1);
    const bool one_shot = pes <= one_shot_up_to || crowded;
    return one_shot && &signals == &by_puts ? std::string(defaults::at_one_counter) : cheapest(pes);
}

/// TOLLBAR_PLAN, if it names a plan for that many PEs.
std::string from_environment(Rank pes) {
    std::string value = environment::plan();
    if (value.empty()) return "";
    const std::string fault = fault_of(value, pes);
    if (fault.empty()) return value;
    if (shmem_my_pe() == 0) environment::refuse_plan(fault);
    return "";
}

}  // namespace

const SignalKind& signals_of(const tollbar_shmem_options& options) {
    for (const SignalKind* kind : {&by_puts, &by_stores})
        if (kind->number == options.signals) return *kind;
    throw Refusal{EINVAL,
                  "signals is TOLLBAR_SHMEM_PUTS or TOLLBAR_SHMEM_STORES, not " + std::to_string(options.signals)};
}

Spelling choose_plan(const tollbar_shmem_options& options, const SignalKind& signals, Rank pes, bool crowded) {
    if (options.plan != nullptr && *options.plan != '\0') {
        if (const std::string fault = fault_of(options.plan, pes); !fault.empty()) throw Refusal{EINVAL, fault};
        return {options.plan, true};
    }
    const std::string named = from_environment(pes);
    return {named.empty() ? for_pes(pes, crowded, signals) : named, false};
}

std::uint32_t slots_needed(const std::string& spelling, Rank pes) { return slots_of(make_plan(spelling, pes)); }

bool crowded_here(const void* symmetric) {
    const int all = shmem_n_pes();
    int here = 0;
    for (int pe = 0; pe < all; ++pe)
        if (shmem_ptr(symmetric, pe) != nullptr) ++here;
    return static_cast<std::uint32_t>(here <= 1 ? all : here) > usable_cpus();
}

}  // namespace tollbar::shmem
