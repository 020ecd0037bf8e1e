// SPDX-License-Identifier: Apache-2.0
// Each rank has a thread that looks at the seats of its host a few times a time-out; the first to see that a wait has
// lasted so long reports for all.
#include "missing/conclusion.hpp"
#include "missing/meeting.hpp"
#include "missing/rows.hpp"
#include "missing/sealed.hpp"
#include "look.hpp"
#include "watch.hpp"

#include "base/files.hpp"
#include "base/host.hpp"
#include "missing/places.hpp"
#include "base/process.hpp"
#include "missing/reporting.hpp"
#include "base/threads.hpp"

#include <algorithm>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <pthread.h>
#include <sys/stat.h>
#include <utility>

namespace tollbar::detail::watch {

namespace {

using Seconds = std::chrono::duration<double>;

const char* const name = "tollbar-watch";

std::string of_task(pid_t process, pid_t thread, const char* file) {
    return contents_of("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + file);
}

/// Any thread of the program's does: the one that is late may be another than the one that is asked about.
bool any_runs(pid_t process) {
    const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir(("/proc/" + std::to_string(process) + "/task").c_str()),
                                                    closedir);
    if (tasks == nullptr) return false;
    while (const dirent* const task = readdir(tasks.get())) {
        const pid_t thread = std::atoi(task->d_name);
        if (thread != 0 && stat_of(process, thread).state == 'R' &&
            of_task(process, thread, "/comm") != std::string(name) + "\n")
            return true;
    }
    return false;
}

/// The state is that of the thread which tells most of it. The kernel shows every user's own processes where they
/// sleep, without the right to trace them.
std::string doing(const Rank& rank) {
    const pid_t process = rank.row.process;
    if (!is_running(process, rank.row.start)) return "dead";
    const pid_t telling = rank.telling().thread;
    const pid_t thread = telling == 0 || stat_of(process, telling).state == '?' ? process : telling;
    const char state = stat_of(process, thread).state;
    if (state == 'T' || state == 't') return "stopped";
    if (state == 'R' || any_runs(process)) return "running";
    const std::string asleep_in = of_task(process, thread, "/wchan");
    return asleep_in.empty() || asleep_in == "0" ? "asleep" : "asleep in the kernel's " + asleep_in;
}

/// The host that this process is on. Never destroyed: its watcher goes on until the process ends.
const KnownHost& own_host() {
    static const auto* const only = new KnownHost{.name = host_name(), .texts = {}};
    return *only;
}

/// A look, and what is concluded from it, or told for a conclusion from the ranks of all hosts.
struct Found {
    HostAnswers asked() {
        return {.site =
                    [this](const Rank& rank, std::uint64_t address) {
                        pulse();
                        return places.of_call(rank.row.process, address);
                    },
                .doing =
                    [this](const Rank& rank) {
                        pulse();
                        return watch::doing(rank);
                    },
                .tells_time = tells_time};
    }

    void conclude() {
        if (travels) {
            rows = rows_of(own_host(), ranks, timeout_s, asked());
        } else {
            lines = missing::conclude(all_of(ranks), timeout_s, asked());
        }
    }

    /// Whether a rank has waited for the time-out.
    bool has_waits() const {
        return std::ranges::any_of(ranks,
                                   [&](const Rank& rank) { return std::ranges::max(rank.waited_s) >= timeout_s; });
    }

    bool is_sound(const Looking& looking) {
        return !leave_out_stopped(ranks, timeout_s, asked()) && looking.still_wait(ranks, timeout_s);
    }

    /// Finds out the names of places in lines as long as `goes_on()`; whether the lines are sound after that.
    template <class GoesOn>
    bool learn(const Looking& looking, GoesOn goes_on) {
        if (!places.has_new()) return true;
        bool went_on = true;
        places.learn(std::chrono::seconds(2), [&] { return went_on = goes_on(); });
        if (!went_on || !is_sound(looking)) return false;
        conclude();
        return true;
    }

    std::vector<Rank> ranks;
    double timeout_s = 0;
    std::function<void()> pulse;  ///< called all the time
    bool travels = false, tells_time = true;
    Places places{};
    std::vector<Sentence> lines{};
    std::string rows{};
};

/// Concludes from a look; false where that has become wrong a little later, or has been wrong. Rows that travel are
/// made when it is this watcher's turn.
bool conclude_from(Found& found, const Looking& looking, const std::stop_token& stop = {}) {
    leave_out_stopped(found.ranks, found.timeout_s, found.asked());
    if (!found.travels) {
        if (!found.has_waits()) return false;
        found.conclude();
    }
    return nap(stop, Seconds(std::min(found.timeout_s / 32, 0.1))) && found.is_sound(looking);
}

/// Tells the rows_of() of a host, of which `first` is the lowest rank, in lines that no other comes between:
/// "rows VERSION FIRST TURN PART PARTS ROWS" are the facts of each.
void tell_rows(const std::string& rows, int first) {
    constexpr std::size_t most = 1500;  // of a line: launchers pass on so much at once
    const std::size_t parts = (rows.size() + most - 1) / most;
    const std::string head = "rows " + std::to_string(rows_version) + " " + std::to_string(first) + " " +
                             std::to_string(now_ns()) + " ";
    for (std::size_t part = 0; part < parts; ++part)
        tell("for `tollbar run`, which says who is missing",
             head + std::to_string(part) + " " + std::to_string(parts) + " " + rows.substr(part * most, most));
}

class Watcher {
public:
    Watcher(tollbar_seats_file& file, double timeout_s)
        : file_(file), timeout_(timeout_s), looking_(file, own_host()),
          thread_(quiet_thread([this](const std::stop_token& stop) { watch(stop); })) {}

private:
    void watch(const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), name);
        for (Seconds pause = longest_pause_; nap(stop, pause);) {
            const Clock::time_point now = Clock::now();
            goes_on(now);
            const Looking::Longest longest = looking_.longest(now);
            const Seconds until_due = timeout_ - Seconds(longest.waited_s);
            const bool waits = until_due <= Seconds(0) && is_due(file_.reported_ns, now);
            // Ranks of other hosts may wait for one that stands still.
            const bool stands = travels_ && longest.stood_s >= timeout_.count() && is_due(file_.stood_ns, now);
            if (waits || stands) report_if_possible([&] { look(now, stop); });
            pause = until_due > Seconds(0) ? std::min(longest_pause_, until_due) : longest_pause_;
        }
    }

    /// False where this process was stopped meanwhile, and perhaps all of them: earlier looks count no more.
    bool goes_on(Clock::time_point now) {
        const bool was_stopped = now - std::exchange(before_, now) > longest_pause_ + timeout_ / 2;
        if (was_stopped) looking_.forget();
        return !was_stopped;
    }

    void look(Clock::time_point now, const std::stop_token& stop) {
        bool went_on = true;
        const auto pulse = [&] { went_on = goes_on(Clock::now()) && went_on; };
        Found found{.ranks = looking_.look(now), .timeout_s = timeout_.count(), .pulse = pulse, .travels = travels_};
        if (!conclude_from(found, looking_, stop)) return;
        std::uint64_t& turn = found.has_waits() ? file_.reported_ns : file_.stood_ns;
        const std::uint64_t last = __atomic_load_n(&turn, __ATOMIC_RELAXED);
        if (!takes(turn, now)) return;
        __atomic_store_n(&file_.stood_ns, nanoseconds(now.time_since_epoch()), __ATOMIC_RELAXED);
        if (!found.has_waits() && is_whole_job(all_of(found.ranks))) return;  // nobody elsewhere waits for one of them
        if (travels_) found.conclude();
        // One watcher of the host asks, and looks on meanwhile.
        const bool learnt = found.learn(looking_, [&] {
            pulse();
            const bool still = !stop.stop_requested() && went_on;
            if (still) looking_.longest(Clock::now());
            return still;
        });
        if (!learnt || !went_on) return give_back(turn, now, last);
        if (travels_) tell_rows(found.rows, found.ranks.front().row.rank);
        for (const Sentence& line : found.lines) report(line);
    }

    /// Nothing was said at this turn.
    static void give_back(std::uint64_t& turn, Clock::time_point now, std::uint64_t last) {
        std::uint64_t own = nanoseconds(now.time_since_epoch());
        __atomic_compare_exchange_n(&turn, &own, last, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }

    bool is_due(const std::uint64_t& turn, Clock::time_point now) const {
        const std::uint64_t last = __atomic_load_n(&turn, __ATOMIC_RELAXED);
        return last == 0 || nanoseconds(now.time_since_epoch()) >=
                                last + nanoseconds(std::chrono::duration_cast<Clock::duration>(timeout_));
    }

    /// One watcher of the host has the turn. Relaxed: nothing else is handed over.
    bool takes(std::uint64_t& turn, Clock::time_point now) {
        std::uint64_t last = __atomic_load_n(&turn, __ATOMIC_RELAXED);
        return is_due(turn, now) && __atomic_compare_exchange_n(&turn, &last, nanoseconds(now.time_since_epoch()),
                                                                false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }

    tollbar_seats_file& file_;
    const Seconds timeout_;
    const Seconds longest_pause_ = std::clamp(timeout_ / 16, Seconds(0.01), Seconds(1));
    const bool travels_ = are_gathered();  ///< `tollbar run` concludes, for all hosts
    Looking looking_;
    Clock::time_point before_ = Clock::now();
    std::jthread thread_;  ///< the last one here: it uses the others
};

Watcher* watcher;  // as long as the process, where MPI_Finalize does not end it

}  // namespace

void begin(const OwnRow& place, double timeout_s) noexcept {
    __atomic_store_n(&place.row->state, std::uint64_t{tollbar_row_used},
                     __ATOMIC_RELEASE);  // pairs with the acquire in look.cpp
    if (timeout_s <= 0) return;
    try {
        watcher = new Watcher(*place.file, timeout_s);
    } catch (const std::exception&) {  // the others watch this rank's seats
    }
}

void end(const OwnRow& place) noexcept {
    __atomic_store_n(&place.row->state, std::uint64_t{tollbar_row_left}, __ATOMIC_RELEASE);  // pairs as above
    delete std::exchange(watcher, nullptr);
}

namespace {

/// Looks twice at the file of another job, and gives what `use` makes of the second look, or nothing.
template <class Result>
Result of_looks(const std::string& path, double apart_s, const std::function<void()>& meanwhile, bool travels,
                Result Found::*use) {
    const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // it may be a pipe
    struct stat status {};
    if (!file || fstat(file.number(), &status) != 0) throw_errno(path);
    if (status.st_uid != geteuid() || status.st_size != sizeof(tollbar_seats_file)) throw_errno(path, EPERM);
    const Mapping mapping(sizeof(tollbar_seats_file), PROT_READ, MAP_SHARED, file.number(), path);
    const auto& seats = *reinterpret_cast<const tollbar_seats_file*>(mapping.memory());
    if (__atomic_load_n(&seats.version, __ATOMIC_RELAXED) != tollbar_seats_version) throw_errno(path, EPROTO);
    Looking looking(seats, own_host());
    looking.look(Clock::now());
    meanwhile();
    nap({}, Seconds(apart_s));
    Found found{.ranks = looking.look(Clock::now()),
                .timeout_s = apart_s,
                .pulse = [] {},
                .travels = travels,
                .tells_time = false};
    if (found.ranks.empty() || !conclude_from(found, looking)) return {};
    if (travels) found.conclude();
    return found.learn(looking, [] { return true; }) ? std::move(found.*use) : Result();
}

}  // namespace

std::vector<Sentence> waits_in(const std::string& path, double apart_s) {
    return of_looks(
        path, apart_s, [] {}, false, &Found::lines);
}

std::string rows_in(const std::string& path, double apart_s, const std::function<void()>& meanwhile) {
    return of_looks(path, apart_s, meanwhile, true, &Found::rows);
}

}  // namespace tollbar::detail::watch
