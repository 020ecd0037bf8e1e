// SPDX-License-Identifier: Apache-2.0
// The processes of a job as the ranks of a launch. They meet, and keep their stamps, in memory of their own making, so
// that nothing of the measured MPI is needed to measure it.
#include "process_crew.hpp"

#include "barriers.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <new>
#include <stdexcept>

namespace tollbar::bench {

namespace {

constexpr std::size_t in_lines(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

/// Maps memory that all ranks of the job share; its name is gone when this returns. Collective.
std::byte* share(const MpiJob& job, std::size_t bytes) {
    std::array<char, 64> name{};
    if (job.rank() == 0)
        std::snprintf(name.data(), name.size(), "/tollbar.bench.%d.%lld", static_cast<int>(getpid()),
                      static_cast<long long>(std::chrono::steady_clock::now().time_since_epoch().count()));
    PMPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);

    int file = -1;
    const auto all_have_it = [&](bool mine) {
        int have = mine ? 1 : 0;
        PMPI_Allreduce(MPI_IN_PLACE, &have, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        return have == 1;
    };
    if (job.rank() == 0) {
        file = shm_open(name.data(), O_RDWR | O_CREAT | O_EXCL, 0600);
        if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) != 0) close(std::exchange(file, -1));
    }
    PMPI_Barrier(MPI_COMM_WORLD);
    if (job.rank() != 0) file = shm_open(name.data(), O_RDWR, 0600);
    void* memory = file < 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    const bool shared = all_have_it(memory != MAP_FAILED);
    if (job.rank() == 0) shm_unlink(name.data());
    if (!shared)
        throw std::runtime_error(
            "the ranks have no shared memory and so no common clock: measure on one machine, with "
            "room in /dev/shm");
    return static_cast<std::byte*>(memory);
}

}  // namespace

/// At the beginning of the memory; the usages and both kinds of stamps follow.
struct ProcessCrew::Board {
    Board(Rank processes, Rank ranks) : meeting(processes, Scope::shared), everybody(ranks, Scope::shared) {}

    alignas(line_bytes) PthreadBarrier meeting;    ///< of the processes
    alignas(line_bytes) PthreadBarrier everybody;  ///< of all threads in a visit
    alignas(line_bytes) std::atomic<std::uint64_t> lined_up{0};
    alignas(line_bytes) bool said = false;
    alignas(Timing) std::byte timing[sizeof(Timing)];
    alignas(Stamping) std::byte stamping[sizeof(Stamping)];

    Usage* usages() noexcept { return reinterpret_cast<Usage*>(reinterpret_cast<std::byte*>(this) + sizeof(Board)); }
};

class ProcessCrew::ProcessVisit final : public Visit {
public:
    explicit ProcessVisit(const ProcessCrew& crew)
        : Visit(*std::launder(reinterpret_cast<Timing*>(crew.board().timing)),
                *std::launder(reinterpret_cast<Stamping*>(crew.board().stamping)), stamps_, isolated_),
          crew_(crew), stamps_(crew.ranks(), crew.stamped_, after_usages()),
          isolated_(crew.ranks(), crew.isolated_, after_usages() + Stamps::bytes(crew.ranks(), crew.stamped_)) {}

    void meet() override { crew_.board().everybody.episode(); }

    void line_up() override {
        meet();
        if (crew_.crowded_) return;
        // Whoever wakes from the meeting first waits for the others with open eyes.
        std::atomic<std::uint64_t>& lined_up = crew_.board().lined_up;
        const std::uint64_t all = (lined_up.fetch_add(1, std::memory_order_acq_rel) / crew_.ranks() + 1) *
                                  crew_.ranks();
        while (lined_up.load(std::memory_order_acquire) < all) NativeSync::pause();  // pairs with the others' adds
    }

    Usage* usage_of(Rank rank) override {
        return rank % crew_.team_.threads() == 0 ? crew_.board().usages() + rank : nullptr;
    }

private:
    std::byte* after_usages() const { return crew_.memory_ + in_lines(sizeof(Board) + crew_.ranks() * sizeof(Usage)); }

    const ProcessCrew& crew_;
    Stamps stamps_;
    Stamps isolated_;
};

ProcessCrew::ProcessCrew(const MpiJob& job, Places places, const Pace& pace, bool crowded, Team& team)
    : job_(job), team_(team), places_(std::move(places)), crowded_(crowded), stamped_(pace.stamped),
      isolated_(pace.isolated) {
    bytes_ = in_lines(sizeof(Board) + ranks() * sizeof(Usage)) + Stamps::bytes(ranks(), stamped_) +
             Stamps::bytes(ranks(), isolated_);
    memory_ = share(job, bytes_);
    if (is_first()) new (memory_) Board(job.ranks(), ranks());
    PMPI_Barrier(MPI_COMM_WORLD);
}

/// Does not take the meeting down: whoever was killed is still counted inside, and destroying would wait.
ProcessCrew::~ProcessCrew() { munmap(memory_, bytes_); }

ProcessCrew::Board& ProcessCrew::board() const noexcept { return *std::launder(reinterpret_cast<Board*>(memory_)); }

void ProcessCrew::meet() const noexcept { board().meeting.episode(); }

void ProcessCrew::run(const Job& job) {
    team_.run([&](Rank thread) { run_or_exit(places_, job, job_.rank() * team_.threads() + thread); });
    meet();
}

void ProcessCrew::rest() {
    team_.rest();
    meet();
    // The others are on their way to the next meeting, where they sleep.
    if (is_first()) usleep(1000);
}

std::unique_ptr<Visit> ProcessCrew::visit(const Pace& pace, std::uint64_t episodes) {
    meet();  // nobody reads the visit before any more
    if (is_first()) {
        new (board().timing) Timing{.pace = pace, .episodes = episodes};
        new (board().stamping) Stamping{};
    }
    meet();
    return std::make_unique<ProcessVisit>(*this);
}

bool ProcessCrew::agree(bool mine) {
    if (is_first()) board().said = mine;
    meet();
    const bool said = board().said;
    meet();
    return said;
}

}  // namespace tollbar::bench
