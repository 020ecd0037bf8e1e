// SPDX-License-Identifier: Apache-2.0
// Parametrized round trips between two ranks, from which L, o and g follow: Hoefler et al. 2007, "Low-overhead LogGP
// parameter assessment for modern interconnection networks", PRTT(n, d, s) with messages as a barrier has them.
#pragma once

#include "clock.hpp"
#include "json.hpp"

#include <tollbar/plan.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace tollbar::bench {

/// One rank's end of what is measured. A trip uses channels 0 .. messages-1 towards rank 1 and channel 0 back.
template <class E>
concept End = requires(E end, std::uint32_t channel) {
    { end.begin(channel) }
    noexcept;  ///< another trip, in which so many messages come to this end
    { end.send(channel) }
    noexcept;  ///< as the transport signals
    { end.receive(channel) }
    noexcept;  ///< as the transport awaits
};

/// `messages` one after another, with a delay between each two or without, then one back.
struct Trip {
    std::uint32_t messages;
    bool delayed;
};

inline constexpr std::uint32_t most_messages = 16;
inline constexpr std::array trips{Trip{1, false}, Trip{most_messages, false}, Trip{most_messages, true}};

/// A stretch of time that is spent without memory, clock or kernel, so that nothing but its length counts.
class Delay {
public:
    void lengthen_to(double nanoseconds) noexcept;

    /// One copy of the loop, wherever it is called from: another would lie elsewhere and take another time.
    void operator()() const noexcept;

private:
    std::uint64_t turns_ = 0;
};

/// What the two ranks go through together, rank 0 being timed.
template <End E>
class RoundTrips {
public:
    /// Tells the other rank rank 0's number, and gives it. Nobody waits here while a batch is timed.
    using Agree = std::function<std::uint64_t(std::uint64_t mine)>;

    /// `batch_ns` is for all batches of a kind together.
    RoundTrips(Rank rank, E& end, double batch_ns, Agree agree)
        : rank_(rank), end_(end), batch_ns_(batch_ns), agree_(std::move(agree)) {}

    /// Batches of every kind of trip in turns; rank 0 prints a record for each kind.
    void round(std::string_view name, std::uint32_t number) {
        if (in_a_batch_ == 0) calibrate();
        std::array<std::vector<double>, trips.size()> taken_ns;
        std::vector<double> delays_ns;
        for (int i = 0; i < batches; ++i) {
            for (std::size_t kind = 0; kind < trips.size(); ++kind)
                taken_ns[kind].push_back(batch(trips[kind], in_a_batch_ * most_messages / trips[kind].messages));
            delays_ns.push_back(delays_of_a_trip());
        }
        if (rank_ != 0) return;
        for (std::size_t kind = 0; kind < trips.size(); ++kind)
            Record("round_trips")
                .field("round", number)
                .field("name", name)
                .field("messages", trips[kind].messages)
                .field("trip_ns", taken_ns[kind])
                .field("delays_ns", trips[kind].delayed ? std::span<const double>(delays_ns) : std::span<double>())
                .print();
    }

private:
    /// Many short ones, so that most are not interrupted.
    static constexpr int batches = 40;

    /// A delay as long as a round trip is longer than anything that keeps a sender or a receiver busy.
    void calibrate() {
        constexpr std::uint64_t few = 64;
        double shortest_ns = batch_ns_;
        for (int i = 0; i < 4; ++i) shortest_ns = std::min(shortest_ns, batch(trips[0], few));
        if (rank_ == 0) delay_.lengthen_to(shortest_ns);
        const double longest_ns = shortest_ns * most_messages;
        in_a_batch_ = agree_(std::max<std::uint64_t>(4, static_cast<std::uint64_t>(batch_ns_ / batches / longest_ns)));
    }

    /// Nanoseconds a trip, on rank 0.
    double batch(Trip trip, std::uint64_t count) noexcept {
        const Ticks start = ticks();
        for (std::uint64_t i = 0; i < count; ++i) rank_ == 0 ? ask(trip) : answer(trip);
        return nanoseconds(ticks() - start) / static_cast<double>(count);
    }

    void ask(Trip trip) noexcept {
        end_.begin(1);
        for (std::uint32_t channel = 0; channel < trip.messages; ++channel) {
            if (trip.delayed && channel > 0) delay_();
            end_.send(channel);
        }
        end_.receive(0);
    }

    void answer(Trip trip) noexcept {
        end_.begin(trip.messages);
        for (std::uint32_t channel = 0; channel < trip.messages; ++channel) end_.receive(channel);
        end_.send(0);
    }

    /// What is to be taken off a delayed trip: all its delays, alone.
    double delays_of_a_trip() const noexcept {
        const Ticks start = ticks();
        for (std::uint64_t i = 0; i < in_a_batch_; ++i)
            for (std::uint32_t channel = 1; channel < most_messages; ++channel) delay_();
        return nanoseconds(ticks() - start) / static_cast<double>(in_a_batch_);
    }

    Rank rank_;
    E& end_;
    double batch_ns_;
    Agree agree_;
    Delay delay_;
    std::uint64_t in_a_batch_ = 0;
};

}  // namespace tollbar::bench
