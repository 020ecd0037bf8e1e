// SPDX-License-Identifier: Apache-2.0
// The C functions of participant.h: a meeting and perhaps trials make a team, which does the rest.
#include "fiber.hpp"
#include "meeting.hpp"
#include "missing.hpp"
#include "nics.hpp"
#include "participant.h"
#include "selection.hpp"
#include "spelling.hpp"
#include "team.hpp"

#include "algorithms/defaults.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/say.h"
#include "membership/local_nic.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::mpi;

struct tollbar_mpi_participant final : Team {
    using Team::Team;
};

namespace {

/// The plans on NICs that are worth a try.
std::vector<std::string> nic_candidates(const Decision& decision) {
    std::vector<std::string> plans;
    for (const std::string& shape : {std::string("gather"), std::string(defaults::on_nics)})
        if (decision.has_nics() && nic::fault_on_nic(shape, decision.nodes).empty())
            plans.push_back(defaults::around_nics(shape));
    return plans;
}

/// From a meeting to the team; collective throughout.
class Making {
public:
    Making(const SetUp& set_up, const tollbar_mpi_options& options, const Meeting& meeting)
        : set_up_(set_up), options_(options), meeting_(meeting),
          reports_(std::make_shared<Reports>(set_up.p2p(), options, meeting)) {}

    std::unique_ptr<tollbar_mpi_participant> make() {
        const std::string plan = settled_plan();
        NicsJoined nics = join(plan, tried_);
        std::unique_ptr<tollbar_mpi_participant> team;
        set_up_.together([&] { team = make_team(nics.had ? plan : by_messages(plan), tried_, std::move(nics.nic)); });
        reports_->announce(team->plan());
        return team;
    }

    std::unique_ptr<tollbar_mpi_participant> make_team(const std::string& plan, std::uint8_t number,
                                                       std::unique_ptr<NodeNic> nic) const {
        auto team = std::make_unique<tollbar_mpi_participant>(set_up_, meeting_, reports_, plan, number,
                                                              std::move(nic));
        team->called_from(options_.call_site);
        return team;
    }

private:
    /// Comes before what a rank that may not block cannot do.
    void ask_to_block() const {
        if (!set_up_.may_block()) throw Declined(std::make_error_code(std::errc::resource_unavailable_try_again));
    }

    /// The plan that was decided on, else the one that trials choose.
    std::string settled_plan() {
        const Decision& decision = meeting_.decision;
        const Rank ranks = set_up_.p2p().ranks;
        if (decision.plan[0] != '\0') return decision.plan;
        if (ranks == 1) return std::string(defaults::on_a_node);
        if (decision.nodes != 1) ask_to_block();
        Selection selection{.situation = situation_of(decision, ranks, options_),
                            .budget_ms = set_up_.may_block() ? decision.budget_ms : 0,
                            .far = decision.nodes == 1 ? 0 : meeting_.leaders[1],
                            .on_nics = nic_candidates(decision)};
        selection.only_nics = decision.network == TOLLBAR_NETWORK_NIC && !selection.on_nics.empty();
        const MakeTrial make = [this](const std::string& plan) { return try_out(plan); };
        std::string found = choose_plan(set_up_, selection, make);
        if (!found.empty()) return found;
        selection.on_nics.clear();
        selection.only_nics = false;
        found = choose_plan(set_up_, selection, make);
        if (found.empty()) throw Declined(std::make_error_code(std::errc::no_buffer_space));
        return found;
    }

    NicsJoined join(const std::string& plan, std::uint8_t number) const {
        const auto wanted = nic_shape(plan);
        if (!wanted) return {.had = true, .nic = nullptr};
        ask_to_block();
        return join_nics(set_up_, meeting_, *wanted, number);
    }

    /// A trial whose NIC is gone does nothing more. Throws std::system_error where the MPI lost a message.
    Trial try_out(const std::string& plan) {
        const std::uint8_t number = tried_++;  // also of a group that does not come about
        NicsJoined nics = join(plan, number);
        if (!nics.had) return nullptr;
        std::shared_ptr<Team> tried;
        try {
            set_up_.together([&] { tried = make_team(plan, number, std::move(nics.nic)); });
        } catch (const Declined&) {
            return nullptr;
        }
        return [tried] {
            if (!tried->lost() && tried->arrive_and_wait(nullptr) == EIO) fail_alone("the MPI lost a message");
        };
    }

    const SetUp& set_up_;
    const tollbar_mpi_options& options_;
    const Meeting& meeting_;
    std::shared_ptr<const Reports> reports_;
    std::uint8_t tried_ = 0;
};

/// The result of tollbar_mpi_join(). `all` are completed.
int join(const SetUp& set_up, const tollbar_mpi_options& all, tollbar_mpi_participant*& participant) {
    try {
        const Meeting meeting = meet(set_up, all);
        participant = Making(set_up, all, meeting).make().release();
        return 0;
    } catch (const Declined& declined) {
        const int why = declined.code().value();
        if (why != EAGAIN && all.otherwise != nullptr && set_up.is_root() && environment::verbosity() > 0)
            tollbar_say("%s: %s; %s", all.name, std::strerror(why), all.otherwise);
        return why;
    } catch (const std::exception& error) {
        tollbar_say("%s: %s", all.name, error.what());
        return EIO;
    }
}

}  // namespace

struct tollbar_mpi_joining {
public:
    tollbar_mpi_joining(const tollbar_p2p& p2p, const tollbar_mpi_options& all)
        : p2p_(p2p), all_(all), set_up_(p2p_, all_.name, all_.timeout_s, [this] { return give_way(); }),
          fiber_([this] { failed_ = join(set_up_, all_, participant_); }) {}

    bool go_on(bool blocks) {
        blocks_ = blocks;
        return fiber_.resume();
    }
    int failed() const noexcept { return failed_; }
    tollbar_mpi_participant* participant() const noexcept { return participant_; }

private:
    bool give_way() {
        if (!blocks_) fiber_.yield();
        return !blocks_;
    }

    tollbar_p2p p2p_;
    tollbar_mpi_options all_;
    SetUp set_up_;
    bool blocks_ = false;
    int failed_ = 0;
    tollbar_mpi_participant* participant_ = nullptr;
    Fiber fiber_;
};

extern "C" {

int tollbar_mpi_join(const tollbar_p2p* p2p, const tollbar_mpi_options* options,
                     tollbar_mpi_participant** participant) {
    const tollbar_mpi_options all = completed(*options);
    return join(SetUp(*p2p, all.name, all.timeout_s), all, *participant);
}

int tollbar_mpi_begin_to_join(const tollbar_p2p* p2p, const tollbar_mpi_options* options,
                              tollbar_mpi_joining** joining) {
    try {
        *joining = new tollbar_mpi_joining(*p2p, completed(*options));
        return 0;
    } catch (const std::system_error& error) {
        return error.code().value();
    } catch (const std::bad_alloc&) {
        return ENOMEM;
    }
}

int tollbar_mpi_go_on_joining(tollbar_mpi_joining* joining, tollbar_patience patience, int* failed,
                              tollbar_mpi_participant** participant) {
    if (!joining->go_on(patience == TOLLBAR_BLOCKS)) return 0;
    *failed = joining->failed();
    *participant = joining->participant();
    delete joining;
    return 1;
}

int tollbar_mpi_join_by_messages(const tollbar_p2p* p2p, const tollbar_mpi_options* options,
                                 tollbar_mpi_participant** participant) {
    const tollbar_mpi_options all = completed(*options);
    try {
        const SetUp set_up(*p2p, all.name, all.timeout_s);
        const Meeting meeting = alone(set_up, all, defaults::by_messages);
        *participant = Making(set_up, all, meeting).make_team(meeting.decision.plan, 0, nullptr).release();
        return 0;
    } catch (const std::system_error& error) {
        return error.code().value();
    } catch (const std::exception&) {
        return ENOMEM;
    }
}

void tollbar_mpi_leave(tollbar_mpi_participant* participant) { delete participant; }

uint64_t tollbar_mpi_arrive(tollbar_mpi_participant* participant, const void* call_site) {
    return participant->arrive(call_site);
}

int tollbar_mpi_test(tollbar_mpi_participant* participant, uint64_t episode) {
    return participant->test(episode) ? 1 : 0;
}

int tollbar_mpi_failed(tollbar_mpi_participant* participant, uint64_t episode) { return participant->failed(episode); }

int tollbar_mpi_wait(tollbar_mpi_participant* participant, uint64_t episode) { return participant->wait(episode); }

int tollbar_mpi_wait_for(tollbar_mpi_participant* participant, uint64_t episode, double seconds) {
    return participant->wait_until(episode, deadline_after(std::chrono::duration<double>(seconds))) ? 1 : 0;
}

int tollbar_mpi_arrive_and_wait(tollbar_mpi_participant* participant, const void* call_site) {
    return participant->arrive_and_wait(call_site);
}

const char* tollbar_mpi_plan(const tollbar_mpi_participant* participant) { return participant->plan().c_str(); }

int tollbar_mpi_needs_no_calls(const tollbar_mpi_participant* participant) {
    return participant->needs_no_calls() ? 1 : 0;
}

uint32_t tollbar_mpi_node(const tollbar_mpi_participant* participant) { return participant->node(); }

void tollbar_mpi_set_spinning(tollbar_mpi_participant* participant, tollbar_spinning spinning) {
    participant->set_spinning(spinning);
}

size_t tollbar_mpi_missing(const tollbar_mpi_participant* participant, char* text, size_t size) {
    const std::string line = participant->reports().missing(*participant);
    c_door::write_text(line, text, size);
    return line.size();
}

size_t tollbar_mpi_list_missing(const tollbar_mpi_participant* participant, tollbar_missing* list, size_t capacity) {
    const std::vector<tollbar_missing> all = participant->reports().list(*participant);
    std::copy_n(all.begin(), std::min(capacity, all.size()), list);
    return all.size();
}

void tollbar_mpi_report(const tollbar_mpi_participant* participant, double waited_s) {
    report_if_possible([&] { participant->reports().report(*participant, std::chrono::duration<double>(waited_s)); });
}

}  // extern "C"
