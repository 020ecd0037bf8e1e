// SPDX-License-Identifier: Apache-2.0
// The numbers that the NIC paper prints of its NICs, the parameters that follow from them, and its granularities.
#include <tollbar/algorithms.hpp>
#include <tollbar/models/nic.hpp>

#include "checks.hpp"

#include "models/checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace tollbar::nic_model {

namespace {

// Sections 4.1 and 4.2.
constexpr std::array<PrintedNic, 2> printed{
    {{"lanai4.3", {16, 216.70, 105.37}, 3.22}, {"lanai7.2", {8, 102.86, 46.41}, 1.16}}};

double steps_at(const Measured& at) { return steps(make_plan("pairwise", at.nodes)).total; }

/// at_zero + slope * b, in terms of b = Network + Recv.
struct StraightLine {
    double at_zero;
    double slope;

    double operator()(double b) const { return at_zero + slope * b; }
    /// Kept non-negative before; what is below 0 now is rounding.
    Range over(Range b) const {
        const auto [low, high] = std::minmax({(*this)(b.low), (*this)(b.high)});
        return {std::max(0.0, low), std::max(0.0, high)};
    }

    /// Leaves of b what keeps the line non-negative.
    void keep(Range& b) const {
        if (slope > 0) b.low = std::max(b.low, -at_zero / slope);
        if (slope < 0) b.high = std::min(b.high, -at_zero / slope);
        if (slope == 0 && at_zero < 0) b.high = -1;
    }
};

Ranges within(Range b, double host_step_us, const StraightLine& fixed, const StraightLine& sdma) {
    const auto limit = [host_step_us](double b_us) {
        return b_us > 0 ? host_step_us / b_us : std::numeric_limits<double>::infinity();
    };
    return {host_step_us, fixed.over(b), b, sdma.over(b), {limit(b.high), limit(b.low)}};
}

}  // namespace

std::span<const PrintedNic> printed_nics() noexcept { return printed; }

Parameters Parameters::without_mpi() const noexcept {
    Parameters below = *this;
    below.hrecv_us -= mpi_us;
    below.mpi_us = 0;
    return below;
}

Parameters preset(std::string_view name, double share) {
    check_share(share, "the share of the range of Send + RDMA + HRecv");
    const auto nic = std::ranges::find(printed, name, &PrintedNic::name);
    if (nic == printed.end()) {
        std::string known;
        for (const PrintedNic& each : printed) known += (known.empty() ? "" : ", ") + std::string(each.name);
        throw std::invalid_argument("a NIC is one of " + known + ", not '" + std::string(name) + "'");
    }
    const Ranges known = ranges(nic->at);
    const double fixed_us = std::lerp(known.nic_fixed_us.low, known.nic_fixed_us.high, share);
    const double step_us = (nic->at.nic_us - fixed_us) / steps_at(nic->at);
    Parameters parameters;
    parameters.send_us = parameters.rdma_us = parameters.hrecv_us = fixed_us / 3;
    parameters.network_us = parameters.recv_us = parameters.xmit_us = step_us / 2;
    parameters.sdma_us = std::max(0.0, known.host_step_us - fixed_us - step_us);
    parameters.mpi_us = std::min(nic->mpi_us, parameters.hrecv_us);
    return parameters;
}

Ranges ranges(const Measured& at) {
    check(at);
    const double count = steps_at(at);
    const double host_step_us = at.host_us / count;
    const StraightLine fixed{at.nic_us, -count};                   // NB = a + s b
    const StraightLine sdma{host_step_us - at.nic_us, count - 1};  // H = a + b + SDMA
    Range b{0, std::numeric_limits<double>::infinity()};
    fixed.keep(b);
    sdma.keep(b);
    if (!(b.low <= b.high))
        throw std::invalid_argument("no non-negative parameters give these latencies: NIC-based is slower");
    return within(b, host_step_us, fixed, sdma);
}

Ranges ranges(const Measured& slow, const Measured& fast, double ratio) {
    check(slow);
    check(fast);
    if (!(ratio > 1) || ratio > 1e6)
        throw std::invalid_argument("the faster NIC's terms are shorter by a ratio above 1, up to 1e6");
    const double slow_steps = steps_at(slow), fast_steps = steps_at(fast);
    const double host_step_us = slow.host_us / slow_steps;
    const double lost = 1 - 1 / ratio;  // of every term of the NIC
    const double nic_terms_us = (host_step_us - fast.host_us / fast_steps) / lost;
    const StraightLine rdma{(slow.nic_us - fast.nic_us) / lost, -(slow_steps - fast_steps / ratio) / lost};
    const StraightLine sdma{nic_terms_us - rdma.at_zero, -1 - rdma.slope};
    const StraightLine host{slow.nic_us - rdma.at_zero, -slow_steps - rdma.slope};  // the host's part of a
    const StraightLine fixed{slow.nic_us, -slow_steps};
    Range b{0, std::numeric_limits<double>::infinity()};
    for (const StraightLine& line : {rdma, sdma, host}) line.keep(b);
    if (!(b.low <= b.high && nic_terms_us <= host_step_us))
        throw std::invalid_argument("no non-negative parameters give the latencies of both NICs at this ratio");
    return within(b, host_step_us, fixed, sdma);
}

double compute_for_efficiency_us(double barrier_us, double efficiency) {
    return loop_for_efficiency_us(barrier_us, efficiency) * efficiency;
}

double loop_for_efficiency_us(double barrier_us, double efficiency) {
    models::check_time(barrier_us, "a barrier");
    check_share(efficiency, "an efficiency");
    if (efficiency == 1) throw std::invalid_argument("an efficiency is below 1: a barrier takes some time");
    return barrier_us / (1 - efficiency);
}

}  // namespace tollbar::nic_model
