// SPDX-License-Identifier: Apache-2.0
// A gather that goes on in the background of the first episodes.
#include "node_occupancy.hpp"

#include <exception>

namespace tollbar::detail::hybrid {

NodeOccupancy::NodeOccupancy(MPI_Comm node) : node_(node), request_(MPI_REQUEST_NULL) {
    int ranks = 0;
    PMPI_Comm_size(node_, &ranks);
    all_.resize(static_cast<std::size_t>(ranks));
}

NodeOccupancy::~NodeOccupancy() {
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (finalized != 0) return;
    // Every rank has asked in the first episode, or none has.
    if (stage_ == Stage::asked) PMPI_Wait(&request_, MPI_STATUS_IGNORE);
    PMPI_Comm_free(&node_);
}

NodeOccupancy::Summary NodeOccupancy::sum_up(const std::vector<Standing>& threads) {
    Summary sum{.standing = threads.front(),
                .threads = static_cast<std::uint32_t>(threads.size()),
                .crowded = occupancy_of(threads) == Occupancy::oversubscribed};
    for (const Standing& one : threads) sum.standing.cpus = sum.standing.cpus | one.cpus;
    return sum;
}

void NodeOccupancy::ask(const RankThreads& team) {
    mine_ = sum_up(team.standings());
    const int refused = PMPI_Iallgather(&mine_, sizeof mine_, MPI_BYTE, all_.data(), sizeof mine_, MPI_BYTE, node_,
                                        &request_);
    stage_ = refused == MPI_SUCCESS ? Stage::asked : Stage::known;
}

Occupancy NodeOccupancy::judge() const {
    std::vector<Standing> everybody;
    for (const Summary& one : all_) {
        if (one.crowded) return Occupancy::oversubscribed;
        everybody.insert(everybody.end(), one.threads, one.standing);
    }
    return occupancy_of(everybody);
}

void NodeOccupancy::go_on(RankThreads& team, tollbar_mpi_participant* participant) noexcept {
    if (stage_ == Stage::known) return;
    try {
        if (stage_ == Stage::unasked) ask(team);
        int over = 0;
        if (stage_ != Stage::asked || PMPI_Test(&request_, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS || over == 0)
            return;
        stage_ = Stage::known;
        const Occupancy occupancy = judge();
        team.tell(occupancy);
        if (occupancy == Occupancy::exclusive) tollbar_mpi_set_spinning(participant, TOLLBAR_SPINNING_ALLOWED);
    } catch (const std::exception&) {  // no memory: everybody stays polite
    }
}

}  // namespace tollbar::detail::hybrid
