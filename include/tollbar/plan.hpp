// SPDX-License-Identifier: Apache-2.0
// The words every barrier is written in: a plan lists, for every rank and every role, its signals and awaits of one
// episode, in order. Plans are values; they know nothing of threads, messages or clocks.
#pragma once

#include <tollbar/detail/language.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace tollbar {

/// A participant's number, 0 .. ranks-1.
using Rank = std::uint32_t;

/// One use of the barrier by everyone. Counts from 1 and never wraps.
using Episode = std::uint64_t;

/// The largest number of ranks a plan may have.
inline constexpr Rank max_ranks = Rank{1} << 24;

/// A role is a member that is no rank: the last rank to arrive plays it, or a NIC, or a switch. Roles are
/// numbered from 0 and written a, b, ... z, aa, ...; as a peer of a step, role r has the number role(r).
constexpr Rank role(Rank number) noexcept { return max_ranks + number; }
constexpr bool is_role(Rank member) noexcept { return member >= max_ranks; }

/// The number of a role among its plan's roles. For members that are roles.
constexpr Rank role_number(Rank member) noexcept { return member - max_ranks; }

/// One letter of a member's word: `!p` (signal p) or `?p` (await p), where p is a rank or a role.
struct Step {
    /// The two things to do.
    enum class Kind : std::uint8_t {
        signal,  ///< tell the peer
        await,   ///< wait until the peer has signalled
    };

    Kind kind;  ///< signal or await
    Rank peer;  ///< a rank or role(r)

    friend constexpr bool operator==(Step, Step) = default;
};

/// The step of that kind, and whether a step is of it.
constexpr Step signal(Rank peer) noexcept { return {Step::Kind::signal, peer}; }
constexpr Step await(Rank peer) noexcept { return {Step::Kind::await, peer}; }
constexpr bool is_signal(Step step) noexcept { return step.kind == Step::Kind::signal; }
constexpr bool is_await(Step step) noexcept { return step.kind == Step::Kind::await; }

/// One member's word. Neighbouring awaits form one set and may be met in any order.
using Program = std::vector<Step>;

/// All words of one barrier: a rule that gives each rank and each role its program, and how many there are.
///
/// A role's word begins with awaits of its members, the ranks or roles that signal it and await it right after, and
/// continues with any steps; it ends by signalling its members. The transport decides which member plays it.
///
///     tollbar::Plan plan = tollbar::make_plan("dissemination", 4);   // algorithms.hpp
///     for (tollbar::Rank rank = 0; rank < plan.ranks(); ++rank)
///         std::cout << rank << ": " << tollbar::to_text(plan.program(rank)) << '\n';
///
/// Copying is cheap: copies share the rule. A plan need not be a barrier; `verify` (verify.hpp) decides.
class Plan {
public:
    /// Gives the program of `self`. Called for the plan's members only; must give the same answer every time.
    using Rule = std::function<Program(Rank self)>;

    /// Throws std::invalid_argument when `ranks` is 0 or above max_ranks, or there are more than max_ranks roles.
    Plan(std::string name, Rank ranks, Rule rule, Rank roles = 0);

    /// A plan written out: one program a rank, and one a role. Throws as the other constructor does.
    Plan(std::string name, std::vector<Program> programs, const std::vector<Program>& roles = {});

    /// The plan as its user spells it, such as "mcs:4,2"; free text for plans outside the catalogue.
    const std::string& name() const noexcept { return name_; }

    /// How many ranks it has, and how many roles.
    Rank ranks() const noexcept { return ranks_; }
    Rank roles() const noexcept { return roles_; }

    /// Ranks and roles together. Analyses number them from 0: the ranks, then the roles.
    Rank members() const noexcept { return ranks_ + roles_; }

    /// From a rank or role(r) to that number; members() or more if that is no member.
    Rank index_of(Rank member) const noexcept {
        return is_role(member) ? ranks_ + role_number(member) : member < ranks_ ? member : members();
    }

    /// From that number to the rank or role(r).
    Rank member_at(Rank index) const noexcept { return index < ranks_ ? index : role(index - ranks_); }

    /// The word of a rank or of role(r). Throws std::invalid_argument if that is no member.
    Program program(Rank self) const;

private:
    std::string name_;
    Rank ranks_;
    Rank roles_ = 0;
    std::shared_ptr<const Rule> rule_;
};

/// "3", or "b" for role(1). Throws std::bad_alloc.
std::string member_text(Rank member);

/// "!1 ?3 !2 ?2". Throws std::bad_alloc.
std::string to_text(const Program& program);

/// One line a rank, then one a role: "0: !a ?a\n1: !a ?a\na: ?0 ?1 !0 !1\n". Throws std::bad_alloc, and what
/// the plan's rule throws, as all functions do that ask for programs.
std::string to_text(const Plan& plan);

/// Reads what to_text writes; the "0:" in front of a rank's line is optional, empty programs are written as "0:".
/// Throws std::invalid_argument naming the line and the word that is wrong.
Plan parse_plan(std::string name, std::string_view words);

/// Gives the inner plan for a group of that many ranks.
using Family = std::function<Plan(Rank ranks)>;

/// Two levels: groups of `group` neighbouring ranks (the last may be smaller) run `inner`; between its
/// gather and its release the turning member of each group runs `outer`, whose ranks are the groups.
///
/// Sound only when `inner` has a turning member: otherwise a rank could leave a group, or be waited for outside,
/// too early. Throws std::invalid_argument then, and when outer.ranks() is not the number of groups.
Plan combine(Rank ranks, const Family& inner, Rank group, const Plan& outer);

/// The member that has heard of every rank before it signals any, and whose release every other member awaits: rank 0,
/// or a role. All words make a gather tree towards it and a release tree from it: its own is awaits then signals, every
/// other one is awaits, one signal, one await, signals. Nothing where there is no such member. Throws
/// std::bad_alloc.
std::optional<Rank> turning_member(const Plan& plan);

/// Whether that is rank 0. Throws as turning_member does.
bool is_rooted(const Plan& plan);

}  // namespace tollbar
#pragma GCC visibility pop
