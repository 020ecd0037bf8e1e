// SPDX-License-Identifier: Apache-2.0
// Ranks of one host know of each other by their file, ranks of several know by everybody.h: one that has not this
// library would never come to a collective call of ours.
#include "gathered.hpp"

#include "account.hpp"
#include "missing/sealed.hpp"

#include "missing/places.hpp"
#include "missing/reporting.hpp"
#include "base/say.h"
#include "doors/pmpi/everybody.h"

#include <algorithm>
#include <dlfcn.h>
#include <mpi.h>
#include <numeric>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tollbar::detail::watch {

namespace {

bool all_give_theirs = false;
MPI_Comm accounts;  ///< of all ranks, then

bool all_give(const OwnRow& place, int rank, int ranks) noexcept {
    if (place.row != nullptr && all_are_here(place, ranks)) return gives_account(place, ranks);
    int lacks = place.row != nullptr && tollbar_comes_here("MPI_Finalize") != 0 ? 0 : 1, any = 1;
    const bool all_have_it = tollbar_everybody_is_here(1) != 0;
    if (all_have_it) PMPI_Allreduce(&lacks, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any != 0 && (all_have_it ? rank == 0 : tollbar_tells_of_no() != 0))
        tollbar_say("some rank is not watched by the same library: no rank tells how long it has waited");
    return any == 0;
}

/// Sends nothing where it finds no memory: all ranks make the same calls of the MPI.
void gather(int rank, int ranks) noexcept {
    CodePlaces places;
    const auto site = [&](std::uint64_t address) { return places.of(0, address - 1); };
    const std::size_t room = account_bytes(static_cast<std::size_t>(ranks));
    const std::size_t most = std::clamp<std::size_t>(16384 / static_cast<std::size_t>(ranks), 16, 1024);
    std::string own, all;
    std::vector<int> sizes, begins;
    report_if_possible([&] { own = account(rank, most, room, site); });
    int bytes = static_cast<int>(own.size()), failed = 0;
    report_if_possible([&] {
        failed = 1;
        if (rank == 0) sizes.resize(static_cast<std::size_t>(ranks));
        begins.resize(sizes.size());
        failed = 0;
    });
    int any = 0;
    PMPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, accounts);
    if (any != 0) return;
    PMPI_Gather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, accounts);
    report_if_possible([&] {
        failed = 1;
        std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), 0);
        if (rank == 0) all.resize(static_cast<std::size_t>(begins.back()) + static_cast<std::size_t>(sizes.back()));
        failed = 0;
    });
    PMPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, accounts);
    if (any != 0) return;
    PMPI_Gatherv(own.data(), bytes, MPI_BYTE, all.data(), sizes.data(), begins.data(), MPI_BYTE, 0, accounts);
    report_if_possible([&] {
        for (std::size_t at = 0, end = 0; (end = all.find('\n', at)) != std::string::npos; at = end + 1)
            tell(all.substr(at, end - at), "account");
    });
    // All go on together: MPICH over UCX may wait in MPI_Finalize for ever for a rank that is far ahead there.
    PMPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, accounts);
}

}  // namespace

bool begin_to_gather(const OwnRow& place) noexcept {
    int ranks = 1, rank = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!all_give(place, rank, ranks)) return false;
    PMPI_Comm_dup(MPI_COMM_WORLD, &accounts);
    tollbar_everybody_knows();
    return all_give_theirs = true;
}

void gather_accounts() noexcept {
    if (!std::exchange(all_give_theirs, false)) return;
    int ranks = 1, rank = 0;
    PMPI_Comm_size(accounts, &ranks);
    PMPI_Comm_rank(accounts, &rank);
    gather(rank, ranks);
    PMPI_Comm_free(&accounts);
}

}  // namespace tollbar::detail::watch
