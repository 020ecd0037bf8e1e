// SPDX-License-Identifier: Apache-2.0
// tollbar.Group and tollbar.Participant: the split phase, with the interpreter's lock given up in waits.
#include "ending.hpp"
#include "parts.hpp"

#include "base/environment.hpp"
#include "missing/reporting.hpp"
#include "transports/words/segment.hpp"

#include <tollbar/participant.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using namespace tollbar;
using namespace tollbar::detail;

struct tollbar::detail::Reporting {
    static void report(const participant& self, std::chrono::duration<double> waited) {
        self.segment_->report_missing(self.rank(), self.episode(), waited);
    }
};

namespace {

constexpr std::chrono::milliseconds slice{50};  // before the main thread lets signal handlers run

std::unique_ptr<group> make_group(std::int64_t ranks, const std::string& plan, const std::string& wait) {
    if (ranks < 1 || ranks > max_ranks)
        throw std::invalid_argument("a group has 1 to " + std::to_string(max_ranks) + " ranks, not " +
                                    std::to_string(ranks));
    const auto policy = wait_policy_named(wait);
    if (!policy) throw std::invalid_argument("wait is one of auto, spin, yield, park, not '" + wait + "'");
    return std::make_unique<group>(static_cast<Rank>(ranks), group_options{.plan = plan, .wait = *policy});
}

std::vector<Rank> ranks_of(const std::vector<absent>& missing) {
    std::vector<Rank> ranks;
    for (const absent& one : missing) ranks.push_back(one.rank);
    return ranks;
}

/// One rank, until it leaves. Calls out of order raise RuntimeError, which C++ leaves to checked builds.
class OwnedParticipant {
public:
    OwnedParticipant(group& group, Rank rank) : self_(std::make_unique<participant>(group.join(rank))) {}

    void arrive() {
        participant& self = joined();
        if (inside_) throw std::runtime_error("the rank has arrived already; wait() or test() comes first");
        inside_ = true;
        self.arrive();
    }

    bool test() {
        const bool done = entered().test();
        inside_ = !done;
        return done;
    }

    bool wait_for(double seconds) {
        participant& self = entered();
        if (std::isnan(seconds)) throw std::invalid_argument("a time-out is a number of seconds, not nan");
        const Deadline deadline = deadline_after(std::chrono::duration<double>(seconds));
        for (;;) {
            bool done = false;
            {
                const python::LockGivenUp others_go_on;
                done = static_cast<bool>(self.wait_until(sooner(deadline, slice).at));
            }
            inside_ = !done;
            if (done) return true;
            python::let_handlers_run();
            if (deadline.passed()) return false;
        }
    }

    void wait() {
        const Timeout& timeout = own_timeout();
        for (auto waited = timeout.value_or(century); !wait_for(timeout.value_or(century).count()); waited += *timeout)
            if (timeout) report_if_possible([&] { Reporting::report(*self_, waited); });
    }

    void arrive_and_wait() {
        arrive();
        if (!test()) wait();
    }

    std::vector<Rank> missing() { return ranks_of(joined().missing()); }
    Rank rank() { return joined().rank(); }
    void leave() { self_.reset(); }

private:
    participant& joined() const {
        if (!self_) throw std::runtime_error("the rank has left its group");
        return *self_;
    }

    participant& entered() const {
        participant& self = joined();
        if (!inside_) throw std::runtime_error("the rank has not arrived; arrive() comes first");
        return self;
    }

    std::unique_ptr<participant> self_;
    bool inside_ = false;
};

}  // namespace

void bind_group(nb::module_& m) {
    nb::class_<OwnedParticipant>(
        m, "Participant",
        "One rank of a Group, used by one thread at a time. As a context manager it leaves at the end.")
        .def("arrive", &OwnedParticipant::arrive, "Enters the next episode; never blocks.")
        .def("test", &OwnedParticipant::test, "Whether the episode is over; never blocks.")
        .def("wait", &OwnedParticipant::wait, "Blocks until the episode is over.")
        .def("wait_for", &OwnedParticipant::wait_for, "seconds"_a,
             "Blocks at most that long; False when time ran out, and then any wait may follow.")
        .def("arrive_and_wait", &OwnedParticipant::arrive_and_wait, "Both, the plain barrier.")
        .def("missing", &OwnedParticipant::missing, "The ranks that have not arrived in this rank's episode.")
        .def_prop_ro("rank", &OwnedParticipant::rank, "The number it joined as.")
        .def("leave", &OwnedParticipant::leave, "Leaves the group; the rank may be joined again.")
        .def("__enter__", [](nb::object self) { return self; })
        .def("__exit__", [](OwnedParticipant& self, const nb::args&) { self.leave(); });

    nb::class_<group>(m, "Group", "A fixed number of ranks, threads of this process, that meet in barriers by a plan.")
        .def(nb::new_(&make_group), "ranks"_a, "plan"_a = "", "wait"_a = "auto",
             "An empty plan is tollbar's own choice; wait is auto, spin, yield or park.")
        .def(
            "join",
            [](group& self, std::int64_t rank) {
                if (rank < 0 || rank >= self.ranks())
                    throw std::invalid_argument("rank " + std::to_string(rank) + " is not one of 0.." +
                                                std::to_string(self.ranks() - 1));
                return std::make_unique<OwnedParticipant>(self, static_cast<Rank>(rank));
            },
            "rank"_a, "Joins as that rank, in the thread that will use it.")
        .def_prop_ro("ranks", &group::ranks, "How many there are.")
        .def_prop_ro("plan", &group::plan, "What the group runs, such as 'mcs:4,2'.")
        .def(
            "missing", [](const group& self) { return ranks_of(self.missing()); },
            "The ranks that have not arrived in the latest episode that any rank has entered.")
        .def("__enter__", [](nb::object self) { return self; })
        .def("__exit__", [](group&, const nb::args&) {});
}
