// SPDX-License-Identifier: Apache-2.0
// Asks the MPI what it allows, and has all ranks give up together where one cannot go on.
#include "setup.hpp"

#include "base/environment.h"
#include "base/error.hpp"
#include "communicator/set_up.hpp"
#include "transports/mpi/host_mpi.h"
#include "transports/mpi/pmpi_p2p.h"

#include <array>
#include <cerrno>

namespace tollbar::detail::hybrid {

void demand(int code, const char* what) {
    if (code != MPI_SUCCESS) throw Refusal{EIO, std::string("the MPI refused ") + what};
}

int rank_in(MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

int ranks_of(MPI_Comm comm) {
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

std::string name_of_communicator(MPI_Comm comm) {
    std::array<char, MPI_MAX_OBJECT_NAME> name{};
    int length = 0;
    PMPI_Comm_get_name(comm, name.data(), &length);
    return length == 0 ? "a communicator" : std::string(name.data(), static_cast<std::size_t>(length));
}

bool is_main_thread() {
    int main = 0;
    PMPI_Is_thread_main(&main);
    return main != 0;
}

int level_that_lets_talk(MPI_Comm comm) {
    if (tollbar_find_fit() != 1) throw Refusal{ENOSYS, "this library was made for another MPI than the program's"};
    int running = 0;
    int over = 0;
    PMPI_Initialized(&running);
    PMPI_Finalized(&over);
    if (running == 0 || over != 0) throw Refusal{EINVAL, "MPI is not running: call between MPI_Init and MPI_Finalize"};
    int level = MPI_THREAD_SINGLE;
    demand(PMPI_Query_thread(&level), "to tell the thread level");
    if (level == MPI_THREAD_FUNNELED && !is_main_thread())
        throw Refusal{EPERM, "with MPI_THREAD_FUNNELED the main thread makes the barrier"};
    if (comm == MPI_COMM_NULL) throw Refusal{EINVAL, "the communicator is MPI_COMM_NULL"};
    int inter = 0;
    demand(PMPI_Comm_test_inter(comm, &inter), "the communicator");
    if (inter != 0) throw Refusal{EINVAL, "an intercommunicator has no combined barrier; merge it first"};
    return level;
}

RankPart::RankPart(MPI_Comm of) {
    demand(PMPI_Comm_dup(of, &comm_), "to duplicate the communicator");
    const int code = tollbar_pmpi_p2p_open(comm_, &p2p_);
    if (code != MPI_SUCCESS) PMPI_Comm_free(&comm_);
    demand(code, "the communicator");
}

void RankPart::agree_on(const Refusal& mine) const {
    const mpi::SetUp::Failure failure = mpi::SetUp(p2p_, "", 0).first_failure(mine);
    if (failure.error != 0)
        throw Refusal{failure.error, "rank " + std::to_string(failure.rank) + ": " + failure.line.data()};
}

void RankPart::join(const char* outer, const char* name) {
    tollbar_mpi_options options{};
    options.plan = outer;
    options.name = name;
    options.mpi = tollbar_mpi_key();
    options.budget_ms = -1;
    options.timeout_s = tollbar_timeout();  // nobody else watches what is no call of the MPI
    if (const int error = tollbar_mpi_join(&p2p_, &options, &participant_); error != 0)
        throw Refusal{error, "the ranks could not set up their barrier"};
}

RankPart::~RankPart() {
    tollbar_mpi_leave(participant_);
    tollbar_pmpi_p2p_close(&p2p_);
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (finalized == 0) PMPI_Comm_free(&comm_);
}

MPI_Comm RankPart::node() const {
    MPI_Comm node = MPI_COMM_NULL;
    const auto number = static_cast<int>(tollbar_mpi_node(participant_));
    demand(PMPI_Comm_split(comm_, number, rank_in(comm_), &node), "to tell the nodes apart");
    return node;
}

}  // namespace tollbar::detail::hybrid
