// SPDX-License-Identifier: Apache-2.0
// A host's half of wire/protocol.h: what it keeps of a frame that is believed, and how each verdict is carried out.
#include "protocol.hpp"

#include <algorithm>
#include <cstring>

namespace tollbar::detail {

std::string UdpRefusal::text() const {
    const std::string who = "rank " + std::to_string(other);
    if (why == toll_other_plan)
        return who + " has another plan, number of ranks or order of hosts: nobody leaves until all have the same";
    return who +
           " belongs to an earlier use of this group, or a second process has its rank: leave, and have all ranks join "
           "another group (another number or key)";
}

Protocol::Protocol(const UdpIdentity& identity, std::span<const toll_step> steps, Episode before, Datagrams& network)
    : steps_(steps), network_(&network), now_{before, 0}, proof_(before), signalled_(steps.size(), before),
      admitted_(toll_admits), peers_(identity.ranks, Peer{.entered = before}) {
    const toll_identity who = toll_identity_of(identity.key, identity.group, identity.digest);
    toll_become(&self_, &who, identity.drawn, identity.self, identity.ranks, identity.ranks, toll_plan);
    for (const toll_step& step : steps_) {
        if (step.to != TOLLBAR_NOBODY) peers_[step.to].channel = peers_[step.to].signalled = true;
        if (step.from != TOLLBAR_NOBODY) peers_[step.from].channel = true;
    }
}

void Protocol::introduce() noexcept {
    if (!admitted()) return send_before(toll_admits_of(self_.rank), toll_join, 0, 0);
    for (Rank rank = self_.rank * toll_admits + 1;
         rank < self_.ranks && toll_admitted_as(self_.rank, rank) < toll_admits; ++rank)
        if (admitted_[toll_admitted_as(self_.rank, rank)] == 0) send(rank, toll_call, 0, 0);
}

void Protocol::enter(Episode episode) noexcept {
    if (toll_newer(episode, proof_)) proof_ = episode;  // this rank itself: the episode before is over
    now_ = {episode, 0};
    awaited_ = 0;
    if (!admitted()) introduce();
}

bool Protocol::signal_and_await(const toll_step& step) noexcept {
    awaited_ = number_of(step);
    if (now_.signalled <= awaited_ && step.to != TOLLBAR_NOBODY) signal(awaited_, now_.episode);
    now_.signalled = static_cast<toll_u32>(awaited_) + 1;
    return met(step);
}

bool Protocol::is_frame_of_group(const toll_frame& frame, Rank from) noexcept {
    if (frame.magic != toll_net32(toll_magic) || frame.bytes != toll_signed) return ++counts_.malformed, false;
    if (frame.group != self_.who.group) return ++counts_.other_group, false;
    if (frame.name != self_.who.name) return ++counts_.other_job, false;
    if (toll_net16(frame.source) != from) return ++counts_.other_source, false;
    return true;
}

toll_subject Protocol::subject_of(const toll_frame& frame) noexcept {
    const toll_u16 step = toll_net16(frame.step);
    const bool ours = step < steps_.size();
    return {.from = ours ? steps_[step].from : TOLLBAR_NOBODY,
            .to = ours ? steps_[step].to : TOLLBAR_NOBODY,
            .signalled = ours ? &signalled_[step] : nullptr,
            .admitted = &admitted_[toll_admitted_as(self_.rank, toll_net16(frame.source)) % toll_admits]};
}

void Protocol::hear(std::span<const std::byte> datagram, Rank from) noexcept {
    toll_frame frame;
    if (datagram.size() != sizeof frame) {
        ++counts_.malformed;
        return;
    }
    std::memcpy(&frame, datagram.data(), sizeof frame);
    if (!is_frame_of_group(frame, from)) return;
    const toll_reply reply = toll_hear(&self_, &frame, now_, subject_of(frame));
    if (reply.verdict != toll_altered && reply.verdict != toll_misaddressed) network_->proved(from);
    switch (reply.verdict) {
        case toll_altered: ++counts_.damaged; return;
        case toll_forged: ++counts_.off_plan; return;
        case toll_untimely: ++counts_.off_time; return;
        case toll_stale: ++counts_.other_use; return;
        case toll_misaddressed: ++counts_.other_source; return;
        default: break;
    }
    if (reply.verdict < toll_unheeded) return note(frame, reply);
    ++counts_.news;
    switch (reply.verdict) {
        case toll_to_join: return introduce();
        case toll_to_begin: return begin(toll_net64(reply.episode));
        case toll_to_reply:
            ++questions_;
            return send_sealed(reply.sealing, frame.incarnation, frame.digest, from, reply.kind, reply.step,
                               reply.episode);
        default: return;
    }
}

/// The signals of this episode are sent now, and those of other ranks, dropped until now, are asked for again.
void Protocol::begin(std::uint64_t incarnation) noexcept {
    toll_begin(&self_, incarnation);
    ++news_;
    for (std::size_t step = 0; step < steps_.size(); ++step) {
        if (step < now_.signalled && steps_[step].to != TOLLBAR_NOBODY) signal(step, now_.episode);
        if (now_.signalled != 0 && step >= awaited_ && steps_[step].from != TOLLBAR_NOBODY && !met(steps_[step]))
            send(steps_[step].from, toll_pull, steps_[step].from_step, now_.episode);
    }
    introduce();
}

void Protocol::note(const toll_frame& frame, const toll_reply& reply) noexcept {
    const Rank source = toll_net16(frame.source);
    const Episode entered = toll_net64(frame.episode);
    Peer& peer = peers_[source];
    const bool asks = frame.kind == toll_pull || frame.kind == toll_ask;
    const bool proves = reply.verdict != toll_present && toll_newer(reply.proof, proof_);
    const bool awaited = proves || (frame.kind == toll_signal && reply.verdict == toll_believed);
    const bool leaves = frame.kind == toll_leave && !peer.gone;
    const bool news = awaited || leaves || toll_newer(entered, peer.entered);
    if (proves) proof_ = reply.proof;
    if (toll_newer(entered, peer.entered)) peer.entered = entered;
    if (leaves) peer.gone = true;
    if (awaited) ++news_;
    ++(news || asks ? counts_.news : counts_.known);
    if (!asks) return;
    ++questions_;
    if (reply.verdict == toll_to_answer) send(source, static_cast<toll_kind>(reply.kind), reply.step, reply.episode);
    if (reply.verdict == toll_to_repeat) signal(toll_net16(frame.step), reply.episode);
}

void Protocol::pull() noexcept {
    introduce();  // a NIC does not know where this rank listens
    if (!admitted()) return;
    send(steps_[awaited_].from, toll_pull, steps_[awaited_].from_step, now_.episode);
}

void Protocol::ask(std::size_t most) noexcept {
    for (Rank looked = 0; looked < self_.ranks && most > 0; ++looked) {
        asked_ = (asked_ + 1) % self_.ranks;
        if (asked_ == self_.rank || !toll_newer(now_.episode, peers_[asked_].entered)) continue;
        if (admitted())
            send(asked_, toll_ask, 0, now_.episode);
        else
            send_before(asked_, toll_ask, toll_before_admission, now_.episode);
        --most;
    }
}

std::vector<Rank> Protocol::missing() const {
    std::vector<Rank> missing;
    if (toll_newer(proof_, now_.episode)) return missing;
    for (Rank rank = 0; rank < self_.ranks; ++rank)
        if (rank != self_.rank && toll_newer(now_.episode, peers_[rank].entered)) missing.push_back(rank);
    return missing;
}

void Protocol::leave() noexcept {
    for (Rank rank = 0; rank < self_.ranks; ++rank)
        if (peers_[rank].channel) send(rank, toll_leave, 0, now_.episode);
}

bool Protocol::needed() const noexcept {
    return std::ranges::any_of(peers_, [](const Peer& peer) { return peer.signalled && !peer.gone; });
}

void Protocol::signal(std::size_t step, Episode episode) noexcept {
    send(steps_[step].to, toll_signal, steps_[step].to_step, episode);
}

void Protocol::send(Rank to, toll_kind kind, toll_u16 step, Episode episode) noexcept {
    if (!admitted()) return;  // sent again once it is
    send_sealed(self_.sealing, incarnation(), self_.who.digest, to, kind, step, episode);
}

void Protocol::send_before(Rank to, toll_kind kind, toll_u16 step, Episode episode) noexcept {
    send_sealed(self_.by_drawn, self_.drawn, self_.who.digest, to, kind, step, episode);
}

void Protocol::send_sealed(const toll_sip& sealing, toll_u64 incarnation, toll_u64 digest, Rank to, unsigned kind,
                           toll_u16 step, Episode episode) noexcept {
    toll_frame frame = toll_unsealed(&self_.who, incarnation, static_cast<toll_u8>(kind), step, self_.rank, to,
                                     episode);
    frame.digest = digest;
    frame.mac = toll_mac_of(&sealing, &frame);
    ++counts_.sent;
    network_->send(to, std::as_bytes(std::span(&frame, 1)));
}

}  // namespace tollbar::detail
