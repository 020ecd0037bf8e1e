// SPDX-License-Identifier: Apache-2.0
// One rank's side of a barrier over a network that loses, doubles, reorders and alters datagrams: which frames say
// what, which are believed, and what is sent when. No clock, no sockets, no waiting.
#pragma once

#include "datagrams.hpp"
#include "runtime/frame.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tollbar {

/// What became of the datagrams that a rank got, and how many it sent.
struct UdpCounts {
    std::uint64_t sent = 0;
    std::uint64_t heard = 0;      ///< said something new, or asked something
    std::uint64_t known = 0;      ///< said again what was known
    std::uint64_t malformed = 0;  ///< not of a frame's size, or not of this protocol
    std::uint64_t damaged = 0;    ///< altered on its way, or by somebody without the key
    std::uint64_t other_job = 0;
    std::uint64_t other_group = 0;
    std::uint64_t other_use = 0;     ///< of another use of the group, or of another plan
    std::uint64_t other_source = 0;  ///< not from the address of the rank it names, or not for this rank
    std::uint64_t off_plan = 0;      ///< of a kind, or a step, that the plan has not
    std::uint64_t off_time = 0;      ///< of an episode in which its source cannot be, or a long past one

    std::uint64_t dropped() const noexcept {
        return malformed + damaged + other_job + other_group + other_use + other_source + off_plan + off_time;
    }
};

/// Which barrier a rank takes part in.
struct UdpIdentity {
    toll_key key;  ///< the job's
    std::uint32_t group;
    Rank self;
    Rank ranks;
    std::uint64_t digest;  ///< of what all ranks must agree on beside these: plan, size, hosts
    std::uint64_t drawn;   ///< random, not 0: rank 0's is the group's incarnation
};

/// Why a rank was not admitted, or whom it did not admit.
struct UdpRefusal {
    toll_refusal why = toll_not_refused;
    Rank other = 0;
};

/// The state of one rank. Episodes are the wire's, compared by toll_newer(): any may be the first.
///
/// Every frame proves that its source has entered the frame's episode, and so has left the one before; therefore all
/// frames of episode e+1 complete e, and a lost frame is made good by any later one.
///
/// That holds within one use of a group. So rank 0 draws a number for it, the incarnation; each rank is told by the one
/// that admits it, once, in an answer to a number that it drew itself; and a frame of another incarnation is dropped.
class Protocol {
public:
    /// Nobody has entered anything after `before`. The compiled steps and the network outlive the protocol.
    Protocol(const UdpIdentity& identity, std::span<const toll_step> steps, Episode before, Datagrams& network);

    Rank rank() const noexcept { return identity_.self; }

    /// Asks to be admitted, and offers that to those whom this rank admits.
    void introduce() noexcept;

    /// Whether it is known which use of the group this is. Nothing is heard or told before.
    bool admitted() const noexcept { return incarnation_ != 0; }
    std::uint64_t incarnation() const noexcept { return incarnation_; }

    /// What keeps this rank, or one that asked it, out.
    const UdpRefusal& refusal() const noexcept { return refusal_; }

    /// Whether this rank itself is kept out. Sure, for it was told so in an answer to the number that it drew.
    bool refused() const noexcept { return !admitted() && refusal_.why != toll_not_refused; }

    /// Enters the next episode; the one before is over.
    void enter(Episode episode) noexcept;

    /// Does what is left of a step, all before it being over; whether it is over now.
    bool tell_and_await(const toll_step& step) noexcept;

    /// Whether the peer that a step awaits has told, or everybody is known to have entered.
    bool met(const toll_step& step) const noexcept {
        return step.from == TOLLBAR_NOBODY || !toll_newer(episode_, heard_[number_of(step)]) ||
               !toll_newer(episode_, all_entered_);
    }

    /// Takes one datagram in, and answers it if it asks.
    void hear(std::span<const std::byte> datagram, Rank from) noexcept;

    /// Asks the rank that was awaited last to tell again. In an episode that is not over, as ask() and missing().
    void pull() noexcept;

    /// Asks up to `most` of those who are not known to have entered whether they have; others the next time.
    void ask(std::size_t most) noexcept;

    /// Who is not known to have entered this episode.
    std::vector<Rank> missing() const;

    /// Says goodbye to all it has channels with. After the last episode.
    void leave() noexcept;

    /// Whether somebody may still need to be told of the last episode: a rank that this one told and that is not gone.
    bool needed() const noexcept;

    /// How often somebody has asked something.
    std::uint64_t questions() const noexcept { return questions_; }

    /// Changes when something was heard that this rank waited for, and for nothing else.
    std::uint64_t news() const noexcept { return news_; }

    const UdpCounts& counts() const noexcept { return counts_; }

private:
    struct Said {
        toll_u8 kind;  ///< a toll_kind, or nothing known
        toll_u16 step;
        Rank source;
        Episode episode;
    };

    struct Peer {
        Episode entered;  ///< the newest episode it is known to have entered
        bool channel = false;
        bool told = false;  ///< this rank's program tells it
        bool gone = false;
    };

    std::size_t number_of(const toll_step& step) const noexcept {
        return static_cast<std::size_t>(&step - steps_.data());
    }
    static bool asks(const Said& said) noexcept { return said.kind == toll_pull || said.kind == toll_ask; }
    bool is_sound(const toll_frame& frame, Rank from) noexcept;
    bool is_of_this_use(const toll_frame& frame) const noexcept {
        return admitted() && frame.incarnation == incarnation_ && frame.digest == who_.digest;
    }
    bool hear_before_admission(const toll_frame& frame, const Said& said) noexcept;
    void admit(const toll_frame& frame, Rank other) noexcept;
    void begin(std::uint64_t incarnation) noexcept;
    void believe_presence(const Said& said) noexcept;
    bool fits_plan(const Said& said) const noexcept;
    void believe(const Said& said) noexcept;
    void answer(const Said& said) noexcept;
    void tell(std::size_t step, Episode episode) noexcept;
    /// In this use of the group.
    void send(Rank to, toll_kind kind, toll_u16 step, Episode episode) noexcept;
    /// In the name of whom that number belongs to.
    void send_under(toll_u64 incarnation, toll_u64 digest, Rank to, toll_kind kind, toll_u16 step,
                    Episode episode) noexcept;

    UdpIdentity identity_;
    toll_identity who_;
    toll_u64 incarnation_ = 0;        ///< 0: not admitted yet
    toll_sip sealing_{};              ///< of the incarnation
    std::vector<toll_u64> admitted_;  ///< of those that this rank admits: the number they drew; 0: has not asked
    UdpRefusal refusal_;
    std::span<const toll_step> steps_;
    Datagrams* network_;
    Episode episode_;
    Episode all_entered_;         ///< the newest that everybody is known to have entered
    std::size_t awaited_ = 0;     ///< the step that was awaited last
    std::size_t told_;            ///< the steps before this one have told
    std::vector<Episode> heard_;  ///< for each step, the newest episode its peer told
    std::vector<Peer> peers_;
    Rank asked_ = 0;  ///< where the next round of questions begins
    std::uint64_t questions_ = 0;
    std::uint64_t news_ = 0;
    UdpCounts counts_;
};

}  // namespace tollbar
