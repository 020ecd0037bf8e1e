// SPDX-License-Identifier: Apache-2.0
// The same exchange by messages: synchronous sends and a non-blocking barrier (Hoefler, Siebert, Lumsdaine 2010, NBX).
#pragma once

#include "letters.hpp"

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

namespace tollbar::bench {

/// One rank's end, on a communicator of its own.
class Nbx {
public:
    /// Collective.
    Nbx(Rank self, Rank ranks, std::uint64_t seed);
    ~Nbx();
    Nbx(const Nbx&) = delete;
    Nbx& operator=(const Nbx&) = delete;

    /// Collective. Gives the CPU away when idle where ranks share it.
    void run(std::uint64_t iterations, bool crowded);

    const Mail& mail() const noexcept { return mail_; }

private:
    bool receive(int tag);

    Rank self_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    std::vector<unsigned char> outbox_;
    Letters letters_;
    std::vector<MPI_Request> sends_;
    std::array<unsigned char, longest_letter> inbox_{};
    std::uint64_t iteration_ = 0;
    Mail mail_;
};

}  // namespace tollbar::bench
