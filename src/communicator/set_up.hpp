// SPDX-License-Identifier: Apache-2.0
// How the ranks of a communicator tell each other things before its first barrier, and how they wait for that.
#pragma once

#include "transports/mpi/p2p.h"

#include <tollbar/detail/waiting.hpp>
#include <tollbar/plan.hpp>

#include <cerrno>
#include <cstddef>
#include <exception>
#include <system_error>
#include <vector>

namespace tollbar::mpi {

/// Throws std::system_error: the MPI refused or lost a message, so that no agreement can be had.
[[noreturn]] void fail_alone(const char* what);

/// Why no rank goes on, the same on every one of them.
struct Declined : std::system_error {
    using std::system_error::system_error;
};

/// One rank's view of it. Throws as fail_alone() where the MPI fails; says who is missing as often as the time-out
/// asks.
class SetUp {
public:
    /// What is handed in outlives this; without `timeout_s` there are no reports.
    SetUp(const tollbar_p2p& p2p, const char* name, double timeout_s) : p2p_(p2p), name_(name), timeout_s_(timeout_s) {}

    const tollbar_p2p& p2p() const noexcept { return p2p_; }
    const char* name() const noexcept { return name_; }
    bool is_root() const noexcept { return p2p_.rank == 0; }

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

    /// Collective: each rank does something that may fail there alone. Throws Declined on all of them where it did.
    template <class Action>
    void together(Action action) const {
        int error = 0;
        try {
            action();
        } catch (const std::system_error& failed) {
            error = failed.code().value();
        } catch (const std::exception&) {
            error = ENOMEM;
        }
        agree_on(error);
    }

    /// Waits as for a message.
    template <class Happened>
    void wait_until(Happened happened) const {
        for (Wait wait(*this); !happened();) wait.pass();
    }

private:
    /// Time that passes between two looks.
    class Wait {
    public:
        explicit Wait(const SetUp& of) : set_up_(of), next_report_s_(of.timeout_s_) {}

        /// `heard` has a nonzero byte for every rank heard of so far; NULL where that is not known.
        void pass(const unsigned char* heard = nullptr);

    private:
        const SetUp& set_up_;
        Stopwatch waited_;
        double next_report_s_;
    };

    void agree_on(int error) const;
    void gather(const void* mine, void* all, std::size_t bytes) const;
    void report(double waited_s, const unsigned char* heard) const;

    const tollbar_p2p& p2p_;
    const char* name_;
    double timeout_s_;
};

}  // namespace tollbar::mpi
