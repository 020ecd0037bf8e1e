// SPDX-License-Identifier: Apache-2.0
// The C functions of participant.h: joins, queues episodes, waits, reports.
#include "participant.h"

#include "cards.hpp"
#include "missing.hpp"
#include "selection.hpp"
#include "spelling.hpp"

#include "doors/nic/fitness.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

using namespace tollbar;
using namespace tollbar::mpi;

/// Waits for the episode under way and says who is missing, if that is wanted. Returns as well when it will never end.
void finish_episode(Meeting& meeting, const Reports& reports, const void* call_site) {
    if (!reports.wanted()) {
        meeting.course().finish(Never{});
        return;
    }
    const auto since = std::chrono::steady_clock::now();
    while (!meeting.course().finish(deadline_after(reports.timeout())) && !meeting.course().lost())
        reports.report(meeting, std::chrono::steady_clock::now() - since, call_site);
}

/// A meeting that is made to see how fast it is.
class TrialMeeting : public Trial {
public:
    TrialMeeting(const tollbar_carrier& carrier, const Agreement& agreement, const std::string& plan,
                 std::uint8_t number, const Reports& reports, std::unique_ptr<NicCard> card)
        : meeting_(carrier, agreement, plan, number, std::move(card)), reports_(reports) {}

    /// Where its card is gone, nothing more happens in here.
    void episode() override {
        if (meeting_.course().lost()) return;
        meeting_.start(nullptr);
        finish_episode(meeting_, reports_, nullptr);
        if (meeting_.course().lost() && meeting_.has_card()) reports_.tell_lost(meeting_);
    }

private:
    Meeting meeting_;
    const Reports& reports_;
};

/// The plans on cards that are worth a try.
std::vector<std::string> card_candidates(const Terms& terms) {
    std::vector<std::string> plans;
    for (const char* shape : {"gather", "pairwise"})
        if (terms.key != 0 && nic::fault_on_card(shape, terms.nodes).empty())
            plans.push_back(std::string("turnstile/card:") + shape);
    return plans;
}

/// What a communicator runs; the same on every rank but for the card.
struct Arrangement {
    std::string plan;
    std::uint8_t number;  ///< of its meeting
    std::unique_ptr<NicCard> card;
};

/// How it comes to that.
class Arranging {
public:
    Arranging(const tollbar_carrier& carrier, const Agreement& agreement, const tollbar_mpi_options& options,
              const Reports& reports)
        : carrier_(carrier), agreement_(agreement), options_(options), reports_(reports),
          waiting_(carrier, reports.name().c_str(), agreement.terms.timeout_s) {}

    Arrangement arrange() {
        std::string plan = settle();
        CardsJoined cards = join(plan, meetings_);
        return {.plan = cards.had ? plan : by_messages(plan), .number = meetings_, .card = std::move(cards.card)};
    }

private:
    /// What rank 0's terms name, else what is chosen.
    std::string settle() {
        const Terms& terms = agreement_.terms;
        if (terms.plan[0] != '\0') return terms.plan;
        if (carrier_.ranks == 1) return "turnstile";
        Selection selection{.situation = situation_of(terms, carrier_.ranks, options_),
                            .budget_ms = terms.budget_ms,
                            .far = terms.nodes == 1 ? 0 : agreement_.leaders[1],
                            .on_cards = card_candidates(terms),
                            .only_cards = false};
        selection.only_cards = terms.network == TOLLBAR_NETWORK_NIC && !selection.on_cards.empty();
        const MakeTrial make = [this](const std::string& plan) { return try_out(plan); };
        std::string found = choose_plan(carrier_, selection, make, waiting_);
        if (!found.empty()) return found;
        selection.on_cards.clear();
        selection.only_cards = false;
        return choose_plan(carrier_, selection, make, waiting_);
    }

    CardsJoined join(const std::string& plan, std::uint8_t number) {
        const auto wanted = on_cards(plan);
        if (!wanted) return {.had = true, .card = nullptr};
        return join_cards(carrier_, agreement_, wanted->shape, number, reports_.name().c_str(), waiting_);
    }

    std::unique_ptr<Trial> try_out(const std::string& plan) {
        const std::uint8_t number = meetings_++;  // also of a group that does not come about
        CardsJoined cards = join(plan, number);
        if (!cards.had) return nullptr;
        return std::make_unique<TrialMeeting>(carrier_, agreement_, plan, number, reports_, std::move(cards.card));
    }

    const tollbar_carrier& carrier_;
    const Agreement& agreement_;
    const tollbar_mpi_options& options_;
    const Reports& reports_;
    SetUpWait waiting_;
    std::uint8_t meetings_ = 0;  ///< tried so far
};

}  // namespace

struct tollbar_mpi_participant {
    tollbar_mpi_participant(const tollbar_carrier& carrier, Agreement agreement, const tollbar_mpi_options& options)
        : agreed(std::move(agreement)), reports(carrier, options, agreed),
          arrangement(Arranging(carrier, agreed, options, reports).arrange()),
          meeting(carrier, agreed, arrangement.plan, arrangement.number, std::move(arrangement.card)) {
        reports.announce(arrangement.plan);
        meeting.called_from(options.call_site);
        // Of the size of the communicator; the reports keep what they need.
        for (auto* each : {&agreed.node_of, &agreed.leaders, &agreed.here}) std::vector<Rank>().swap(*each);
        std::vector<std::uint32_t>().swap(agreed.cards);
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

    /// EPIPE where it will never be over.
    int failed(std::uint64_t episode) noexcept {
        if (over(episode) || !course().lost()) return 0;
        advance();  // to what had ended when it was lost
        if (over(episode)) return 0;
        if (meeting.has_card() && !told) reports.tell_lost(meeting);
        told = true;
        return EPIPE;
    }

    int wait(std::uint64_t episode) noexcept {
        while (advance(), !over(episode)) {
            if (const int error = failed(episode); error != 0) return error;
            finish_episode(meeting, reports, call_site);
        }
        return 0;
    }

    bool wait_until(std::uint64_t episode, Deadline deadline) noexcept {
        while (advance(), !over(episode))
            if (!course().finish(deadline)) return over(episode);
        return true;
    }

    Agreement agreed;
    Reports reports;
    Arrangement arrangement;
    Meeting meeting;
    std::uint64_t arrived = 0;  ///< the latest episode entered or queued
    const void* call_site = nullptr;
    bool told = false;  ///< that the card is gone
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
    return participant->over(episode) || participant->course().lost() ? 1 : 0;
}

int tollbar_mpi_failed(tollbar_mpi_participant* participant, uint64_t episode) { return participant->failed(episode); }

int tollbar_mpi_wait(tollbar_mpi_participant* participant, uint64_t episode) { return participant->wait(episode); }

int tollbar_mpi_wait_for(tollbar_mpi_participant* participant, uint64_t episode, double seconds) {
    return participant->wait_until(episode, deadline_after(std::chrono::duration<double>(seconds))) ? 1 : 0;
}

int tollbar_mpi_arrive_and_wait(tollbar_mpi_participant* participant, const void* call_site) {
    Course& course = participant->course();
    const std::uint64_t episode = ++participant->arrived;
    participant->call_site = call_site;
    if (course.finished() && course.episode() + 1 == episode && !participant->reports.wanted()) {
        participant->meeting.start(call_site);
        if (course.finish(Never{})) return 0;
    }
    return participant->wait(episode);
}

const char* tollbar_mpi_plan(const tollbar_mpi_participant* participant) {
    return participant->arrangement.plan.c_str();
}

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
