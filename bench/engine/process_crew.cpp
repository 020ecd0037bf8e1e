// SPDX-License-Identifier: Apache-2.0
// The content of the memory that the ranks share, and who may touch it when.
#include "process_crew.hpp"

#include "tolls.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <stdexcept>

namespace tollbar::bench {

namespace {

constexpr std::size_t in_lines(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

}  // namespace

std::unique_ptr<PeersMemory> PeersMemory::make(const Peers& peers, std::size_t bytes) {
    const bool first = peers.rank() == 0;
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    const std::uint64_t maker = peers.told(static_cast<std::uint64_t>(getpid()));
    const std::string name = "/tollbar.bench." + std::to_string(maker) + "." +
                             std::to_string(peers.told(static_cast<std::uint64_t>(now)));
    int file = -1;
    if (first) {
        file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
        if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) != 0) close(std::exchange(file, -1));
    }
    peers.told(0);  // it is made
    if (!first) file = shm_open(name.c_str(), O_RDWR, 0600);
    void* memory = file < 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    std::unique_ptr<PeersMemory> made;
    if (memory != MAP_FAILED) made.reset(new PeersMemory(static_cast<std::byte*>(memory), bytes));
    if (!peers.all(made != nullptr)) made.reset();
    if (first) shm_unlink(name.c_str());
    return made;
}

/// Takes down nothing that lies in it: whoever was killed is still counted in a meeting, and destroying would wait.
PeersMemory::~PeersMemory() { munmap(memory_, bytes_); }

/// At the beginning of the memory; the usages and both kinds of stamps follow.
struct ProcessCrew::Board {
    Board(Rank processes, Rank ranks) : meeting(processes, Scope::shared), everybody(ranks, Scope::shared) {}

    alignas(line_bytes) Meeting meeting;    ///< of the processes
    alignas(line_bytes) Meeting everybody;  ///< of all threads in a visit
    alignas(line_bytes) std::atomic<std::uint64_t> lined_up{0};
    alignas(line_bytes) std::uint64_t said = 0;
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
          isolated_(crew.ranks(), crew.isolated_, after_usages() + Stamps::bytes(crew.ranks(), crew.stamped_)),
          tolls_(crew.ranks(), crew.tolls()) {}

    void meet() override { crew_.board().everybody.meet(); }

    void line_up() override {
        meet();
        if (crew_.crowded_) return;
        // Whoever wakes from the meeting first waits for the others with open eyes.
        std::atomic<std::uint64_t>& lined_up = crew_.board().lined_up;
        const std::uint64_t all = (lined_up.fetch_add(1, std::memory_order_acq_rel) / crew_.ranks() + 1) *
                                  crew_.ranks();
        while (lined_up.load(std::memory_order_acquire) < all) NativeSync::pause();  // pairs with the others' adds
    }

    const TollBoard& tolls() override { return tolls_; }

    Usage* usage_of(Rank rank) override {
        return rank % crew_.team_->threads() == 0 ? crew_.board().usages() + rank : nullptr;
    }

private:
    std::byte* after_usages() const {
        return crew_.memory_->data() + in_lines(sizeof(Board) + crew_.ranks() * sizeof(Usage));
    }

    const ProcessCrew& crew_;
    Stamps stamps_;
    Stamps isolated_;
    TollBoard tolls_;
};

ProcessCrew::ProcessCrew(const Launch& launch, std::unique_ptr<ProcessThreads> team)
    : peers_(*launch.peers), team_(std::move(team)), places_(launch.places()), crowded_(launch.crowded()),
      stamped_(launch.pace.stamped), isolated_(launch.pace.isolated),
      memory_(PeersMemory::make(peers_, in_lines(sizeof(Board) + ranks() * sizeof(Usage)) +
                                            Stamps::bytes(ranks(), stamped_) + Stamps::bytes(ranks(), isolated_) +
                                            TollBoard::bytes(ranks()))) {
    if (!memory_)
        throw std::runtime_error(
            "the ranks have no shared memory and so no common clock: measure on one machine, with room in /dev/shm");
    if (is_first()) new (memory_->data()) Board(peers_.ranks(), ranks());
    peers_.told(0);
}

ProcessCrew::Board& ProcessCrew::board() const noexcept {
    return *std::launder(reinterpret_cast<Board*>(memory_->data()));
}

std::byte* ProcessCrew::tolls() const noexcept {
    return memory_->data() + in_lines(sizeof(Board) + ranks() * sizeof(Usage)) + Stamps::bytes(ranks(), stamped_) +
           Stamps::bytes(ranks(), isolated_);
}

void ProcessCrew::meet() const noexcept { board().meeting.meet(); }

void ProcessCrew::run(const Job& job) {
    team_->run([&](Rank thread) { run_or_exit(places_, job, peers_.rank() * team_->threads() + thread); });
    meet();
}

void ProcessCrew::rest() {
    team_->rest();
    meet();
    // The others are on their way to the next meeting, where they sleep.
    if (is_first()) usleep(1000);
}

std::unique_ptr<Visit> ProcessCrew::visit(const Pace& pace, std::uint64_t episodes) {
    meet();  // nobody reads the visit before any more
    if (is_first()) {
        new (board().timing) Timing{.pace = pace, .episodes = episodes};
        new (board().stamping) Stamping{};
        std::fill_n(tolls(), TollBoard::bytes(ranks()), std::byte{0});
    }
    meet();
    return std::make_unique<ProcessVisit>(*this);
}

std::uint64_t ProcessCrew::told(std::uint64_t mine) {
    if (is_first()) board().said = mine;
    meet();
    const std::uint64_t said = board().said;
    meet();
    return said;
}

}  // namespace tollbar::bench
