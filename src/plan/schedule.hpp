// SPDX-License-Identifier: Apache-2.0
// The schedule of a plan: what each rank does in an episode, with the other end of every channel found and every role
// given to who plays it. Transports and models read schedules; none looks at roles again.
#pragma once

#include "cursor.hpp"
#include "roles.hpp"

#include <tollbar/plan.hpp>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace tollbar::detail {

/// The player of a role whose program goes on with more than releases. A role whose program is nothing but awaits of
/// its members and releases has no player: its counter is the release.
enum class Player : std::uint8_t {
    last,   ///< whichever of its members comes last
    first,  ///< its first member, which the others signal by counting up
};

/// One step of a rank, for itself or for a role that it plays.
struct Operation {
    enum class Kind : std::uint8_t {
        signal,    ///< signal `to` by the channel (from, to)
        await,     ///< await `from` by the channel (from, to)
        count,     ///< add one to the counter of `role`, which is full at `share` an episode
        counted,   ///< await that it is full
        meet,      ///< add one to it; all but the last go on `skip` operations further
        release,   ///< signal at once all that await the release of `role`
        released,  ///< await that
    };

    Kind kind;
    Rank from = 0;   ///< of a channel: a rank, or a role whose player signals; else the member that does it
    Rank to = 0;     ///< of a channel: a rank, or a role whose player awaits
    Rank role = 0;   ///< of the last five kinds
    Rank peer = 0;   ///< the rank at the other end: of a channel, or the first player of `role`, who has its counter
    Index cell = 0;  ///< in a Schedule: the number of its channel, counter or release
    std::uint32_t slot = 0;      ///< of a channel: which of the awaits of `to` it is, from 0
    std::uint32_t position = 0;  ///< of an await: where it stands in the program of `to`
    std::uint32_t share = 1;     ///< of count, counted and meet
    std::uint32_t skip = 0;      ///< of meet
    std::uint32_t done = 0;      ///< how many steps of the rank's own program are over before it

    bool is_of_channel() const noexcept { return kind == Kind::signal || kind == Kind::await; }
    /// A number for its channel, counter or release, the same in all schedules of a plan.
    std::uint64_t meeting_point() const noexcept;
    bool awaits() const noexcept { return kind == Kind::await || kind == Kind::counted || kind == Kind::released; }

    friend bool operator==(const Operation&, const Operation&) = default;
};

/// The operations of several ranks, each rank's in order. A cursor (cursor.hpp) walks it.
///
///     Schedule schedule = lower(plan, Player::last);
///     for (const Operation& operation : schedule.of(rank)) place(operation);
struct Schedule {
    std::vector<Index> first{0};  ///< first[i] .. first[i + 1] are those of the i-th rank
    std::vector<Operation> operations;
    Index number_of_cells = 0;

    std::span<const Operation> of(Rank i) const {
        return std::span(operations).subspan(first[i], first[i + 1] - first[i]);
    }

    Index cells() const noexcept { return number_of_cells; }
    Index cell(Index step) const { return operations[step].cell; }
    std::uint64_t share(Index step) const { return operations[step].share; }
    bool awaits(Index step) const { return operations[step].awaits(); }
};

/// Lowers the programs of one plan; keeps what it has seen of it, so that one rank's operations cost no more than the
/// programs of its peers.
class Lowering {
public:
    /// `may_count` is asked for the ranks that play the two members under Player::first.
    Lowering(Plan plan, Player player, MayCount may_count = nullptr);

    /// The operations of rank `self`, in the order of its program; those of a role that it may play stand where it
    /// signals the role.
    ///
    /// Throws std::invalid_argument when a signal has no await at its peer or an await no signal, a channel is used
    /// twice, a step names a member that does not exist, or a role has no members.
    std::vector<Operation> operations(Rank self);

    /// The same for each of `ranks`.
    Schedule schedule(std::span<const Rank> ranks);

    /// The members of a role that count up at it, in the order of its program (roles.hpp).
    const std::vector<Rank>& members(Rank role) { return parts(role).members; }

    /// Whether a role only gathers and releases, so that it has no player.
    bool only_counts(Rank role) { return parts(role).between.empty(); }

    /// The rank that plays `member` under Player::first: itself, or the player of a role's first member.
    Rank first_player(Rank member);

private:
    std::invalid_argument nobody_plays(Rank role) const;
    const Program& program(Rank member);
    const RoleParts& parts(Rank role);
    std::uint32_t position(Rank from, Rank to);
    void check_peer(Rank self, Rank peer) const;
    void lower(Rank self, const Program& own, std::vector<Operation>& operations);
    void lower_role(Rank self, Rank role, std::vector<Operation>& operations);

    Plan plan_;
    Player player_;
    MayCount may_count_;
    Rank depth_ = 0;          ///< roles that are being played
    std::uint32_t done_ = 0;  ///< see Operation
    std::unordered_map<Rank, Program> programs_;
    std::unordered_map<Rank, RoleParts> parts_;
};

/// The schedule of all ranks. Throws std::invalid_argument as Lowering::operations() does.
Schedule lower(const Plan& plan, Player player);

/// The same barrier without roles, for where no counter counts: the first member of each plays it, awaits the others
/// one by one and signals them.
///
///     0: !a ?a    1: !a ?a    a: ?0 ?1 !0 !1        becomes        0: ?1 !1    1: !0 ?0
///
/// A plan without roles is given back as it is. Throws std::invalid_argument as Lowering::operations() does.
Plan played_by_first(const Plan& plan);

}  // namespace tollbar::detail
