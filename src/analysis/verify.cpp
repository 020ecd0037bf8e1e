// SPDX-License-Identifier: Apache-2.0
// The proof that a plan is a barrier: one run, followed with the knowledge every message carries.
#include <tollbar/verify.hpp>

#include "knowledge.hpp"
#include "replay.hpp"
#include "matching.hpp"

#include "plan/wording.hpp"

namespace tollbar {

using namespace detail;

namespace {

using Fault = Verdict::Fault;

/// Every rank starts knowing itself, a role no rank; a signal carries what its sender knows, an await set adds it.
class Hearsay {
public:
    explicit Hearsay(const Matching& matching) : matching_(matching), carried_(matching.messages) {
        for (Rank self = 0; self < matching.members; ++self)
            known_.push_back(self < matching.ranks ? knowledge_.of(self) : knowledge_.none());
    }

    void signal(Rank self, Index step) { carried_[matching_.message[step]] = knowledge_.share(known_[self]); }

    void await_set(Rank self, Index begin, Index end) {
        parts_.assign(1, known_[self]);
        for (Index step = begin; step < end; ++step) parts_.push_back(carried_[matching_.message[step]]);
        known_[self] = knowledge_.unite(parts_);
    }

    /// The lowest rank `self` has not heard of; the number of ranks when there is none.
    Rank first_unheard(Rank self) const {
        const Run lowest = knowledge_.runs(known_[self]).front();
        return lowest.begin != 0 ? 0 : lowest.end;
    }

    std::uint64_t touched() const noexcept { return knowledge_.touched(); }

private:
    const Matching& matching_;
    Knowledge knowledge_;
    std::vector<Knowledge::Id> known_;    // by member
    std::vector<Knowledge::Id> carried_;  // by message
    std::vector<Knowledge::Id> parts_;
};

}  // namespace

Verdict verify(const Plan& plan) {
    const Matching matching = match(plan);
    Verdict verdict = matching.fault;
    if (!verdict.holds()) return verdict;

    Hearsay hearsay(matching);
    const std::optional<Stuck> stuck = replay(matching, hearsay);
    verdict.operations += hearsay.touched();
    if (stuck) {
        verdict.fault = Fault::deadlock;
        verdict.from = plan.member_at(stuck->from);
        verdict.to = plan.member_at(stuck->to);
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
    const std::string sender = detail::named(from), receiver = detail::named(to);
    using detail::worded;
    switch (fault) {
        case Fault::none: return "nobody can leave before everybody has entered";
        case Fault::bad_peer:
            return from == to ? worded({sender, " names itself"})
                              : worded({sender, " names ", receiver, ", which does not exist"});
        case Fault::channel_twice:
            return worded({"the channel from ", sender, " to ", receiver, " is used more than once in an episode"});
        case Fault::unawaited: return worded({sender, " signals ", receiver, ", which never awaits it"});
        case Fault::unsignalled: return worded({receiver, " awaits ", sender, ", which never signals it"});
        case Fault::unplayed:
            return worded(
                {receiver, " has no members: nobody that it awaits first awaits it right after and is released last"});
        case Fault::deadlock: return worded({receiver, " awaits ", sender, ", which cannot get so far"});
        case Fault::unheard: return worded({receiver, " can leave although ", sender, " has not entered"});
    }
    return {};
}

}  // namespace tollbar
