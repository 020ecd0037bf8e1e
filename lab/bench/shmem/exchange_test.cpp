// SPDX-License-Identifier: Apache-2.0
// The exchange finds every letter behind a barrier, and misses some behind what is none. Run by a launcher.
#include "nbx.hpp"
#include "split.hpp"

#include <cstdio>

namespace tollbar::bench {

namespace {

constexpr std::uint64_t iterations = 200;
constexpr std::uint64_t seed = 1;

/// Lets everybody out at once.
struct NoBarrier {
    static void post() noexcept {}
    static bool test() noexcept { return true; }
};

struct Fate {
    std::uint64_t lost;
    std::uint64_t damaged;
};

Fate in_all(const Mail& mail) {
    Fate own{.lost = mail.sent - mail.received, .damaged = mail.damaged};  // one may receive more than it sends
    Fate all{};
    MPI_Allreduce(&own.lost, &all.lost, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&own.damaged, &all.damaged, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

template <class Barrier>
Fate exchanged(const MpiJob& job) {
    Exchange exchange(job.rank(), job.ranks(), seed);
    Barrier barrier;
    exchange_by(exchange, barrier, iterations, true);
    return in_all(exchange.mail());
}

int outcome() {
    const PeJob job;
    int wrong = 0;
    const auto check = [&](const char* what, bool holds) {
        if (holds) return;
        wrong = 1;
        if (job.rank() == 0) std::fprintf(stderr, "not so: %s\n", what);
    };
    const Fate split = exchanged<IbarrierSplit>(job);
    check("a split barrier loses no letter", split.lost == 0 && split.damaged == 0);
    const Fate blocking = exchanged<BlockingSplit>(job);
    check("a blocking barrier loses no letter", blocking.lost == 0 && blocking.damaged == 0);
    Nbx messages(job.rank(), job.ranks(), seed);
    messages.run(iterations, true);
    const Fate sent = in_all(messages.mail());
    check("messages lose no letter", sent.lost == 0 && sent.damaged == 0);
    check("what is no barrier loses letters", exchanged<NoBarrier>(job).lost != 0);
    return wrong;
}

}  // namespace

}  // namespace tollbar::bench

int main() { return tollbar::bench::outcome(); }
