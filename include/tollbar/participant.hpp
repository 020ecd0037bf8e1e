// SPDX-License-Identifier: Apache-2.0
// Ranked barriers between threads and processes: a group that runs any plan, and one participant a rank, with split
// phase, resumable time-outs and the missing ranks by name.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/detail/checked.hpp>
#include <tollbar/detail/sync.hpp>
#include <tollbar/detail/waiting.hpp>
#include <tollbar/detail/words.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#pragma GCC visibility push(default)
namespace tollbar {

namespace detail {
class Segment;
struct Reporting;  // names the missing for waits that are made of many short ones: Python's
}  // namespace detail

/// A rank that has not arrived in the episode asked about, or that arrived and then died or left before the episode was
/// over, so that the others may wait for its signals in vain.
struct absent {
    /// The state of its participant.
    enum class state : std::uint8_t {
        never_joined,  ///< no thread has joined as this rank
        left,          ///< its participant left
        running,       ///< its process lives
        dead,          ///< its process is gone
    };

    Rank rank;       ///< the one that is missing
    state where;     ///< why it may be missing
    pid_t process;   ///< process ID in its own PID namespace; 0 when never joined
    pid_t thread;    ///< the thread that joined; 0 when never joined
    Episode behind;  ///< number of episodes it has yet to enter; 0 if it had arrived
};

/// "rank 3 (process 4711, thread 4713) has not arrived". Throws std::bad_alloc.
std::string to_text(const absent& one);

/// Result of a timed wait: true when the episode is over, else the missing ranks in ascending order.
struct wait_result {
    bool done;  ///< whether the episode is over
    std::vector<absent> missing;

    explicit operator bool() const noexcept { return done; }
};

/// How a group meets; the default is chosen for the situation.
struct group_options {
    /// A catalogue spelling ("mcs:4,2"), "turnstile", or "combination[:PROCESSORS]" (rank r lives on processor
    /// r mod PROCESSORS; as many as there are usable CPUs by default). Empty: TOLLBAR_PLAN, else what `tollbar tune`
    /// stored for this situation, else a default for the ranks, the CPUs and the caches that these share.
    std::string plan = {};

    /// How the participants wait. automatic: TOLLBAR_WAIT if set.
    wait_policy wait = wait_policy::automatic;

    /// shared: children made by fork(2) later may join too. Always so for a group that was opened by name.
    Scope scope = Scope::process;
};

class participant;

/// A fixed number of ranks that meet in barriers.
///
///     tollbar::group group(4, {.plan = "dissemination"});
///     ...in thread r...
///     tollbar::participant self = group.join(r);
///     for (...) { compute(); self.arrive_and_wait(); }
///
/// A group may be destroyed as soon as its participants have left their last episode.
class group {
public:
    /// A group of this process. Throws std::invalid_argument for wrong ranks, plan or processors, std::system_error
    /// when there is no memory.
    explicit group(Rank ranks, const group_options& options = {});

    /// A group that any process of this user can open by the same name (letters, digits, '.', '_', '-'). The first
    /// process creates it with its options; the others join it as it is. A group whose processes are all gone is
    /// replaced.
    ///
    /// Throws std::invalid_argument when ranks, plan (unless empty) or name do not fit, or when the name belongs to
    /// something else; std::system_error when shared memory is not available.
    static group open(std::string_view name, Rank ranks, const group_options& options = {});

    /// Joins as a rank. Call it in the thread that will use the participant, after that thread has been pinned: its
    /// CPUs decide how the group waits. A rank whose participant left between episodes may be joined again.
    /// Throws std::invalid_argument when there is no such rank or it is taken; the text names the process.
    participant join(Rank rank);

    /// How many ranks it has.
    Rank ranks() const noexcept;

    /// The spelling of what the group runs, such as "mcs:4,2". Throws std::bad_alloc.
    std::string plan() const;

    /// The ranks that have not arrived in the latest episode that any rank has entered. Any thread may call it at any
    /// time. Throws std::bad_alloc.
    std::vector<absent> missing() const;

private:
    explicit group(std::shared_ptr<detail::Segment> segment) noexcept : segment_(std::move(segment)) {}

    std::shared_ptr<detail::Segment> segment_;
};

/// One rank of a group, used by one thread at a time.
///
/// arrive() enters an episode; it is left when wait() returns or when test() or a timed wait returns true. Arriving
/// again before that first waits for its end; a file that is compiled with TOLLBAR_CHECKED aborts and names the call.
///
/// Memory order: what a rank did before it arrived happens before any wait, successful test or timed wait of the same
/// episode returns in another rank.
class alignas(detail::line_bytes) participant {
public:
    /// Takes the rank over; the other one may only be destroyed or assigned to.
    participant(participant&&) noexcept;
    participant& operator=(participant&&) noexcept;
    ~participant();  ///< leaves the group; the rank may be joined again

    /// Enters the next episode. Never blocks. In a plan of several rounds the others depend on this participant's later
    /// test() or wait().
    [[gnu::always_inline]] void arrive() noexcept {
        enter();
        runner_.advance();
    }

    /// Advances as far as possible without blocking; true when the episode is over.
    [[nodiscard, gnu::always_inline]] bool test() noexcept {
        if constexpr (detail::checked) expect(stage_ != Stage::outside, "test without arrive");
        const bool done = runner_.advance();
        if (done) stage_ = Stage::tested;
        return done;
    }

    /// Blocks until the episode is over. With TOLLBAR_TIMEOUT=S it names the missing ranks on stderr every S seconds.
    [[gnu::always_inline]] void wait() noexcept {
        if constexpr (detail::checked) expect(stage_ != Stage::outside, "wait without arrive");
        if (!runner_.advance()) finish();
        stage_ = Stage::outside;
    }

    /// Enters the next episode and blocks until it is over.
    [[gnu::always_inline]] void arrive_and_wait() noexcept {
        enter();
        if (!runner_.advance()) finish();
        stage_ = Stage::outside;
    }

    /// Waits at most that long. After a time-out the episode goes on: any wait or test() may follow. Throws
    /// std::bad_alloc where the missing ranks cannot be listed; the episode goes on then, too.
    template <class Rep, class Period, bool check = detail::checked>
    wait_result wait_for(std::chrono::duration<Rep, Period> at_most) {
        if constexpr (check) expect(stage_ != Stage::outside, "timed wait without arrive");
        return wait_until_deadline(detail::deadline_after(at_most));
    }

    /// As wait_for, up to a point in time on any clock. Throws as wait_for does, and what the clock throws.
    template <class Clock, class Duration, bool check = detail::checked>
    wait_result wait_until(std::chrono::time_point<Clock, Duration> at) {
        if constexpr (check) expect(stage_ != Stage::outside, "timed wait without arrive");
        detail::Deadline deadline{detail::on_steady_clock(at)};
        for (;;) {
            wait_result result = wait_until_deadline(deadline);
            deadline.at = detail::on_steady_clock(at);  // other clocks may have been set meanwhile
            if (result || !detail::is_ahead(at)) return result;
        }
    }

    /// The ranks that have not arrived in this participant's current (or latest) episode. Any thread may call it at any
    /// time. Throws std::bad_alloc.
    std::vector<absent> missing() const;

    /// The rank it has joined as.
    Rank rank() const noexcept { return rank_; }

    /// The latest episode entered; 0 before the first.
    Episode episode() const noexcept { return runner_.episode(); }

private:
    friend group;
    friend struct detail::Reporting;

    /// Kept by every file, for those that are checked.
    enum class Stage : std::uint8_t { outside, entered, tested };

    participant(std::shared_ptr<detail::Segment> segment, Rank rank);

    [[gnu::always_inline]] void enter() noexcept {
        if constexpr (detail::checked) expect(stage_ != Stage::entered, "arrive twice in one episode");
        stage_ = Stage::entered;
        if (!runner_.finished()) [[unlikely]]
            finish();
        runner_.start();
        arrived_->store(runner_.episode(), std::memory_order_relaxed);  // for missing(), which orders nothing
    }

    void finish() noexcept;

    /// Ends the program with one line that names the rank and `misuse`, unless `sound`.
    void expect(bool sound, const char* misuse) const noexcept;
    wait_result wait_until_deadline(detail::Deadline deadline);
    void leave() noexcept;

    detail::Runner<detail::Words<detail::NativeSync>> runner_;
    std::atomic<Episode>* arrived_ = nullptr;
    Rank rank_ = 0;
    Stage stage_ = Stage::outside;
    std::shared_ptr<detail::Segment> segment_;
    std::vector<detail::WordStep<detail::NativeSync>> steps_;
};

}  // namespace tollbar
#pragma GCC visibility pop
