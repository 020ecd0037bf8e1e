// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-processes: a barrier between processes of one session, of a session each, and of a control group
// each. The kernel shares the CPUs out by session or group first, and yielding gives way inside one only.
#include "barriers.hpp"
#include "children.hpp"
#include "cpu_groups.hpp"
#include "launch.hpp"

#include "base/environment.hpp"

#include <tollbar/algorithms.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace tollbar::bench {

namespace {

enum class Apart : std::uint8_t { one_session, sessions, cgroups };
constexpr const char* spelled_apart[] = {"one session", "sessions", "cgroups"};

/// A barrier that is measured, and what is known of it from earlier rounds.
struct Case {
    Label label;
    Apart apart;
    std::uint64_t episodes = 0;
    double period_ns = std::numeric_limits<double>::infinity();

    bool is_ours() const { return label.kind == "turnstile"; }
};

/// The memory that the processes of a visit share: made before they are forked.
struct Shared {
    Shared(Rank ranks, const Pace& pace, std::uint64_t episodes)
        : timing{.pace = pace, .episodes = episodes}, meeting(ranks, Scope::shared), measured(ranks, Scope::shared) {}

    Timing timing;
    Stamping stamping;
    alignas(line_bytes) Meeting meeting;
    alignas(line_bytes) Meeting measured;
};

class SharedMemory {
public:
    SharedMemory(Rank ranks, const Pace& pace, std::uint64_t episodes)
        : bytes_(sizeof(Shared) + TollBoard::bytes(ranks)) {
        void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
        shared_ = new (memory) Shared(ranks, pace, episodes);
    }
    /// Does not take the barriers down: whoever was killed is still counted inside, and destroying would wait.
    ~SharedMemory() { munmap(shared_, bytes_); }
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    Shared& operator*() const noexcept { return *shared_; }
    Shared* operator->() const noexcept { return shared_; }
    std::byte* tolls() const noexcept { return reinterpret_cast<std::byte*>(shared_ + 1); }

private:
    std::size_t bytes_;
    Shared* shared_;
};

/// Everything in it lies in memory that was made before the processes were.
class ForkedVisit final : private SharedMemory, public Visit {
public:
    ForkedVisit(Rank ranks, const Pace& pace, std::uint64_t episodes)
        : SharedMemory(ranks, pace, episodes), Visit((**this).timing, (**this).stamping, none_, none_), none_(ranks, 0),
          tolls_(ranks, SharedMemory::tolls()) {}

    void meet() override { (**this).meeting.meet(); }
    const TollBoard& tolls() override { return tolls_; }

private:
    Stamps none_;
    TollBoard tolls_;
};

/// Every job runs in as many new processes, each in its place; they die with the caller, which must have no other
/// threads.
class ForkedCrew final : public Crew {
public:
    /// From now on SIGINT, SIGTERM and SIGHUP end run() by an exception, so that what was made is removed.
    ForkedCrew(Rank ranks, Places places) : ranks_(ranks), places_(std::move(places)) {}

    Rank ranks() const noexcept override { return ranks_; }

    /// Throws std::runtime_error when one fails (the others are killed) or the caller is to stop.
    void run(const Job& job) override {
        Children children;
        for (Rank rank = 0; rank < ranks_; ++rank) children.start([&, rank] { run_or_exit(places_, job, rank); });
        children.wait_for_all();
    }

    /// Only to be checked: there is no room for stamps.
    std::unique_ptr<Visit> visit(const Pace& pace, std::uint64_t episodes) override {
        return std::make_unique<ForkedVisit>(ranks_, pace, episodes);
    }

private:
    Rank ranks_;
    Places places_;
};

class Cases {
public:
    explicit Cases(const Launch& launch)
        : ranks_(launch.options.ranks), pace_(launch.pace), crew_(ranks_, launch.places()), rounds_(launch, crew_) {
        try {
            groups_.emplace(ranks_, autogroup_nice().value_or(0));
        } catch (const std::exception& error) {
            print_skipped("cgroups", error.what());
        }
        for (const Label& label : {Label{"turnstile", "turnstile"}, Label{"pthread_barrier", "peer"}})
            for (const Apart apart : {Apart::one_session, Apart::sessions, Apart::cgroups})
                if (apart != Apart::cgroups || groups_) cases_.push_back({label, apart});
    }

    int run() {
        return rounds_.run([&](std::uint32_t round) {
            rounds_.floors(round);
            rounds_.shuffle(cases_);
            for (Case& one : cases_) visit(one, round);
            return true;
        });
    }

private:
    void visit(Case& one, std::uint32_t number) {
        const SharedMemory shared(ranks_, pace_, one.episodes);
        try {
            crew_.run([&](Rank rank) {
                if (one.apart == Apart::sessions) leave_session();
                if (one.apart == Apart::cgroups) groups_->enter(rank);
                attend(one, rank, *shared);
            });
        } catch (...) {
            if (one.is_ours()) open();  // takes over what the killed left, and removes it
            throw;
        }
        const Timing& timing = shared->timing;
        one.period_ns = std::min(one.period_ns, timing.period_ns());
        one.episodes = fitting(one.period_ns, pace_);
        Record<"processes">(one.label, number)
            .field("apart", spelled_apart[static_cast<int>(one.apart)])
            .field("episodes", timing.timed)
            .field("elapsed_ns", timing.elapsed_ns)
            .field("cut", timing.cut)
            .field("first_ns", timing.first_ns)
            .print();
    }

    group open() const {
        return group::open("bench." + std::to_string(launcher_), ranks_,
                           {.plan = "turnstile", .wait = wait_policy::automatic});
    }

    void attend(const Case& one, Rank rank, Shared& shared) const {
        const auto meet = [&] { shared.meeting.meet(); };
        if (one.is_ours()) {
            GroupBarrier barrier(open());
            auto seat = barrier.seat(rank);
            time_batch(rank, seat, shared.timing, meet);
            meet();
        } else {
            time_batch(rank, shared.measured, shared.timing, meet);
            meet();
        }
    }

    Rank ranks_;
    const Pace& pace_;
    ForkedCrew crew_;
    Rounds rounds_;
    const pid_t launcher_ = getpid();
    std::optional<CpuGroups> groups_;
    std::vector<Case> cases_;
};

/// pthread_barrier between processes.
class SharedMeeting {
public:
    explicit SharedMeeting(Rank ranks) : shared_(ranks, Pace{}, 1) {}

    struct Seat {
        Meeting& meeting;
        void episode() const noexcept { meeting.episode(); }
    };
    Seat seat(Rank) const noexcept { return {shared_->measured}; }

private:
    SharedMemory shared_;
};

/// Every plan between processes that one has forked.
int check(Launch& launch) {
    const Rank ranks = launch.options.ranks;
    const Add add = [ranks](Roster& roster, const std::string& plan, const std::string& wait) {
        const auto policy = wait_policy_named(wait);
        if (!policy || !runs_on(plan).empty()) return false;
        try {
            GroupBarrier(ranks, plan, *policy, Scope::shared);
        } catch (const std::invalid_argument&) {
            return false;  // select() says what there is
        }
        roster.add<GroupBarrier>({plan, "plan", wait}, ranks, plan, *policy, Scope::shared);
        return true;
    };
    Roster roster;
    for (const Algorithm& algorithm : catalogue())
        if (algorithm.runs_everywhere()) add(roster, std::string(algorithm.name), "auto");
    roster.add<SharedMeeting>({"pthread_barrier", "peer"}, ranks);
    if (!launch.keeps(roster, add)) return 0;
    launch.begin();
    ForkedCrew crew(ranks, launch.places());
    return check_roster(launch, crew, roster);
}

int measure(Launch& launch) {
    if (launch.options.checks()) return check(launch);
    launch.refuse_names();
    launch.begin();
    ticks();  // calibrated once, not in every process
    // Sessions may be scheduled against each other, so that a turn lasts a whole time slice: only many make a mean.
    if (launch.options.batch_ns == 0) launch.pace.batch_ns = 40e6;
    launch.pace.cut_ns = 3 * launch.pace.batch_ns;
    return Cases(launch).run();
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run({.name = "tollbar-bench-processes", .measure = measure}, count, words);
}
