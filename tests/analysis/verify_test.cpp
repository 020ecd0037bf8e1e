// SPDX-License-Identifier: Apache-2.0
#include <tollbar/algorithms.hpp>
#include <tollbar/verify.hpp>

#include "naive.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <set>
#include <string>

using namespace tollbar;

namespace {

using Fault = Verdict::Fault;

Verdict verdict_on(std::string_view words) { return verify(parse_plan("written", words)); }

struct Pair {
    Fault fault;
    Rank from;
    Rank to;

    explicit Pair(const Verdict& verdict) : fault(verdict.fault), from(verdict.from), to(verdict.to) {}
    Pair(Fault f, Rank sender, Rank receiver) : fault(f), from(sender), to(receiver) {}
    bool operator==(const Pair&) const = default;
};

/// A plan without local faults that somebody might have written: messages in a random order of events, each
/// channel once, sometimes with two steps of one rank swapped afterwards.
std::vector<Program> random_programs(std::mt19937& random) {
    const auto below = [&random](std::size_t bound) { return static_cast<Rank>(random() % bound); };
    const Rank ranks = 1 + below(7);
    std::vector<Program> programs(ranks);
    std::set<std::pair<Rank, Rank>> used;
    for (Rank tries = below(3 * ranks * ranks + 1); tries > 0; --tries) {
        const Rank from = below(ranks), to = below(ranks);
        if (from == to || !used.emplace(from, to).second) continue;
        programs[from].push_back(signal(to));
        programs[to].push_back(await(from));
    }
    Program& touched = programs[below(ranks)];
    if (touched.size() > 1 && below(3) == 0) std::swap(touched[below(touched.size())], touched[below(touched.size())]);
    return programs;
}

}  // namespace

TEST_CASE("a barrier holds and says so") {
    const Verdict verdict = verdict_on("0: !1 ?3 !2 ?2\n1: !2 ?0 !3 ?3\n2: !3 ?1 !0 ?0\n3: !0 ?2 !1 ?1");
    CHECK(verdict.holds());
    CHECK(static_cast<bool>(verdict));
    CHECK(verdict.explain() == "nobody can leave before everybody has entered");
}

TEST_CASE("one rank alone is a barrier, two that do nothing are none") {
    CHECK(verdict_on("0:").holds());
    const Verdict verdict = verdict_on("0:\n1:");
    CHECK(Pair(verdict) == Pair(Fault::unheard, 1, 0));
    CHECK(verdict.explain() == "rank 0 can leave although rank 1 has not entered");
}

TEST_CASE("a rank that does not exist, or oneself, is a bad peer") {
    const Verdict missing = verdict_on("0: !1 ?1 !7\n1: !0 ?0");
    CHECK(Pair(missing) == Pair(Fault::bad_peer, 0, 7));
    CHECK(missing.explain() == "rank 0 names rank 7, which does not exist");
    const Verdict self = verdict_on("0: !1 ?1\n1: !0 ?1 ?0");
    CHECK(Pair(self) == Pair(Fault::bad_peer, 1, 1));
    CHECK(self.explain() == "rank 1 names itself");
    CHECK(verdict_on("0: ?16777215").fault == Fault::bad_peer);
}

TEST_CASE("a channel that is signalled twice, awaited twice, or both, is used twice") {
    const Verdict both = verdict_on("0: !1 ?1 !1\n1: !0 ?0 ?0");
    CHECK(Pair(both) == Pair(Fault::channel_twice, 0, 1));
    CHECK(both.explain() == "the channel from rank 0 to rank 1 is used more than once in an episode");
    CHECK(Pair(verdict_on("0: !1 ?1 !1\n1: !0 ?0")) == Pair(Fault::channel_twice, 0, 1));
    CHECK(Pair(verdict_on("0: !1 ?1\n1: !0 ?0 ?0")) == Pair(Fault::channel_twice, 0, 1));
    CHECK(Pair(verdict_on("0: !1 !1\n1:")) == Pair(Fault::channel_twice, 0, 1));
}

TEST_CASE("a signal that nobody awaits is named") {
    const Verdict verdict = verdict_on("0: !1 ?1 ?2\n1: !0 ?0\n2: !0 !1");
    CHECK(Pair(verdict) == Pair(Fault::unawaited, 2, 1));
    CHECK(verdict.explain() == "rank 2 signals rank 1, which never awaits it");
}

TEST_CASE("an await that nobody signals is named") {
    const Verdict verdict = verdict_on("0: !1 ?1\n1: !0 ?0 ?2\n2:");
    CHECK(Pair(verdict) == Pair(Fault::unsignalled, 2, 1));
    CHECK(verdict.explain() == "rank 1 awaits rank 2, which never signals it");
}

TEST_CASE("ranks that all wait before they signal are in a deadlock") {
    const Verdict verdict = verdict_on("0: ?2 !1\n1: ?0 !2\n2: ?1 !0");
    CHECK(Pair(verdict) == Pair(Fault::deadlock, 2, 0));
    CHECK(verdict.explain() == "rank 0 awaits rank 2, which cannot get so far");
}

TEST_CASE("the order of neighbouring awaits means nothing, that of awaits around a signal does") {
    CHECK(verdict_on("0: ?2 ?1 !1 !2\n1: !0 ?0\n2: !0 ?0").holds());
    CHECK(Pair(verdict_on("0: ?1 !1 ?2 !2\n1: !0 ?0\n2: !0 ?0")) == Pair(Fault::unheard, 2, 1));
}

TEST_CASE("the first pair at fault is the lowest receiver's lowest sender") {
    CHECK(Pair(verdict_on("0: !3\n1: !3\n2: !3\n3:")) == Pair(Fault::unawaited, 0, 3));
    CHECK(Pair(verdict_on("0: ?3 ?2\n1: ?3\n2:\n3:")) == Pair(Fault::unsignalled, 2, 0));
    CHECK(Pair(verdict_on("0: ?1 ?2 ?3\n1: !0\n2: !0\n3: !0")) == Pair(Fault::unheard, 0, 1));
    CHECK(Pair(verdict_on("0: !9 !1 !1\n1: ?5 !0\n2: !8")) == Pair(Fault::bad_peer, 1, 5));
}

TEST_CASE("of several kinds of fault the earliest in the list of faults is named") {
    CHECK(Pair(verdict_on("0: !1 ?1\n1: !0 ?0 ?2\n2: !0")) == Pair(Fault::unawaited, 2, 0));
    CHECK(Pair(verdict_on("0: ?2\n1: !2 !2\n2: ?1 ?1")) == Pair(Fault::channel_twice, 1, 2));
}

TEST_CASE("a release that leaves early is objected to in every algorithm") {
    for (const Algorithm& algorithm : catalogue()) {
        const Plan plan = make_plan(algorithm.name, 9);
        const auto turning = turning_member(plan);
        if (!turning) continue;
        const Plan early(
            "early", 9,
            [&](Rank self) {
                Program program = plan.program(self);
                if (self == turning)  // release, then gather
                    std::rotate(program.begin(), std::ranges::find_if(program, is_signal), program.end());
                return program;
            },
            plan.roles());
        CHECK(verify(early).fault == (is_role(*turning) ? Fault::unplayed : Fault::unheard));
    }
}

TEST_CASE("roles need no proof of anybody, and nobody needs a proof of them") {
    CHECK(verdict_on("0: !a ?a\n1: !a ?a\na: ?0 ?1 !0 !1").holds());
    CHECK(verdict_on("0: !a ?a !1 ?1\n1: !a ?a !0 ?0\na: ?0 ?1 !0 !1").holds());
    CHECK(verdict_on("0: !1 ?1 !a ?a\n1: !0 ?0\na: ?0 !0").holds());
}

TEST_CASE("faults name roles by their letters") {
    const Verdict missing = verdict_on("0: !b ?b\na: ?0 !0");
    CHECK(Pair(missing) == Pair(Fault::bad_peer, 0, role(1)));
    CHECK(missing.explain() == "rank 0 names role b, which does not exist");
    const Verdict itself = verdict_on("0: !a ?a\na: ?0 ?a !0");
    CHECK(itself.explain() == "role a names itself");
    const Verdict twice = verdict_on("0: !a ?a\n1: !a ?a\na: ?0 ?1 !0 !1 !1");
    CHECK(Pair(twice) == Pair(Fault::channel_twice, role(0), 1));
    CHECK(verdict_on("0: !a ?a\n1: !a ?a\na: ?0 !0 !1").explain() == "rank 1 signals role a, which never awaits it");
    CHECK(verdict_on("0: !a ?a\n1: !a\na: ?0 ?1 !0 !1").explain() == "role a signals rank 1, which never awaits it");
    CHECK(verdict_on("0: !a ?a\n1: ?a\na: ?0 ?1 !0 !1").explain() == "role a awaits rank 1, which never signals it");
    const Verdict deadlock = verdict_on("0: !a ?a\n1: !b ?b\na: ?0 ?b !b !0\nb: ?1 ?a !a !1");
    CHECK(Pair(deadlock) == Pair(Fault::deadlock, role(0), 0));
    CHECK(deadlock.explain() == "rank 0 awaits role a, which cannot get so far");
}

TEST_CASE("a rank that a role releases before all have come can leave too early") {
    CHECK(Pair(verdict_on("0: !a ?a\n1: !a ?a\n2: !a ?a\na: ?0 !2 ?2 ?1 !0 !1")) == Pair(Fault::unheard, 1, 2));
    CHECK(Pair(verdict_on("0: !a ?a\n1: !b ?b\na: ?0 !0\nb: ?1 !1")) == Pair(Fault::unheard, 1, 0));
}

TEST_CASE("a role is played by a member that awaits it right after telling it") {
    constexpr std::string_view says =
        "role a has no members: nobody that it awaits first awaits it right after and is "
        "released last";
    const Verdict busy = verdict_on("0: !a !1 ?1 ?a\n1: !a !0 ?0 ?a\na: ?0 ?1 !0 !1");
    CHECK(Pair(busy) == Pair(Fault::unplayed, role(0), role(0)));
    CHECK(busy.explain() == says);
    CHECK(verdict_on("0: !1 ?1\n1: !0 ?0\na:").explain() == says);              // nobody knows it
    CHECK(verdict_on("0: ?a !a\n1: ?a !a\na: !0 !1 ?0 ?1").explain() == says);  // releases first
    CHECK(verdict_on("0: !a ?a\n1: ?a !a\na: ?0 !0 !1 ?1").explain() == says);  // not last
    CHECK(verdict_on("0: !a ?a\n1: !a !0 ?0 ?a\na: ?0 ?1 !0 !1").fault == Fault::unawaited);
    CHECK(verdict_on("0: !a ?a !1 ?1\n1: !a !0 ?0 ?a\na: ?0 ?1 !0 !1").holds());  // 0 plays, 1 does not
}

TEST_CASE("on plans that somebody might have written the verdict is that of a proof which keeps every set") {
    std::mt19937 random(11);
    int held = 0, deadlocked = 0, unheard = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        const std::vector<Program> programs = random_programs(random);
        const Plan plan("random", programs);
        const Verdict fast = verify(plan), slow = naive::verdict_on(programs);
        CAPTURE(to_text(plan));
        CHECK(fast.fault == slow.fault);
        if (fast.fault == Fault::unheard) CHECK(Pair(fast) == Pair(slow));
        if (fast.fault == Fault::deadlock) CHECK(fast.to == slow.to);
        held += fast.holds() ? 1 : 0;
        deadlocked += fast.fault == Fault::deadlock ? 1 : 0;
        unheard += fast.fault == Fault::unheard ? 1 : 0;
    }
    CHECK(held > 100);
    CHECK(deadlocked > 100);
    CHECK(unheard > 100);
}

TEST_CASE("with one message of a role dropped, the verdict is that of a proof which keeps every set") {
    for (const char* spelling :
         {"turnstile", "combination:2", "combination:3/central", "turnstile@3/dissemination", "turnstile@2/turnstile"})
        for (const Rank ranks : {4U, 6U, 11U}) {
            const Plan plan = make_plan(spelling, ranks);
            const std::vector<Program> programs = naive::of_members(plan);
            for (Rank from = 0; from < plan.members(); ++from)
                for (const Step step : programs[from]) {
                    if (!is_signal(step)) continue;
                    std::vector<Program> fewer = programs;
                    std::erase(fewer[from], step);
                    std::erase(fewer[step.peer], await(from));
                    const Verdict slow = naive::verdict_on(fewer, ranks);
                    for (Program& program : fewer)
                        for (Step& kept : program) kept.peer = plan.member_at(kept.peer);
                    const auto first_role = fewer.begin() + ranks;
                    const Verdict fast = verify(Plan("fewer", {fewer.begin(), first_role}, {first_role, fewer.end()}));
                    CAPTURE(plan.name());
                    CHECK(Pair(fast) == Pair(slow));
                }
        }
}

TEST_CASE("with one message dropped the verdict is that of a proof which keeps every set") {
    for (const char* spelling : {"butterfly", "dissemination:2", "dissemination:4", "bst", "mcs"})
        for (const Rank ranks : {3U, 4U, 6U, 11U, 12U}) {
            const std::vector<Program> programs = naive::written_out(make_plan(spelling, ranks));
            for (Rank from = 0; from < ranks; ++from)
                for (const Step step : programs[from]) {
                    if (!is_signal(step)) continue;
                    std::vector<Program> fewer = programs;
                    std::erase(fewer[from], step);
                    std::erase(fewer[step.peer], await(from));
                    CHECK(Pair(verify(Plan("fewer", fewer))) == Pair(naive::verdict_on(fewer)));
                }
        }
}

TEST_CASE("the proof of dissemination costs a bounded number of operations a step, whatever the ranks") {
    for (Rank ranks = 64; ranks <= 65536; ranks *= 2) {
        const Plan plan = make_plan("dissemination", ranks);
        const auto steps = std::uint64_t{ranks} * plan.program(0).size();
        const Verdict verdict = verify(plan);
        CHECK(verdict.holds());
        CHECK(verdict.operations >= steps);
        CHECK(verdict.operations <= 3 * steps);
    }
}

TEST_CASE("the proof of any plan of the catalogue costs at most its steps times the logarithm of the ranks") {
    for (const Algorithm& algorithm : catalogue())
        for (Rank ranks = 1000; ranks <= 16000; ranks *= 2) {
            const Plan plan = make_plan(algorithm.name, ranks);
            std::uint64_t steps = 0;
            for (Rank index = 0; index < plan.members(); ++index) steps += plan.program(plan.member_at(index)).size();
            const std::string name(algorithm.name);
            CAPTURE(name);
            CHECK(verify(plan).operations <= steps * static_cast<unsigned>(std::bit_width(ranks)));
        }
}
