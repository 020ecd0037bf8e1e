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
    std::uint64_t damaged = 0;    ///< altered on its way
    std::uint64_t other_job = 0;
    std::uint64_t other_group = 0;
    std::uint64_t other_source = 0;  ///< not from the address of the rank it names
    std::uint64_t off_plan = 0;      ///< of a kind, or a step, that the plan has not
    std::uint64_t off_time = 0;      ///< of an episode in which its source cannot be, or a long past one

    std::uint64_t dropped() const noexcept {
        return malformed + damaged + other_job + other_group + other_source + off_plan + off_time;
    }
};

/// Which barrier a rank takes part in.
struct UdpIdentity {
    std::uint64_t key;  ///< the job's
    std::uint32_t group;
    Rank self;
    Rank ranks;
};

/// The state of one rank. Episodes are the wire's, compared by toll_newer(): any may be the first.
///
/// Every frame proves that its source has entered the frame's episode, and so has left the one before; therefore all
/// frames of episode e+1 complete e, and a lost frame is made good by any later one.
class Protocol {
public:
    /// Nobody has entered anything after `before`. The compiled steps and the network outlive the protocol.
    Protocol(const UdpIdentity& identity, std::span<const toll_step> steps, Episode before, Datagrams& network);

    Rank rank() const noexcept { return identity_.self; }

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
    bool fits_plan(const Said& said) const noexcept;
    void believe(const Said& said) noexcept;
    void answer(const Said& said) noexcept;
    void tell(std::size_t step, Episode episode) noexcept;
    void send(Rank to, toll_kind kind, toll_u16 step, Episode episode) noexcept;

    UdpIdentity identity_;
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
    UdpCounts counts_;
};

}  // namespace tollbar
