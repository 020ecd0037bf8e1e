// SPDX-License-Identifier: Apache-2.0
// What the ranks of a communicator tell each other before its first barrier: who shares a node and a piece of its
// memory, and which plan everybody wants.
#pragma once

#include "participant.h"
#include "transports/mpi/arena.hpp"

#include <tollbar/crowding.hpp>
#include <tollbar/plan.hpp>
#include <tollbar/tuning.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace tollbar::mpi {

/// Where a rank's process is; kept only while somebody may ask who is missing.
struct Address {
    char host[32];
    std::int32_t process;
};

/// What rank 0 says and everybody does.
struct Terms {
    char plan[128];  ///< empty: to be chosen
    double budget_ms;
    double timeout_s;      ///< 0: never
    std::uint64_t ticket;  ///< unique in the job, as are the next 2^32; see ticket_of()
    Rank nodes;
    Rank per_node;  ///< ranks on the node that has most of them
    bool makes_arenas;
    bool crowded;  ///< some node has more ranks than CPUs
};

struct Agreement {
    Terms terms{};
    std::vector<Rank> node_of;       ///< of each rank
    std::vector<Rank> leaders;       ///< the lowest rank of each node
    std::vector<Rank> here;          ///< the ranks of this node, ascending
    Rank node = 0;                   ///< this rank's
    Standing standing{};             ///< this rank's
    Rank place = 0;                  ///< this rank's, among those here
                                     ///< this rank's, among those here
    std::shared_ptr<Arena> arena;    ///< null: the ranks here have no memory in common, or there is but one
    std::vector<Address> addresses;  ///< of all ranks; empty without time-out
};

/// What gethostname(2) says.
const std::string& host_name();

/// A number that only the ranks of one node use, and for one thing: 0 for their arena, others for their meetings.
constexpr std::uint64_t ticket_of(const Terms& terms, Rank node, std::uint8_t number) noexcept {
    return terms.ticket + (std::uint64_t{node} << 8) + number;
}

/// What plans for the communicator are chosen and stored by.
MpiSituation situation_of(const Terms& terms, Rank ranks, const tollbar_mpi_options& options);

/// Collective over the carrier's ranks. Throws std::system_error where the MPI fails.
/// With a time-out, says on stderr who has not come to it.
Agreement agree(const tollbar_carrier& carrier, const tollbar_mpi_options& options);

/// Passes time while a set-up waits, and says who is missing as often as the time-out asks.
class SetUpWait {
public:
    SetUpWait(const tollbar_carrier& carrier, const char* name, double timeout_s)
        : carrier_(carrier), name_(name), timeout_s_(timeout_s), next_report_s_(timeout_s) {}

    tollbar_idle idle() noexcept { return {.call = call, .context = this}; }

private:
    static void call(void* self, const unsigned char* heard);
    void report(double waited_s, const unsigned char* heard) const;

    const tollbar_carrier& carrier_;
    const char* name_;
    double timeout_s_;
    double next_report_s_;
    std::uint64_t calls_ = 0;
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

/// Collective: `mine` of every rank, at rank 0 only.
template <class T>
std::vector<T> gather(const tollbar_carrier& carrier, const T& mine, SetUpWait waiting) {
    std::vector<T> all(carrier.rank == 0 ? carrier.ranks : 1);
    const tollbar_idle idle = waiting.idle();
    if (carrier.gather(carrier.state, &mine, all.data(), sizeof(T), &idle) != 0)
        throw std::system_error(std::make_error_code(std::errc::io_error), "the MPI could not gather");
    return all;
}

/// Collective: rank 0's data everywhere.
void broadcast(const tollbar_carrier& carrier, void* data, std::size_t bytes, SetUpWait waiting);

}  // namespace tollbar::mpi
