// SPDX-License-Identifier: Apache-2.0
// The C functions of participant.h: joins, queues episodes, waits, reports.
#include "participant.h"

#include "cards.hpp"
#include "missing.hpp"
#include "selection.hpp"
#include "spelling.hpp"

#include "algorithms/defaults.hpp"
#include "nicd/client/local_nic.hpp"
#include "runtime/say.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>

namespace {

using namespace tollbar;
using namespace tollbar::mpi;

/// Waits for the episode under way and says who is missing, if that is wanted. Returns as well when it will never end.
void finish_episode(Participant& participant, const Reports& reports, const void* call_site) {
    if (!reports.wanted()) {
        participant.runner().finish(Never{});
        return;
    }
    const auto since = std::chrono::steady_clock::now();
    while (!participant.runner().finish(deadline_after(reports.timeout())) && !participant.lost())
        reports.report(participant, std::chrono::steady_clock::now() - since, call_site);
}

/// The plans on cards that are worth a try.
std::vector<std::string> card_candidates(const Terms& terms) {
    std::vector<std::string> plans;
    for (const std::string& shape : {std::string("gather"), std::string(defaults::on_cards)})
        if (terms.has_cards() && nic::fault_on_nic(shape, terms.nodes).empty())
            plans.push_back(defaults::around_cards(shape));
    return plans;
}

/// What a communicator runs; the same on every rank but for the card.
struct Arrangement {
    std::string plan;
    std::uint8_t number;  ///< of its participants
    std::unique_ptr<NodeNic> nic;
};

/// How it comes to that.
class Arranging {
public:
    Arranging(const tollbar_p2p& p2p, const Agreement& agreement, const Reports& reports)
        : set_up_(p2p, reports.name().c_str(), agreement.terms.timeout_s), agreement_(agreement), reports_(reports) {}

    Arrangement arrange(const tollbar_mpi_options& options) {
        std::string plan = settle(options);
        CardsJoined cards = join(plan, tried_);
        return {.plan = cards.had ? plan : by_messages(plan), .number = tried_, .nic = std::move(cards.nic)};
    }

private:
    /// What rank 0's terms name, else what is chosen.
    std::string settle(const tollbar_mpi_options& options) {
        const Terms& terms = agreement_.terms;
        const Rank ranks = set_up_.p2p().ranks;
        if (terms.plan[0] != '\0') return terms.plan;
        if (ranks == 1) return std::string(defaults::on_a_node);
        Selection selection{.situation = situation_of(terms, ranks, options),
                            .budget_ms = terms.budget_ms,
                            .far = terms.nodes == 1 ? 0 : agreement_.leaders[1],
                            .on_cards = card_candidates(terms)};
        selection.only_cards = terms.network == TOLLBAR_NETWORK_NIC && !selection.on_cards.empty();
        const MakeTrial make = [this](const std::string& plan) { return try_out(plan); };
        std::string found = choose_plan(set_up_, selection, make);
        if (!found.empty()) return found;
        selection.on_cards.clear();
        selection.only_cards = false;
        found = choose_plan(set_up_, selection, make);
        if (found.empty()) throw Declined(std::make_error_code(std::errc::no_buffer_space));
        return found;
    }

    CardsJoined join(const std::string& plan, std::uint8_t number) {
        const auto wanted = on_cards(plan);
        if (!wanted) return {.had = true, .nic = nullptr};
        return join_cards(set_up_, agreement_, *wanted, number);
    }

    /// Where its card is gone, nothing more happens in a trial. Throws std::system_error where the MPI lost a message.
    Trial try_out(const std::string& plan) {
        const std::uint8_t number = tried_++;  // also of a group that does not come about
        CardsJoined cards = join(plan, number);
        if (!cards.had) return nullptr;
        std::shared_ptr<Participant> tried;
        try {
            set_up_.together([&] {
                tried = std::make_shared<Participant>(set_up_.p2p(), agreement_, plan, number, std::move(cards.nic));
            });
        } catch (const Declined&) {
            return nullptr;
        }
        return [this, tried] {
            if (tried->lost()) return;
            tried->start(nullptr);
            finish_episode(*tried, reports_, nullptr);
            if (!tried->lost()) return;
            if (tried->why_lost() == EIO) fail_alone("the MPI lost a message");
            if (tried->has_nic()) reports_.tell_lost(*tried);
        };
    }

    SetUp set_up_;
    const Agreement& agreement_;
    const Reports& reports_;
    std::uint8_t tried_ = 0;
};

}  // namespace

struct tollbar_mpi_participant {
    tollbar_mpi_participant(const tollbar_p2p& p2p, Agreement agreement, const tollbar_mpi_options& options)
        : agreed(std::move(agreement)), reports(p2p, options, agreed),
          arrangement(Arranging(p2p, agreed, reports).arrange(options)) {}

    /// Before everything else. Throws as Participant does.
    void enter(const tollbar_p2p& p2p, const tollbar_mpi_options& options) {
        own.emplace(p2p, agreed, arrangement.plan, arrangement.number, std::move(arrangement.nic));
        own->called_from(options.call_site);
        // Of the size of the communicator; the reports keep what they need.
        for (auto* each : {&agreed.node_of, &agreed.leaders, &agreed.here}) std::vector<Rank>().swap(*each);
        std::vector<std::uint32_t>().swap(agreed.cards);
    }

    Runner<Composite>& runner() noexcept { return own->runner(); }

    /// Begins and goes on with episodes as far as possible without blocking.
    void advance() noexcept {
        for (;;) {
            if (!runner().finished()) {
                if (!runner().advance()) return;
            } else if (runner().episode() < arrived) {
                own->start(call_site);
            } else {
                return;
            }
        }
    }

    bool over(std::uint64_t episode) noexcept {
        return runner().episode() > episode || (runner().episode() == episode && runner().finished());
    }

    /// EPIPE or EIO where it will never be over.
    int failed(std::uint64_t episode) noexcept {
        if (over(episode) || !own->lost()) return 0;
        advance();  // to what had ended when it was lost
        if (over(episode)) return 0;
        if (own->has_nic() && own->why_lost() == EPIPE && !told) reports.tell_lost(*own);
        told = true;
        return own->why_lost();
    }

    int wait(std::uint64_t episode) noexcept {
        while (advance(), !over(episode)) {
            if (const int error = failed(episode); error != 0) return error;
            finish_episode(*own, reports, call_site);
        }
        return 0;
    }

    bool wait_until(std::uint64_t episode, Deadline deadline) noexcept {
        while (advance(), !over(episode))
            if (!runner().finish(deadline)) return over(episode);
        return true;
    }

    Agreement agreed;
    Reports reports;
    Arrangement arrangement;
    std::optional<Participant> own;
    std::uint64_t arrived = 0;  ///< the latest episode entered or queued
    const void* call_site = nullptr;
    bool told = false;  ///< that the card is gone
};

extern "C" {

int tollbar_mpi_join(const tollbar_p2p* p2p, const tollbar_mpi_options* options,
                     tollbar_mpi_participant** participant) {
    try {
        auto made = std::make_unique<tollbar_mpi_participant>(*p2p, agree(*p2p, *options), *options);
        const SetUp set_up(*p2p, name_of(*options), made->agreed.terms.timeout_s);
        set_up.together([&] { made->enter(*p2p, *options); });
        made->reports.announce(made->arrangement.plan);
        *participant = made.release();
        return 0;
    } catch (const Declined& declined) {
        return declined.code().value();
    } catch (const std::exception& error) {
        tollbar_say("%s: %s", name_of(*options), error.what());
        return EIO;
    }
}

int tollbar_mpi_join_by_messages(const tollbar_p2p* p2p, const tollbar_mpi_options* options,
                                 tollbar_mpi_participant** participant) {
    try {
        auto made = std::make_unique<tollbar_mpi_participant>(
            *p2p, without_meeting(*p2p, *options, defaults::by_messages), *options);
        made->enter(*p2p, *options);
        *participant = made.release();
        return 0;
    } catch (const std::system_error& error) {
        return error.code().value();
    } catch (const std::exception&) {
        return ENOMEM;
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
    if (participant->over(episode)) return 1;
    participant->runner().transport().look();
    return participant->own->lost() ? 1 : 0;
}

int tollbar_mpi_failed(tollbar_mpi_participant* participant, uint64_t episode) { return participant->failed(episode); }

int tollbar_mpi_wait(tollbar_mpi_participant* participant, uint64_t episode) { return participant->wait(episode); }

int tollbar_mpi_wait_for(tollbar_mpi_participant* participant, uint64_t episode, double seconds) {
    return participant->wait_until(episode, deadline_after(std::chrono::duration<double>(seconds))) ? 1 : 0;
}

int tollbar_mpi_arrive_and_wait(tollbar_mpi_participant* participant, const void* call_site) {
    Runner<Composite>& runner = participant->runner();
    const std::uint64_t episode = ++participant->arrived;
    participant->call_site = call_site;
    if (runner.finished() && runner.episode() + 1 == episode && !participant->reports.wanted()) {
        participant->own->start(call_site);
        if (runner.finish(Never{})) return 0;
    }
    return participant->wait(episode);
}

const char* tollbar_mpi_plan(const tollbar_mpi_participant* participant) {
    return participant->arrangement.plan.c_str();
}

int tollbar_mpi_needs_no_calls(const tollbar_mpi_participant* participant) {
    return participant->own->needs_no_calls() ? 1 : 0;
}

uint32_t tollbar_mpi_node(const tollbar_mpi_participant* participant) { return participant->agreed.node; }

void tollbar_mpi_set_spinning(tollbar_mpi_participant* participant, tollbar_spinning spinning) {
    participant->own->set_spinning(spinning);
}

size_t tollbar_mpi_missing(const tollbar_mpi_participant* participant, char* text, size_t size) {
    const std::string line = participant->reports.missing(*participant->own);
    if (size != 0) {
        const std::size_t length = std::min(size - 1, line.size());
        std::memcpy(text, line.data(), length);
        text[length] = '\0';
    }
    return line.size();
}

void tollbar_mpi_report(const tollbar_mpi_participant* participant, double waited_s) {
    participant->reports.report(*participant->own, std::chrono::duration<double>(waited_s), participant->call_site);
}

}  // extern "C"
