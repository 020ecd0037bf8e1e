// SPDX-License-Identifier: Apache-2.0
// From a plan to what one rank does in an episode: which signal meets which await, and who plays the roles.
#pragma once

#include <tollbar/plan.hpp>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace tollbar {

/// Who plays a role whose word goes on with more than releases. A role whose word is nothing but awaits of its members
/// and releases is played by nobody: its counter is the release.
enum class Player : std::uint8_t {
    last,   ///< whoever of its members comes last
    first,  ///< its first member, which the others tell by counting up
};

/// What a rank does next, for itself or for a role that it plays.
struct LoweredStep {
    enum class Kind : std::uint8_t {
        signal,    ///< tell `to` by the channel (from, to)
        await,     ///< hear from `from` by the channel (from, to)
        count,     ///< add one to the counter of `role`, which is full at `share` an episode
        counted,   ///< await that it is full
        meet,      ///< add one to it; all but the last go on `skip` steps further
        release,   ///< tell at once all who await the release of `role`
        released,  ///< await that
    };

    Kind kind;
    Rank from = 0;  ///< of a channel: a rank, or a role that its player tells for; else the member that does it
    Rank to = 0;    ///< of a channel: a rank, or a role that its player hears for
    Rank role = 0;  ///< of the last five kinds
    std::uint32_t slot = 0;   ///< of a channel: which of the awaits in the word of `to` it is, from 0
    std::uint32_t share = 1;  ///< of count, counted and meet
    std::uint32_t skip = 0;   ///< of meet
    std::uint32_t done = 0;   ///< how many steps of the rank's own word are over before it

    friend bool operator==(const LoweredStep&, const LoweredStep&) = default;
};

/// Lowers the words of one plan; keeps what it has seen of it.
///
///     Lowering lowering(plan, Player::last);
///     for (const LoweredStep& step : lowering.steps(rank)) place(step);
class Lowering {
public:
    /// Whether a member counts up at a role whose first member is `first`, which itself always does. If it does not,
    /// it tells the role and hears from it by channels.
    using MayCount = std::function<bool(Rank first, Rank member)>;

    Lowering(Plan plan, Player player, MayCount may_count = nullptr);

    /// The steps of rank `self`, in the order of its word; a role that it may play stands where it tells the role.
    ///
    /// Throws std::invalid_argument when a signal has no await at its peer or an await no signal, a channel is used
    /// twice, a step names a member that does not exist, or a role has no members. Costs the words of self's peers.
    std::vector<LoweredStep> steps(Rank self);

    /// The members of a role that count up at it: those that its word awaits first, that await it right after they
    /// told it, and that it signals in the end. A role that has ranks among them is played by these: it
    /// stands for where they live, so roles of other places tell it by channels.
    const std::vector<Rank>& members(Rank role);

    /// The rank that plays `member` under Player::first: itself, or who plays the first member of a role.
    Rank first_player(Rank member);

private:
    /// A role's word, cut in three.
    struct Part {
        std::vector<Rank> members;  ///< whom it awaits first and signals last, in the order of its word
        std::vector<Rank> sorted;   ///< the same
        Program between;            ///< what it does in between
    };

    std::invalid_argument nobody_plays(Rank role) const;
    const Program& word(Rank member);
    const Part& part(Rank role);
    bool counts(const Part& part, Rank member) const;
    std::uint32_t slot(Rank from, Rank to);
    void check_peer(Rank self, Rank peer) const;
    void lower(Rank self, const Program& program, std::vector<LoweredStep>& steps);
    void lower_role(Rank self, Rank role, std::vector<LoweredStep>& steps);

    Plan plan_;
    Player player_;
    MayCount may_count_;
    Rank depth_ = 0;          ///< roles that are being played
    std::uint32_t done_ = 0;  ///< see LoweredStep
    std::unordered_map<Rank, Program> words_;
    std::unordered_map<Rank, Part> parts_;
};

/// The same barrier without roles, for where no counter counts: the first member of each plays it, hears the others
/// one by one and tells them.
///
///     0: !a ?a    1: !a ?a    a: ?0 ?1 !0 !1        becomes        0: ?1 !1    1: !0 ?0
///
/// A plan without roles is given back as it is. Throws std::invalid_argument as Lowering::steps() does.
Plan played_by_first(const Plan& plan);

}  // namespace tollbar
