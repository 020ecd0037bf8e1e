// SPDX-License-Identifier: Apache-2.0
// One rank's side of a barrier over a network that loses, doubles, reorders and alters datagrams: the protocol of
// wire/protocol.h for a host, and the list of the missing ranks. No clock, no sockets, no waiting.
#pragma once

#include "datagrams.hpp"
#include "wire/protocol.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tollbar::detail {

/// Counts of the datagrams that a rank sent, and of those that came, by what became of them.
struct UdpCounts {
    std::uint64_t sent = 0;
    std::uint64_t news = 0;       ///< proved something new, or asked something
    std::uint64_t known = 0;      ///< proved nothing new
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

/// The barrier that a rank takes part in.
struct UdpIdentity {
    toll_key key;  ///< the job's
    std::uint32_t group;
    Rank self;
    Rank ranks;
    std::uint64_t digest;  ///< of what all ranks must agree on beside these: plan, size, hosts
    std::uint64_t drawn;   ///< random, not 0: rank 0's is the group's incarnation
};

/// Why a rank was not admitted, or did not admit another.
struct UdpRefusal {
    toll_refusal why = toll_not_refused;
    Rank other = 0;

    std::string text() const;  ///< one line that says what to do
};

/// The state of one rank. Episodes are the wire's, compared by toll_newer(): any may be the first.
///
/// Every frame proves that its source has entered the frame's episode, and so has left the one before; therefore all
/// frames of episode e+1 complete e, and a lost frame is made good by any later one.
///
/// That holds within one use of a group. So rank 0 draws a number for it, the incarnation; each rank gets it from the
/// one that admits it, once, in an answer to a number that it drew itself; and a frame of another incarnation is
/// dropped.
class Protocol {
public:
    /// No rank has entered an episode after `before`. The compiled steps and the network outlive the protocol.
    Protocol(const UdpIdentity& identity, std::span<const toll_step> steps, Episode before, Datagrams& network);

    Rank rank() const noexcept { return self_.rank; }

    /// Asks to be admitted, and offers that to the ranks that this one admits.
    void introduce() noexcept;

    /// Whether it is known which use of the group this is. No signal is believed or sent before.
    bool admitted() const noexcept { return incarnation() != 0; }
    std::uint64_t incarnation() const noexcept { return toll_load(&self_.incarnation); }

    /// The first refusal, of this rank or by it.
    UdpRefusal refusal() const noexcept {
        const toll_u64 word = toll_load(&self_.refusal);
        return {static_cast<toll_refusal>(word & 0xff), static_cast<Rank>(word >> 8)};
    }

    /// Whether this rank itself is kept out. Sure, for the refusal answered the number that it drew.
    bool refused() const noexcept { return !admitted() && refusal().why != toll_not_refused; }

    /// Enters the next episode; the one before is over.
    void enter(Episode episode) noexcept;

    /// Sends the signal of a step, all before it being over, unless it was sent; whether the step is over now.
    bool signal_and_await(const toll_step& step) noexcept;

    /// Whether the peer that a step awaits has signalled, or all ranks are known to have entered.
    bool met(const toll_step& step) const noexcept {
        return step.from == TOLLBAR_NOBODY || toll_met(now_.episode, toll_load(&signalled_[number_of(step)]), proof_);
    }

    /// Takes in one datagram from that rank's address, and answers it if it asks.
    void hear(std::span<const std::byte> datagram, Rank from) noexcept;

    /// Asks the rank that was awaited last to signal again. In an episode that is not over, as ask() and missing().
    void pull() noexcept;

    /// Asks up to `most` of the missing() ranks whether they have entered; others the next time.
    void ask(std::size_t most) noexcept;

    /// The ranks that are not known to have entered this episode.
    std::vector<Rank> missing() const;

    /// Says goodbye to all ranks that it has channels with. After the last episode.
    void leave() noexcept;

    /// Whether a rank may still need a signal of the last episode: one that this rank signals and that is not gone.
    bool needed() const noexcept;

    /// Counts requests of other ranks.
    std::uint64_t questions() const noexcept { return questions_; }

    /// Changes when something comes that this rank waits for, and for nothing else.
    std::uint64_t news() const noexcept { return news_; }

    const UdpCounts& counts() const noexcept { return counts_; }

private:
    struct Peer {
        Episode entered;  ///< the newest episode it is known to have entered
        bool channel = false;
        bool signalled = false;  ///< by this rank's program
        bool gone = false;
    };

    std::size_t number_of(const toll_step& step) const noexcept {
        return static_cast<std::size_t>(&step - steps_.data());
    }
    bool is_frame_of_group(const toll_frame& frame, Rank from) noexcept;
    toll_subject subject_of(const toll_frame& frame) noexcept;
    void begin(std::uint64_t incarnation) noexcept;
    void note(const toll_frame& frame, const toll_reply& reply) noexcept;
    void signal(std::size_t step, Episode episode) noexcept;
    void send(Rank to, toll_kind kind, toll_u16 step, Episode episode) noexcept;  ///< in this use of the group
    /// As a rank that is not admitted yet.
    void send_before(Rank to, toll_kind kind, toll_u16 step, Episode episode) noexcept;
    /// Sealed for that incarnation and digest.
    void send_sealed(const toll_sip& sealing, toll_u64 incarnation, toll_u64 digest, Rank to, unsigned kind,
                     toll_u16 step, Episode episode) noexcept;

    toll_member self_{};
    std::span<const toll_step> steps_;
    Datagrams* network_;
    toll_now now_;
    Episode proof_;                     ///< the newest that some rank is known to have entered
    std::size_t awaited_ = 0;           ///< the step that was awaited last
    std::vector<toll_word> signalled_;  ///< for each step, the newest episode in which its peer has signalled
    std::vector<toll_word> admitted_;   ///< of the ranks that this one admits: the number they drew; 0: has not asked
    std::vector<Peer> peers_;
    Rank asked_ = 0;  ///< where the next round of questions begins
    std::uint64_t questions_ = 0;
    std::uint64_t news_ = 0;
    UdpCounts counts_;
};

}  // namespace tollbar::detail
