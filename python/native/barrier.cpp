// SPDX-License-Identifier: Apache-2.0
// The waits of tollbar.Barrier and tollbar.process_barrier. A thread arrives with the interpreter's lock and gives it
// up only where it has to wait.
#include "ending.hpp"
#include "parts.hpp"

#include "base/thread_id.hpp"
#include "missing/reporting.hpp"
#include "missing/sentence.hpp"
#include "waiting/meeting.hpp"

#include <tollbar/detail/deadline.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace tollbar;
using namespace tollbar::detail;

namespace {

using Seconds = std::chrono::duration<double>;

/// How long the main thread waits before it lets signal handlers run.
constexpr std::chrono::milliseconds slice{50};

struct Freed {
    void operator()(void* memory) const { ::operator delete(memory, std::align_val_t(alignof(Meeting))); }
};

[[noreturn]] void raise_broken() {
    python::staying([] {
        PyObject* const threading = PyImport_ImportModule("threading");
        PyObject* const error = threading == nullptr ? nullptr
                                                     : PyObject_GetAttrString(threading, "BrokenBarrierError");
        if (error != nullptr) PyErr_SetNone(error);
        Py_XDECREF(error);
        Py_XDECREF(threading);
    });
    throw nb::python_error();
}

/// The numbers of the calling thread and its process; asked for again in a child after fork(2).
struct Numbers {
    pid_t process = 0;
    pid_t thread = 0;

    static const Numbers& mine() noexcept {
        thread_local Numbers numbers;
        if (const pid_t process = getpid(); process != numbers.process)
            numbers = {process, tollbar::detail::thread_id()};
        return numbers;
    }
};

/// The native part of Python's barriers; tollbar.barriers adds the action and what a time-out raises.
class BarrierBase {
public:
    BarrierBase(std::int64_t parties, bool acts) : acts_(acts) {
        own_.reset(::operator new(Meeting::bytes(checked(parties)), std::align_val_t(alignof(Meeting))));
        meeting_ = Meeting::make(own_.get(), static_cast<std::uint32_t>(parties), Scope::process);
    }

    /// In memory that processes share, which one of them `makes`. The others find the place by the same alignment: the
    /// memory begins at the same offset of a page for all.
    BarrierBase(std::int64_t parties, bool acts, const nb::object& memory, bool makes)
        : acts_(acts), shared_(true), memory_(memory) {
        Py_buffer view;
        if (PyObject_GetBuffer(memory.ptr(), &view, PyBUF_WRITABLE) != 0) throw nb::python_error();
        void* at = view.buf;
        auto space = static_cast<std::size_t>(view.len);
        PyBuffer_Release(&view);
        if (std::align(alignof(Meeting), Meeting::bytes(checked(parties)), at, space) == nullptr)
            throw std::invalid_argument("the memory is too small for " + std::to_string(parties) + " parties");
        meeting_ = makes ? Meeting::make(at, static_cast<std::uint32_t>(parties), Scope::shared)
                         : static_cast<Meeting*>(at);
    }

    static std::size_t shared_bytes(std::int64_t parties) {
        return Meeting::bytes(checked(parties)) + alignof(Meeting);
    }

    std::uint32_t parties() const { return meeting_->parties(); }
    std::uint32_t n_waiting() const { return meeting_->waiting(); }
    bool broken() const { return meeting_->broken(); }
    void abort() { meeting_->abort(); }
    void reset() { meeting_->reset(); }

    std::uint32_t wait(nb::handle self, std::optional<double> timeout) {
        if (timeout && std::isnan(*timeout)) throw std::invalid_argument("a time-out is a number of seconds, not nan");
        for (;;) {
            const Meeting::Arrival arrival = meeting_->arrive(
                acts_, shared_ ? Numbers::mine().process : Numbers::mine().thread);
            switch (arrival.place) {
                case Meeting::Place::broken: raise_broken();
                case Meeting::Place::outside: wait_for_end(arrival, {Clock::time_point::max()}); continue;
                case Meeting::Place::last: return complete(self, arrival);
                case Meeting::Place::waiting: break;
            }
            try {
                wait_inside(self, arrival, timeout);
            } catch (nb::python_error&) {
                meeting_->withdraw(arrival.phase);
                throw;
            }
            if (!meeting_->passed(arrival.phase)) raise_broken();
            return arrival.index;
        }
    }

private:
    using Clock = std::chrono::steady_clock;

    static std::uint32_t checked(std::int64_t parties) {
        if (parties < 1 || parties > Meeting::max_parties)
            throw std::invalid_argument("a barrier has 1 to " + std::to_string(Meeting::max_parties) +
                                        " parties, not " + std::to_string(parties));
        return static_cast<std::uint32_t>(parties);
    }

    std::uint32_t complete(nb::handle self, const Meeting::Arrival& arrival) {
        if (!acts_) return arrival.index;
        try {
            python::call(self.attr("_action"));
        } catch (nb::python_error&) {
            meeting_->end(arrival.phase, false);
            throw;
        }
        if (!meeting_->end(arrival.phase, true)) raise_broken();
        return arrival.index;
    }

    /// Waits until the phase is over, or breaks it when time runs out.
    void wait_inside(nb::handle self, const Meeting::Arrival& arrival, std::optional<double> timeout) {
        if (meeting_->reached(arrival.target)) return;
        const Deadline deadline = timeout ? deadline_after(Seconds(*timeout)) : Deadline{Clock::time_point::max()};
        if (wait_for_end(arrival, deadline)) return;
        const std::vector<pid_t> present = meeting_->present();
        if (meeting_->give_up(arrival.phase)) python::call(self.attr("_time_out"), nb::make_tuple(*timeout, present));
        wait_for_end(arrival, {Clock::time_point::max()});  // the action runs, or the phase has just ended
    }

    /// False when the deadline passed. Signal handlers run meanwhile, in the main thread; they may throw. Another
    /// thread does not come back for them.
    bool wait_for_end(const Meeting::Arrival& arrival, Deadline deadline) {
        const Clock::time_point begun = Clock::now();
        // The first to arrive has waited longest, and speaks for all.
        const double report_s = arrival.index == 0 && own_timeout() ? own_timeout()->count() : 0;
        double report_at = report_s;
        const bool runs_handlers = Numbers::mine().process == Numbers::mine().thread;
        for (;;) {
            const Deadline until = runs_handlers ? sooner(deadline, slice) : deadline;
            bool done = false;
            {
                const python::LockGivenUp others_go_on;
                done = wait_with_reports(arrival, until, begun, report_s, report_at);
            }
            if (done) return true;
            python::let_handlers_run();
            if (deadline.passed()) return false;
        }
    }

    /// False when the deadline passed. Meanwhile it says every `report_s` seconds (0: never), first at `report_at`, who
    /// has arrived; in the thread's own manner to wait, and without the interpreter's lock.
    bool wait_with_reports(const Meeting::Arrival& arrival, Deadline until, Clock::time_point begun, double report_s,
                           double& report_at) noexcept {
        const LearnedElsewhere<NativeSync, Meeting> phase{*meeting_, backoff_};
        for (;;) {
            double waited_s = Seconds(Clock::now() - begun).count();
            const Deadline due = report_s > 0 ? deadline_after(Seconds(report_at - waited_s)) : until;
            const Deadline next{std::min(until.at, due.at)};
            if (manner_.wait(phase, arrival.target, meeting_->parties(), next)) return true;
            waited_s = Seconds(Clock::now() - begun).count();
            if (report_is_due(waited_s, report_s, report_at)) report_if_possible([&] { report(waited_s); });
            if (until.passed()) return false;
        }
    }

    /// The same words as of a pthread barrier, of threads or of processes.
    void report(double waited_s) const {
        const std::vector<pid_t> present = meeting_->present();
        if (present.empty() || present.size() >= parties()) return;  // meanwhile
        const char* const kind = shared_ ? "process" : "thread";
        const std::string whose = shared_ ? "process_barrier" : "Barrier of process " + std::to_string(getpid());
        const std::size_t lacking = parties() - present.size();
        missing::report({.about = "tollbar." + whose,
                         .waiter = std::string(kind) + " " + std::to_string(present.front()),
                         .waited_s = waited_s,
                         .clauses = {missing::clause_of_arrived(kind, present, lacking, parties())},
                         .arrived = present,
                         .lacking = lacking});
    }

    std::unique_ptr<void, Freed> own_;
    Meeting* meeting_ = nullptr;
    bool acts_;
    bool shared_ = false;
    nb::object memory_;
    KeptManner<NativeSync> manner_;
    Backoff backoff_;
};

}  // namespace

void bind_barrier(nb::module_& m) {
    nb::class_<BarrierBase>(m, "BarrierBase", "What tollbar.Barrier and tollbar.process_barrier are made of.")
        .def(nb::init<std::int64_t, bool>(), "parties"_a, "acts"_a)
        .def(nb::init<std::int64_t, bool, const nb::object&, bool>(), "parties"_a, "acts"_a, "memory"_a, "makes"_a)
        .def_static("shared_bytes", &BarrierBase::shared_bytes, "parties"_a, "How much memory processes have to share.")
        .def_prop_ro("parties", &BarrierBase::parties, "How many pass together.")
        .def_prop_ro("n_waiting", &BarrierBase::n_waiting, "How many wait now.")
        .def_prop_ro("broken", &BarrierBase::broken, "Whether nobody can pass before reset().")
        .def("abort", &BarrierBase::abort, "Breaks the barrier: who waits, or comes later, gets BrokenBarrierError.")
        .def("reset", &BarrierBase::reset, "Makes the barrier as new; who waits gets BrokenBarrierError.")
        .def(
            "arrive_and_wait",
            [](nb::handle self, std::optional<double> timeout) {
                return nb::cast<BarrierBase&>(self).wait(self, timeout);
            },
            "timeout"_a = nb::none(), "Waits for all parties; gives this one's number in the order of arrival.");
}
