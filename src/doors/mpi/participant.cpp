// SPDX-License-Identifier: Apache-2.0
// The C functions of participant.h: joins, queues episodes, waits, reports.
#include "participant.h"

#include "missing.hpp"
#include "selection.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

using namespace tollbar;
using namespace tollbar::mpi;

/// Waits for the episode under way and says who is missing, if that is wanted.
void finish_episode(Meeting& meeting, const Reports& reports, const void* call_site) {
    if (!reports.wanted()) {
        meeting.course().finish(Never{});
        return;
    }
    const auto since = std::chrono::steady_clock::now();
    while (!meeting.course().finish(deadline_after(reports.timeout())))
        reports.report(meeting, std::chrono::steady_clock::now() - since, call_site);
}

/// A meeting that is made to see how fast it is.
class TrialMeeting : public Trial {
public:
    TrialMeeting(const tollbar_carrier& carrier, const Agreement& agreement, const std::string& plan,
                 std::uint8_t number, const Reports& reports)
        : meeting_(carrier, agreement, plan, number), reports_(reports) {}

    void episode() override {
        meeting_.start(nullptr);
        finish_episode(meeting_, reports_, nullptr);
    }

private:
    Meeting meeting_;
    const Reports& reports_;
};

/// What rank 0's terms name, else what is chosen; the same on every rank. `meetings` counts those that were made.
std::string settle(const tollbar_carrier& carrier, const Agreement& agreement, const tollbar_mpi_options& options,
                   const Reports& reports, std::uint8_t& meetings) {
    const Terms& terms = agreement.terms;
    if (terms.plan[0] != '\0') return terms.plan;
    if (carrier.ranks == 1) return "turnstile";
    const Selection selection{.situation = situation_of(terms, carrier.ranks, options),
                              .budget_ms = terms.budget_ms,
                              .far = terms.nodes == 1 ? 0 : agreement.leaders[1]};
    const MakeTrial make = [&](const std::string& plan) {
        return std::make_unique<TrialMeeting>(carrier, agreement, plan, meetings++, reports);
    };
    return choose_plan(carrier, selection, make, SetUpWait(carrier, reports.name().c_str(), terms.timeout_s));
}

}  // namespace

struct tollbar_mpi_participant {
    tollbar_mpi_participant(const tollbar_carrier& carrier, Agreement agreement, const tollbar_mpi_options& options)
        : agreed(std::move(agreement)), reports(carrier, options, agreed),
          plan(settle(carrier, agreed, options, reports, meetings)), meeting(carrier, agreed, plan, meetings) {
        reports.announce(plan);
        meeting.called_from(options.call_site);
        // Of the size of the communicator; the reports keep what they need.
        for (auto* each : {&agreed.node_of, &agreed.leaders, &agreed.here}) std::vector<Rank>().swap(*each);
    }

    Course& course() noexcept { return meeting.course(); }

    /// Begins and goes on with episodes as far as possible without blocking.
    void advance() noexcept {
        for (;;) {
            if (!course().finished()) {
                if (!course().advance()) return;
            } else if (course().episode() < arrived) {
                meeting.start(call_site);
            } else {
                return;
            }
        }
    }

    bool over(std::uint64_t episode) noexcept {
        return course().episode() > episode || (course().episode() == episode && course().finished());
    }

    void wait(std::uint64_t episode) noexcept {
        while (advance(), !over(episode)) finish_episode(meeting, reports, call_site);
    }

    bool wait_until(std::uint64_t episode, Deadline deadline) noexcept {
        while (advance(), !over(episode))
            if (!course().finish(deadline)) return over(episode);
        return true;
    }

    Agreement agreed;
    Reports reports;
    std::uint8_t meetings = 0;
    std::string plan;
    Meeting meeting;
    std::uint64_t arrived = 0;  ///< the latest episode entered or queued
    const void* call_site = nullptr;
};

extern "C" {

int tollbar_mpi_join(const tollbar_carrier* carrier, const tollbar_mpi_options* options,
                     tollbar_mpi_participant** participant) {
    try {
        *participant = new tollbar_mpi_participant(*carrier, agree(*carrier, *options), *options);
        return 0;
    } catch (const std::system_error& error) {
        return error.code().value();
    } catch (const std::bad_alloc&) {
        return ENOMEM;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tollbar: %s\n", error.what());
        return EINVAL;
    }
}

void tollbar_mpi_leave(tollbar_mpi_participant* participant) { delete participant; }

uint64_t tollbar_mpi_arrive(tollbar_mpi_participant* participant, const void* call_site) {
    participant->call_site = call_site;
    const std::uint64_t episode = ++participant->arrived;
    participant->advance();
    return episode;
}

int tollbar_mpi_test(tollbar_mpi_participant* participant, uint64_t episode) {
    participant->advance();
    return participant->over(episode) ? 1 : 0;
}

void tollbar_mpi_wait(tollbar_mpi_participant* participant, uint64_t episode) { participant->wait(episode); }

int tollbar_mpi_wait_for(tollbar_mpi_participant* participant, uint64_t episode, double seconds) {
    return participant->wait_until(episode, deadline_after(std::chrono::duration<double>(seconds))) ? 1 : 0;
}

void tollbar_mpi_arrive_and_wait(tollbar_mpi_participant* participant, const void* call_site) {
    Course& course = participant->course();
    const std::uint64_t episode = ++participant->arrived;
    participant->call_site = call_site;
    if (course.finished() && course.episode() + 1 == episode && !participant->reports.wanted()) {
        participant->meeting.start(call_site);
        course.finish(Never{});
        return;
    }
    participant->wait(episode);
}

const char* tollbar_mpi_plan(const tollbar_mpi_participant* participant) { return participant->plan.c_str(); }

int tollbar_mpi_needs_no_calls(const tollbar_mpi_participant* participant) {
    return participant->meeting.needs_no_calls() ? 1 : 0;
}

uint32_t tollbar_mpi_node(const tollbar_mpi_participant* participant) { return participant->agreed.node; }

void tollbar_mpi_set_manners(tollbar_mpi_participant* participant, tollbar_manners manners) {
    participant->course().set_manners(manners == TOLLBAR_MANNERS_POLITE ? Manners::polite : Manners::usual);
}

size_t tollbar_mpi_missing(const tollbar_mpi_participant* participant, char* text, size_t size) {
    const std::string line = participant->reports.missing(participant->meeting);
    if (size != 0) {
        const std::size_t length = std::min(size - 1, line.size());
        std::memcpy(text, line.data(), length);
        text[length] = '\0';
    }
    return line.size();
}

void tollbar_mpi_report(const tollbar_mpi_participant* participant, double waited_s) {
    participant->reports.report(participant->meeting, std::chrono::duration<double>(waited_s), participant->call_site);
}

}  // extern "C"
