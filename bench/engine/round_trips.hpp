// SPDX-License-Identifier: Apache-2.0
// Parametrized round trips between two ranks, from which L, o and g follow: Hoefler et al. 2007, "Low-overhead LogGP
// parameter assessment for modern interconnection networks", PRTT(n, d, s) with messages as a barrier has them.
#pragma once

#include "launch.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
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

/// The side that delays in a trip: the sender's, one between each two messages; or the receiver's, as many after the
/// first message, so that the others are there when they are looked for.
enum class Delayed : std::uint8_t { nobody, sender, receiver };

/// `messages` one after another, then one back.
struct Trip {
    std::uint32_t messages;
    Delayed delayed;
};

inline constexpr std::uint32_t most_messages = 16;
inline constexpr int batches = 40;  ///< of each kind; many short ones, so that most are not interrupted
inline constexpr std::array trips{Trip{1, Delayed::nobody}, Trip{most_messages, Delayed::nobody},
                                  Trip{most_messages, Delayed::sender}, Trip{most_messages, Delayed::receiver}};

/// A stretch of time that is spent without memory, clock or kernel, so that nothing but its length counts.
class Delay {
public:
    void lengthen_to(double nanoseconds) noexcept;

    /// How many turns of the loop that is, for another rank's delay to be as long.
    std::uint64_t turns() const noexcept { return turns_; }
    void set_turns(std::uint64_t turns) noexcept { turns_ = turns; }

    /// One copy of the loop, wherever it is called from: another would lie elsewhere and take another time.
    void operator()() const noexcept;

private:
    std::uint64_t turns_ = 0;
};

/// One rank's side of the trips; rank 0's is timed.
template <End E>
class Side {
public:
    template <class... Arguments>
    explicit Side(Rank rank, Arguments&&... arguments) : rank_(rank), end_(std::forward<Arguments>(arguments)...) {}

    Delay& delay() noexcept { return delay_; }

    /// How many trips of all messages make a batch of so long; for rank 0 to say. A delay as long as a round trip is
    /// longer than anything that keeps a sender or a receiver busy.
    std::uint64_t calibrate(double batch_ns) {
        constexpr std::uint64_t few = 64;
        double shortest_ns = batch_ns * batches;
        for (int i = 0; i < 4; ++i) shortest_ns = std::min(shortest_ns, batch(trips[0], few));
        if (rank_ == 0) delay_.lengthen_to(shortest_ns);
        return std::max<std::uint64_t>(4, static_cast<std::uint64_t>(batch_ns / (shortest_ns * most_messages)));
    }

    /// Batches of every kind of trip in turns; rank 0 prints a record for each kind.
    void round(const std::string& name, std::uint32_t number, std::uint64_t in_a_batch) {
        std::array<std::vector<double>, trips.size()> taken_ns;
        std::vector<double> delays_ns;
        for (int i = 0; i < batches; ++i) {
            for (std::size_t kind = 0; kind < trips.size(); ++kind)
                taken_ns[kind].push_back(batch(trips[kind], in_a_batch * most_messages / trips[kind].messages));
            delays_ns.push_back(delays_of_a_trip(in_a_batch));
        }
        if (rank_ != 0) return;
        for (std::size_t kind = 0; kind < trips.size(); ++kind)
            Record<"round_trips">()
                .field("round", number)
                .field("name", name)
                .field("messages", trips[kind].messages)
                .field("trip_ns", taken_ns[kind])
                .field("delays_ns", trips[kind].delayed != Delayed::nobody ? delays_ns : std::vector<double>())
                .field("delayed", spelled(trips[kind].delayed))
                .print();
    }

private:
    /// Nanoseconds a trip, on rank 0.
    double batch(Trip trip, std::uint64_t count) noexcept {
        const Ticks start = ticks();
        for (std::uint64_t i = 0; i < count; ++i) rank_ == 0 ? ask(trip) : answer(trip);
        return nanoseconds(ticks() - start) / static_cast<double>(count);
    }

    void ask(Trip trip) noexcept {
        end_.begin(1);
        for (std::uint32_t channel = 0; channel < trip.messages; ++channel) {
            if (trip.delayed == Delayed::sender && channel > 0) delay_();
            end_.send(channel);
        }
        end_.receive(0);
    }

    void answer(Trip trip) noexcept {
        end_.begin(trip.messages);
        for (std::uint32_t channel = 0; channel < trip.messages; ++channel) {
            if (trip.delayed == Delayed::receiver && channel == 1) delay_trip();
            end_.receive(channel);
        }
        end_.send(0);
    }

    /// The time to be taken off a delayed trip: all its delays, alone.
    double delays_of_a_trip(std::uint64_t in_a_batch) const noexcept {
        const Ticks start = ticks();
        for (std::uint64_t i = 0; i < in_a_batch; ++i) delay_trip();
        return nanoseconds(ticks() - start) / static_cast<double>(in_a_batch);
    }

    void delay_trip() const noexcept {
        for (std::uint32_t channel = 1; channel < most_messages; ++channel) delay_();
    }

    static std::string_view spelled(Delayed delayed) noexcept {
        return delayed == Delayed::sender ? "sender" : delayed == Delayed::receiver ? "receiver" : "nobody";
    }

    Rank rank_;
    E end_;
    Delay delay_;
};

/// The trips between the two ranks of a crew, over one kind of link.
template <End E>
class RoundTrips {
public:
    /// Each rank's process makes its end of rank and `arguments`.
    template <class... Arguments>
    RoundTrips(const Launch& launch, Crew& crew, std::string name, const Arguments&... arguments)
        : crew_(crew), name_(std::move(name)), batch_ns_(launch.pace.batch_ns / batches) {
        if (crew.ranks() != 2)
            throw WrongUse("there are two ranks in a round trip, not " + std::to_string(crew.ranks()));
        crew.run([&](Rank rank) { sides_[rank].emplace(rank, rank, arguments...); });
    }

    void round(std::uint32_t number) {
        if (in_a_batch_ == 0) {
            crew_.run([&](Rank rank) {
                const std::uint64_t wanted = sides_[rank]->calibrate(batch_ns_);
                if (rank == 0) in_a_batch_ = wanted;
            });
            in_a_batch_ = crew_.told(in_a_batch_);
            const std::uint64_t turns = crew_.told(sides_[0] ? sides_[0]->delay().turns() : 0);
            crew_.run([&](Rank rank) { sides_[rank]->delay().set_turns(turns); });
        }
        crew_.run([&](Rank rank) { sides_[rank]->round(name_, number, in_a_batch_); });
    }

private:
    Crew& crew_;
    std::string name_;
    double batch_ns_;
    std::array<std::optional<Side<E>>, 2> sides_;
    std::uint64_t in_a_batch_ = 0;
};

}  // namespace tollbar::bench
