// SPDX-License-Identifier: Apache-2.0
// The MPI job that a measuring program is: who is in it, which MPI, and what stands before MPI_Barrier.
#include "job.hpp"

#include <array>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace tollbar::bench {

namespace {

constexpr std::string_view digits = "0123456789.";

/// The first word of digits and points in the text, which begins after `since`.
std::string version_in(std::string_view text, std::string_view since) {
    const std::size_t found = text.find(since);
    const std::size_t begin = found == std::string_view::npos ? found
                                                              : text.find_first_of(digits, found + since.size());
    if (begin == std::string_view::npos) return "?";
    return std::string(text.substr(begin, text.find_first_not_of(digits, begin) - begin));
}

}  // namespace

MpiJob::MpiJob(int level) {
    int given = level;
    int begun = 0;
    MPI_Initialized(&begun);
    ends_ = begun == 0;
    if (begun != 0) {
        MPI_Query_thread(&given);
    } else if (level == MPI_THREAD_SINGLE) {
        MPI_Init(nullptr, nullptr);
    } else {
        MPI_Init_thread(nullptr, nullptr, level, &given);
    }
    if (given < level) throw std::runtime_error("the MPI does not give the thread level that was asked for");
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    rank_ = static_cast<Rank>(rank);
    ranks_ = static_cast<Rank>(ranks);
}

MpiJob::~MpiJob() {
    if (ends_) MPI_Finalize();
}

std::uint64_t MpiJob::told(std::uint64_t mine) const {
    PMPI_Bcast(&mine, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return mine;
}

bool MpiJob::all(bool mine) const {
    int found = mine ? 1 : 0;
    PMPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return found == 1;
}

Rank mpi_hosts() {
    MPI_Comm host = MPI_COMM_NULL;
    int place = 0;
    int hosts = 0;
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    PMPI_Comm_rank(host, &place);
    PMPI_Comm_free(&host);
    const int leads = place == 0 ? 1 : 0;
    PMPI_Allreduce(&leads, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return static_cast<Rank>(hosts);
}

std::string mpi_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string_view said(text.data(), static_cast<std::size_t>(length));
    if (said.find("Open MPI") != std::string_view::npos) return "Open MPI " + version_in(said, "Open MPI v");
    if (said.find("Intel") != std::string_view::npos) return "Intel MPI " + version_in(said, "Library");
    if (said.find("MPICH") != std::string_view::npos) return "MPICH " + version_in(said, "Version:");
    return "an unknown MPI";
}

std::string mpi_door() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find("/libtollbar_mpi_") != std::string::npos) return "preload";
        if (line.find("/mca_coll_tollbar") != std::string::npos) return "component";
    }
    return "none";
}

Versions mpi_versions(const std::string& setting, const std::string& apart) {
    return {{"mpi", mpi_version()},
            {"door", mpi_door()},
            {"setting", setting},
            {"apart", apart},
            {"hosts", std::to_string(mpi_hosts())}};
}

}  // namespace tollbar::bench
