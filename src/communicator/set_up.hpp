// SPDX-License-Identifier: Apache-2.0
// The messages by which the ranks of a communicator set up its barrier, and how they wait for these.
#pragma once

#include "base/error.hpp"
#include "transports/mpi/p2p.h"

#include <tollbar/detail/waiting.hpp>
#include <tollbar/plan.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

namespace tollbar::detail::mpi {

/// Throws std::system_error: the MPI refused or lost a message, so that no agreement can be had.
[[noreturn]] void fail_alone(const char* what);

/// The reason why no rank goes on, the same on every one of them.
struct Declined : std::system_error {
    using std::system_error::system_error;
};

/// Has a set-up that may not block do something else until its caller comes back. False: this time it may block.
using GiveWay = std::function<bool()>;

/// One rank's set-up, from the exchange of facts until its team is there. Throws as fail_alone() where the MPI fails;
/// reports the missing as often as the time-out asks.
class SetUp {
public:
    /// The arguments outlive this; with a `timeout_s` of 0 there are no reports. Without `give_way` every wait blocks.
    SetUp(const tollbar_p2p& p2p, const char* name, double timeout_s, GiveWay give_way = nullptr)
        : p2p_(p2p), name_(name), timeout_s_(timeout_s), give_way_(std::move(give_way)) {}

    /// Whether all waits may block, and those of barriers that are tried too.
    bool may_block() const noexcept { return !give_way_; }

    const tollbar_p2p& p2p() const noexcept { return p2p_; }
    const char* name() const noexcept { return name_; }
    bool is_root() const noexcept { return p2p_.rank == 0; }

    /// Collective: comes before everything else.
    void tell_apart() const {
        if (p2p_.is_apart != nullptr) wait_until([this] { return p2p_.is_apart(p2p_.state) != 0; });
    }

    /// Collective: `mine` of every rank, at rank 0 only.
    template <class T>
    std::vector<T> gather(const T& mine) const {
        return gather(std::vector<T>(1, mine));
    }

    /// Collective: as many of every rank, one rank after the other, at rank 0 only.
    template <class T>
    std::vector<T> gather(const std::vector<T>& mine) const {
        std::vector<T> all(is_root() ? p2p_.ranks * mine.size() : 0);
        gather(mine.data(), all.data(), mine.size() * sizeof(T));
        return all;
    }

    /// Collective: rank 0's data everywhere.
    void broadcast(void* data, std::size_t bytes) const;

    template <class T>
    void broadcast(T& data) const {
        broadcast(&data, sizeof data);
    }

    /// The failure of the lowest rank that has one. Plain memory, to be sent.
    struct Failure {
        std::int32_t error;  ///< an errno value; 0: no rank has failed
        Rank rank;
        std::array<char, 400> line;
    };

    /// Collective: the same on every rank.
    Failure first_failure(const c_door::Refusal& mine) const;

    /// Collective: each rank does something that may fail there alone. Throws Declined on all of them where it did.
    template <class Action>
    void together(Action action) const {
        const Failure failure = first_failure(c_door::refusal_of(action));
        if (failure.error != 0) throw Declined(std::error_code(failure.error, std::generic_category()));
    }

    /// Waits as for a message.
    template <class Happened>
    void wait_until(Happened happened) const {
        for (Pause wait(*this); !happened();) wait.pass();
    }

private:
    /// Time that passes between two looks.
    class Pause {
    public:
        explicit Pause(const SetUp& of) : set_up_(of), next_report_s_(of.timeout_s_) {}

        /// `received` has a nonzero byte for every rank whose message has come; NULL where that is not known.
        void pass(const unsigned char* received = nullptr);

    private:
        const SetUp& set_up_;
        Stopwatch waited_;
        double next_report_s_;
    };

    void gather(const void* mine, void* all, std::size_t bytes) const;
    void report(double waited_s, const unsigned char* received) const;

    const tollbar_p2p& p2p_;
    const char* name_;
    double timeout_s_;
    GiveWay give_way_;
};

}  // namespace tollbar::detail::mpi
