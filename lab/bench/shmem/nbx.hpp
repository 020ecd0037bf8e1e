// SPDX-License-Identifier: Apache-2.0
// The same exchange by messages: synchronous sends and a non-blocking barrier (Hoefler, Siebert, Lumsdaine 2010, NBX).
#pragma once

#include "dsde.hpp"

#include <mpi.h>

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

inline Nbx::Nbx(Rank self, Rank ranks, std::uint64_t seed)
    : self_(self), outbox_(Letters::count(ranks) * longest_letter), letters_(self, ranks, seed, outbox_.data()),
      sends_(Letters::count(ranks), MPI_REQUEST_NULL) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
}

inline Nbx::~Nbx() { MPI_Comm_free(&comm_); }

inline void Nbx::run(std::uint64_t iterations, bool crowded) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
        ++iteration_;
        const int tag = static_cast<int>(iteration_ % 2);  // a neighbour may be one iteration ahead, never two
        std::size_t slot = 0;
        for (const Letter& letter : letters_.write(iteration_)) {
            MPI_Issend(letters_.text(slot), static_cast<int>(letter.bytes), MPI_BYTE, static_cast<int>(letter.to), tag,
                       comm_, &sends_[slot]);
            ++slot;
            ++mail_.sent;
        }
        MPI_Request barrier = MPI_REQUEST_NULL;
        int delivered = 0;
        unsigned idle = 0;
        for (int done = 0; done == 0;) {
            if (!receive(tag) && crowded && ++idle % idle_tests == 0) sched_yield();
            if (delivered != 0) {
                MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
            } else {
                MPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &delivered, MPI_STATUSES_IGNORE);
                if (delivered != 0) MPI_Ibarrier(comm_, &barrier);
            }
        }
    }
}

inline bool Nbx::receive(int tag) {
    MPI_Status status;
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &there, &status);
    if (there == 0) return false;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    MPI_Recv(inbox_.data(), bytes, MPI_BYTE, status.MPI_SOURCE, tag, comm_, MPI_STATUS_IGNORE);
    const std::span<const unsigned char> text(inbox_.data(), static_cast<std::size_t>(bytes));
    if (!is_whole(text, mark_of(iteration_, static_cast<Rank>(status.MPI_SOURCE), self_))) ++mail_.damaged;
    ++mail_.received;
    return true;
}

}  // namespace tollbar::bench
