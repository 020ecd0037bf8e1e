// SPDX-License-Identifier: Apache-2.0
// The proof that a plan is a barrier: one run, followed with the knowledge every message carries.
#include <tollbar/verify.hpp>

#include "knowledge.hpp"
#include "replay.hpp"
#include "wiring.hpp"

namespace tollbar {

namespace {

using Fault = Verdict::Fault;

/// Every rank starts knowing itself; a signal carries what its sender knows, an await set adds it.
class Hearsay {
public:
    explicit Hearsay(const Wiring& wiring) : wiring_(wiring), carried_(wiring.messages) {
        for (Rank rank = 0; rank < wiring.ranks; ++rank) known_.push_back(knowledge_.of(rank));
    }

    void signal(Rank self, Index step) { carried_[wiring_.message[step]] = knowledge_.share(known_[self]); }

    void await_set(Rank self, Index begin, Index end) {
        parts_.assign(1, known_[self]);
        for (Index step = begin; step < end; ++step) parts_.push_back(carried_[wiring_.message[step]]);
        known_[self] = knowledge_.unite(parts_);
    }

    /// The lowest rank `self` has not heard of; the number of ranks when there is none.
    Rank first_unheard(Rank self) const {
        const Run heard = knowledge_.runs(known_[self]).front();
        return heard.begin != 0 ? 0 : heard.end;
    }

    std::uint64_t touched() const noexcept { return knowledge_.touched(); }

private:
    const Wiring& wiring_;
    Knowledge knowledge_;
    std::vector<Knowledge::Id> known_;    // by rank
    std::vector<Knowledge::Id> carried_;  // by message
    std::vector<Knowledge::Id> parts_;
};

}  // namespace

Verdict verify(const Plan& plan) {
    const Wiring wiring = wire(plan);
    Verdict verdict = wiring.fault;
    if (!verdict.holds()) return verdict;

    Hearsay hearsay(wiring);
    const std::optional<Stuck> stuck = replay(wiring, hearsay);
    verdict.operations += hearsay.touched();
    if (stuck) {
        verdict.fault = Fault::deadlock;
        verdict.from = stuck->from;
        verdict.to = stuck->to;
        return verdict;
    }
    for (Rank to = 0; to < plan.ranks(); ++to) {
        const Rank from = hearsay.first_unheard(to);
        if (from == plan.ranks()) continue;
        verdict.fault = Fault::unheard;
        verdict.from = from;
        verdict.to = to;
        break;
    }
    return verdict;
}

std::string Verdict::explain() const {
    const std::string sender = "rank " + std::to_string(from);
    const std::string receiver = "rank " + std::to_string(to);
    switch (fault) {
        case Fault::none: return "nobody can leave before everybody has entered";
        case Fault::bad_peer: return sender + " names " + (from == to ? "itself" : receiver + ", which does not exist");
        case Fault::channel_twice:
            return "the channel from " + sender + " to " + receiver + " is used more than once in an episode";
        case Fault::unawaited: return sender + " signals " + receiver + ", which never awaits it";
        case Fault::unsignalled: return receiver + " awaits " + sender + ", which never signals it";
        case Fault::deadlock: return receiver + " awaits " + sender + ", which cannot get so far";
        case Fault::unheard: return receiver + " can leave although " + sender + " has not entered";
    }
    return {};
}

}  // namespace tollbar
