// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-processes: a barrier between processes of one session, of a session each, and of a control group
// each. The kernel shares the CPUs out by session or group first, and yielding gives way inside one only.
#include "barriers.hpp"
#include "children.hpp"
#include "cpu_groups.hpp"
#include "floors.hpp"
#include "json.hpp"
#include "rounds.hpp"
#include "visit.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <limits>
#include <optional>
#include <random>
#include <string>

namespace tollbar::bench {

namespace {

enum class Apart : std::uint8_t { one_session, sessions, cgroups };
constexpr const char* spelled_apart[] = {"one session", "sessions", "cgroups"};

enum class Subject : std::uint8_t { turnstile, pthread_barrier };
constexpr const char* spelled_subject[] = {"turnstile", "pthread_barrier"};
constexpr const char* kind_of_subject[] = {"turnstile", "peer"};

/// What is measured, and what is known of it from earlier rounds.
struct Case {
    Subject subject;
    Apart apart;
    std::uint64_t episodes = 0;
    double period_ns = std::numeric_limits<double>::infinity();
};

/// What the processes of a visit share: made before they are forked.
struct Shared {
    Shared(Rank ranks, const Pace& pace, std::uint64_t episodes)
        : timing{.pace = pace, .episodes = episodes}, meeting(ranks, Scope::shared), measured(ranks, Scope::shared) {}

    Timing timing;
    alignas(line_bytes) PthreadBarrier meeting;
    alignas(line_bytes) PthreadBarrier measured;
};

class SharedMemory {
public:
    SharedMemory(Rank ranks, const Pace& pace, std::uint64_t episodes) {
        void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
        shared_ = new (memory) Shared(ranks, pace, episodes);
    }
    /// Does not take the barriers down: whoever was killed is still counted inside, and destroying would wait.
    ~SharedMemory() { munmap(shared_, sizeof(Shared)); }
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    Shared& operator*() const noexcept { return *shared_; }
    Shared* operator->() const noexcept { return shared_; }

private:
    Shared* shared_;
};

/// A session of its own, scheduled like the one it was started in.
void leave_session() {
    const std::optional<int> nice = autogroup_nice();
    if (setsid() < 0) throw std::system_error(errno, std::generic_category(), "setsid");
    if (nice) set_autogroup_nice(*nice);
}

class Launch {
public:
    Launch(const Options& options, const std::vector<int>& cpus, const Pace& pace)
        : ranks_(options.ranks), places_(options.placement, cpus), cpus_(cpus), pace_(pace), random_(options.seed) {
        try {
            groups_.emplace(ranks_, autogroup_nice().value_or(0));
        } catch (const std::exception& error) {
            Record("skipped").field("name", "cgroups").field("wait", "auto").field("why", error.what()).print();
        }
        for (const Subject subject : {Subject::turnstile, Subject::pthread_barrier})
            for (const Apart apart : {Apart::one_session, Apart::sessions, Apart::cgroups})
                if (apart != Apart::cgroups || groups_) cases_.push_back({subject, apart});
    }

    void round(std::uint32_t number) {
        print_floors(measure_floors(cpus_), number);
        for (std::size_t i = cases_.size(); i > 1; --i) std::swap(cases_[i - 1], cases_[random_() % i]);
        for (Case& one : cases_) visit(one, number);
    }

private:
    void visit(Case& one, std::uint32_t number) {
        const SharedMemory shared(ranks_, pace_, one.episodes);
        try {
            run_in_processes(ranks_, places_, [&](Rank rank) {
                if (one.apart == Apart::sessions) leave_session();
                if (one.apart == Apart::cgroups) groups_->enter(rank);
                attend(one.subject, rank, *shared);
            });
        } catch (...) {
            if (one.subject == Subject::turnstile) open();  // takes over what the killed left, and removes it
            throw;
        }
        const Timing& timing = shared->timing;
        one.period_ns = std::min(one.period_ns, timing.elapsed_ns / static_cast<double>(timing.timed));
        one.episodes = fitting(one.period_ns, pace_);
        Record("processes")
            .field("round", number)
            .field("name", spelled_subject[static_cast<int>(one.subject)])
            .field("kind", kind_of_subject[static_cast<int>(one.subject)])
            .field("wait", "auto")
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

    void attend(Subject subject, Rank rank, Shared& shared) const {
        const auto meet = [&] { shared.meeting.episode(); };
        if (subject == Subject::turnstile) {
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
    Places places_;
    std::vector<int> cpus_;
    Pace pace_;
    std::mt19937_64 random_;
    const pid_t launcher_ = getpid();
    std::optional<CpuGroups> groups_;
    std::vector<Case> cases_;
};

/// Where sessions are scheduled against each other a turn may last a whole time slice: only many make a mean.
Pace longer(Pace pace, const Options& options) {
    if (options.batch_ns == 0) pace.batch_ns = 40e6;
    pace.cut_ns = 3 * pace.batch_ns;
    return pace;
}

Round prepare(const Options& options, const std::vector<int>& cpus, const Pace& pace) {
    stop_politely();
    ticks();  // calibrated once, not in every process
    const auto launch = std::make_shared<Launch>(options, cpus, longer(pace, options));
    return [launch](std::uint32_t number) { launch->round(number); };
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run_single("tollbar-bench-processes", count, words, prepare);
}
