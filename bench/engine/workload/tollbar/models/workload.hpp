// SPDX-License-Identifier: Apache-2.0
// Workloads, which ranks compute between barriers: the same times for simulators and for measuring programs, on every
// machine.
#pragma once

#include <tollbar/plan.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace tollbar {

/// Vigna's splitmix64: the same numbers on every machine, and any of them at once.
std::uint64_t mixed(std::uint64_t state) noexcept;

/// `runs` times the phases, each of them computing and then a barrier.
///
///     const Workload work = parse_workload("64~0.2");            // 51.2 to 76.8 us before each barrier
///     for (std::uint64_t episode = 0; episode < work.barriers(); ++episode) {
///         compute(work.before_us(rank, episode));
///         barrier.arrive_and_wait();
///     }
struct Workload {
    std::vector<double> compute_us{0.0};  ///< of each phase
    double variation = 0;    ///< a share: each rank's time is drawn from compute_us * (1 - variation .. 1 + variation)
    std::uint64_t runs = 1;  ///< how often all phases are done
    std::uint64_t seed = 1;  ///< of the drawn times
    std::vector<double> late_us{};  ///< of each rank, what it has to do before everything else; or empty

    /// How many barriers there are in all runs.
    std::uint64_t barriers() const noexcept { return runs * compute_us.size(); }

    /// The time that the rank computes before its barrier number `episode`, counted from 0.
    double before_us(Rank rank, std::uint64_t episode) const noexcept {
        return drawn_us(compute_us[episode % compute_us.size()], variation, seed, rank, episode);
    }

    /// The mean time of all phases, each once.
    double sum_us() const noexcept;

    /// The least that the episodes first .. last - 1 can take, whatever the barrier: in each, the longest computing.
    double longest_us(Rank ranks, std::uint64_t first, std::uint64_t last) const noexcept;

    /// One drawn time, `variation` being a share of the mean. The same arguments give the same time on every machine,
    /// in any order.
    static double drawn_us(double mean_us, double variation, std::uint64_t seed, std::uint64_t rank,
                           std::uint64_t episode) noexcept;
};

/// A synthetic application of Buntinas, Panda and Sadayappan, section 4.5: computing times of its phases.
struct Application {
    std::string_view name;           ///< as parse_workload takes it
    std::vector<double> compute_us;  ///< of its phases
};

/// 360us, 2100us and 9450us, named by what they compute. Throws std::bad_alloc at the first call.
const std::vector<Application>& applications();

/// By which share their times vary among ranks.
inline constexpr double application_variation = 0.1;

/// `US` computes so long before every barrier, an application's name its phases; `~SHARE` behind either makes the
/// times vary, where applications vary by 0.1 anyway. Throws std::invalid_argument that says what is accepted.
Workload parse_workload(std::string_view spelling);

}  // namespace tollbar
#pragma GCC visibility pop
