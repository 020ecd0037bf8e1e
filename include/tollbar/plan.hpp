// SPDX-License-Identifier: Apache-2.0
// The words every barrier is written in: a plan says, for every rank, whom it signals and whom it
// awaits in one episode, in order. Plans are values; they know nothing of threads, messages or clocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar {

/// A participant's number, 0 .. ranks-1.
using Rank = std::uint32_t;

/// One use of the barrier by everyone. Counts from 1 and never wraps.
using Episode = std::uint64_t;

/// The largest number of ranks a plan may have.
inline constexpr Rank max_ranks = Rank{1} << 24;

/// One letter of a rank's word: `!p` (signal p) or `?p` (await p).
struct Step {
    enum class Kind : std::uint8_t { signal, await };

    Kind kind;
    Rank peer;

    friend constexpr bool operator==(Step, Step) = default;
};

constexpr Step signal(Rank peer) noexcept { return {Step::Kind::signal, peer}; }
constexpr Step await(Rank peer) noexcept { return {Step::Kind::await, peer}; }
constexpr bool is_signal(Step step) noexcept { return step.kind == Step::Kind::signal; }
constexpr bool is_await(Step step) noexcept { return step.kind == Step::Kind::await; }

/// One rank's word. Neighbouring awaits form one set and may be met in any order.
using Program = std::vector<Step>;

/// All words of one barrier: a rule that gives each rank its program, and the number of ranks.
///
///     tollbar::Plan plan = tollbar::make_plan("dissemination", 4);   // algorithms.hpp
///     for (tollbar::Rank rank = 0; rank < plan.ranks(); ++rank)
///         std::cout << rank << ": " << tollbar::to_text(plan.program(rank)) << '\n';
///
/// Copying is cheap: copies share the rule. A plan need not be a barrier; `verify` (verify.hpp) tells.
class Plan {
public:
    /// Gives the program of `self`. Called for self < ranks only; must give the same answer every time.
    using Rule = std::function<Program(Rank self)>;

    /// Throws std::invalid_argument when `ranks` is 0 or above max_ranks.
    Plan(std::string name, Rank ranks, Rule rule);

    /// A plan written out: one program a rank.
    Plan(std::string name, std::vector<Program> programs);

    /// The plan as its user spells it, such as "mcs:4,2"; free text for plans outside the catalogue.
    const std::string& name() const noexcept { return name_; }
    Rank ranks() const noexcept { return ranks_; }

    /// The word of one rank. Throws std::invalid_argument when self >= ranks().
    Program program(Rank self) const;

private:
    std::string name_;
    Rank ranks_;
    std::shared_ptr<const Rule> rule_;
};

/// "!1 ?3 !2 ?2"
std::string to_text(const Program& program);

/// One line a rank: "0: !1 ?3 !2 ?2\n1: ...".
std::string to_text(const Plan& plan);

/// Reads what to_text writes; the "0:" in front of a line is optional, empty programs are written as "0:".
/// Throws std::invalid_argument naming the line and the word that is wrong.
Plan parse_plan(std::string name, std::string_view words);

/// Gives the inner plan for a group of that many ranks.
using Family = std::function<Plan(Rank ranks)>;

/// Two levels: groups of `group` neighbouring ranks (the last may be smaller) run `inner`; between its
/// gather and its release the first rank of each group runs `outer`, whose ranks are the groups.
///
/// Sound only when `inner` is rooted: its rank 0 has heard of the whole group before it signals anybody,
/// and nobody leaves before rank 0's release reached it. Throws std::invalid_argument otherwise, and when
/// outer.ranks() is not the number of groups.
Plan combine(Rank ranks, const Family& inner, Rank group, const Plan& outer);

/// Whether the plan is a gather tree towards rank 0 followed by a release tree from rank 0: rank 0's word
/// is awaits then signals, every other word is awaits, one signal, one await, signals.
bool is_rooted(const Plan& plan);

}  // namespace tollbar
