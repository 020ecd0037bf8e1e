// SPDX-License-Identifier: Apache-2.0
// Which frames are believed, what they prove, and how each question is answered.
#include "protocol.hpp"

#include <algorithm>
#include <cstring>

namespace tollbar {

Protocol::Protocol(const UdpIdentity& identity, std::span<const toll_step> steps, Episode before, Datagrams& network)
    : identity_(identity), who_(toll_identity_of(identity.key, identity.group, identity.digest)),
      admitted_(toll_admits), steps_(steps), network_(&network), episode_(before), all_entered_(before), told_(0),
      heard_(steps_.size(), before), peers_(identity.ranks, Peer{.entered = before}) {
    for (const toll_step& step : steps_) {
        if (step.to != TOLLBAR_NOBODY) peers_[step.to].channel = peers_[step.to].told = true;
        if (step.from != TOLLBAR_NOBODY) peers_[step.from].channel = true;
    }
    if (identity.self == 0) begin(identity.drawn);
}

void Protocol::begin(std::uint64_t incarnation) noexcept {
    incarnation_ = incarnation;
    sealing_ = toll_sealing(&who_, incarnation, who_.digest);
}

void Protocol::introduce() noexcept {
    if (!admitted()) return send_under(identity_.drawn, who_.digest, toll_admits_of(identity_.self), toll_join, 0, 0);
    for (Rank rank = identity_.self * toll_admits + 1;
         rank < identity_.ranks && toll_admitted_as(identity_.self, rank) < toll_admits; ++rank)
        if (admitted_[toll_admitted_as(identity_.self, rank)] == 0) send(rank, toll_call, 0, 0);
}

void Protocol::enter(Episode episode) noexcept {
    if (toll_newer(episode_, all_entered_)) all_entered_ = episode_;  // the episode before is over
    episode_ = episode;
    told_ = 0;
    awaited_ = 0;
    if (!admitted()) introduce();
}

bool Protocol::tell_and_await(const toll_step& step) noexcept {
    awaited_ = number_of(step);
    if (told_ <= awaited_ && step.to != TOLLBAR_NOBODY) tell(awaited_, episode_);
    told_ = awaited_ + 1;
    return met(step);
}

void Protocol::hear(std::span<const std::byte> datagram, Rank from) noexcept {
    if (datagram.size() != sizeof(toll_frame)) {
        ++counts_.malformed;
        return;
    }
    toll_frame frame;
    std::memcpy(&frame, datagram.data(), sizeof frame);
    if (!is_sound(frame, from)) return;
    network_->proved(from);
    const Said said{.kind = frame.kind,
                    .step = toll_net16(frame.step),
                    .source = toll_net16(frame.source),
                    .episode = toll_net64(frame.episode)};
    if (hear_before_admission(frame, said)) return;
    if (!is_of_this_use(frame)) {
        ++counts_.other_use;
        return;
    }
    if (!fits_plan(said)) {
        ++counts_.off_plan;
        return;
    }
    // Who has entered e has left e-1, and so has this rank entered e-1. A source that has left has entered no more
    // than this rank. Below, only what a source says in e-1 that this rank has not left, or asks, can matter.
    const auto ahead = static_cast<toll_s64>(said.episode - episode_);
    if (ahead < -1 || ahead > (said.kind == toll_leave ? 0 : 1)) {
        ++counts_.off_time;
        return;
    }
    believe(said);
    answer(said);
}

bool Protocol::is_sound(const toll_frame& frame, Rank from) noexcept {
    if (frame.magic != toll_net32(toll_magic) || frame.bytes != toll_signed) {
        ++counts_.malformed;
    } else if (frame.group != who_.group) {
        ++counts_.other_group;
    } else if (frame.name != who_.name) {
        ++counts_.other_job;
    } else {
        const toll_sip sealing = is_of_this_use(frame) ? sealing_
                                                       : toll_sealing(&who_, frame.incarnation, frame.digest);
        const Rank source = toll_net16(frame.source);
        if (frame.mac != toll_mac_of(&sealing, &frame)) {
            ++counts_.damaged;
        } else if (source != from || source >= identity_.ranks || source == identity_.self ||
                   toll_net16(frame.destination) != identity_.self) {
            ++counts_.other_source;
        } else {
            return true;
        }
    }
    return false;
}

/// What is said between those of whom one has not been admitted, and of who has entered.
bool Protocol::hear_before_admission(const toll_frame& frame, const Said& said) noexcept {
    const bool mine = frame.incarnation == identity_.drawn && frame.digest == who_.digest;
    switch (said.kind) {
        case toll_join:
            ++counts_.heard;
            ++questions_;
            admit(frame, said.source);
            return true;
        case toll_call:
            ++counts_.heard;
            if (!admitted() && said.source == toll_admits_of(identity_.self)) introduce();
            return true;
        case toll_offer:
        case toll_welcome:
        case toll_refuse:
            if (admitted() || !mine || said.source != toll_admits_of(identity_.self)) {
                ++counts_.other_use;
                return true;
            }
            ++counts_.heard;
            if (said.kind == toll_offer) {
                send_under(identity_.drawn, who_.digest, said.source, toll_join, 0, said.episode);
                return true;
            }
            if (said.kind == toll_refuse) {
                refusal_ = {static_cast<toll_refusal>(said.step), said.source};
                return true;
            }
            begin(frame.episode);
            ++news_;
            for (std::size_t step = 0; step < steps_.size(); ++step) {
                if (step < told_ && steps_[step].to != TOLLBAR_NOBODY) tell(step, episode_);
                if (told_ != 0 && step >= awaited_ && steps_[step].from != TOLLBAR_NOBODY && !met(steps_[step]))
                    send(steps_[step].from, toll_pull, steps_[step].from_step, episode_);
            }
            introduce();
            return true;
        case toll_ask:
            if (is_of_this_use(frame) && said.step == 0) return false;
            if (frame.digest != who_.digest || (admitted() && said.step != toll_before_admission)) return false;
            ++counts_.heard;
            ++questions_;
            send_under(frame.incarnation, frame.digest, said.source, toll_here, toll_before_admission, episode_);
            return true;
        case toll_here:
            if (said.step != toll_before_admission || !(is_of_this_use(frame) || mine)) return false;
            believe_presence(said);
            return true;
        default: return false;
    }
}

/// Once for each rank: whoever comes as the same rank again would pass the episodes that the first has entered. And
/// only who answers with this incarnation: a question from an earlier use of the group may come late.
void Protocol::admit(const toll_frame& frame, Rank other) noexcept {
    const Rank place = toll_admitted_as(identity_.self, other);
    if (place >= toll_admits) return;
    const auto refuse = [&](toll_refusal why) {
        if (admitted()) refusal_ = {why, other};  // before, it would be taken for what keeps this rank out
        send_under(frame.incarnation, frame.digest, other, toll_refuse, static_cast<toll_u16>(why), 0);
    };
    if (frame.digest != who_.digest) return refuse(toll_other_plan);
    if (!admitted()) return;
    if (frame.episode != incarnation_)
        return send_under(frame.incarnation, frame.digest, other, toll_offer, 0, toll_net64(incarnation_));
    if (admitted_[place] == 0) admitted_[place] = frame.incarnation;
    if (admitted_[place] != frame.incarnation) return refuse(toll_used_before);
    send_under(frame.incarnation, frame.digest, other, toll_welcome, 0, toll_net64(incarnation_));
}

/// It says who has arrived, and proves nothing: it may come from another use of the group.
void Protocol::believe_presence(const Said& said) noexcept {
    Peer& peer = peers_[said.source];
    const bool new_to_us = toll_newer(said.episode, peer.entered) && !toll_newer(said.episode, episode_);
    if (new_to_us) peer.entered = said.episode;
    ++(new_to_us ? counts_.heard : counts_.known);
}

bool Protocol::fits_plan(const Said& said) const noexcept {
    const bool a_step = said.step < steps_.size();
    switch (said.kind) {
        case toll_signal: return a_step && steps_[said.step].from == said.source;
        case toll_pull: return a_step && steps_[said.step].to == said.source;
        case toll_ask:
        case toll_here:
        case toll_leave: return said.step == 0;
        default: return false;  // cards speak of these among themselves
    }
}

void Protocol::believe(const Said& said) noexcept {
    const Episode proved = said.kind == toll_leave ? said.episode : said.episode - 1;
    bool news = toll_newer(proved, all_entered_) != 0;
    bool awaited = news;
    if (news) all_entered_ = proved;
    Peer& peer = peers_[said.source];
    if (toll_newer(said.episode, peer.entered)) {
        peer.entered = said.episode;
        news = true;
    }
    if (said.kind == toll_leave && !peer.gone) peer.gone = news = true;
    if (said.kind == toll_signal && toll_newer(said.episode, heard_[said.step])) {
        heard_[said.step] = said.episode;
        news = awaited = true;
    }
    if (awaited) ++news_;
    ++(news || asks(said) ? counts_.heard : counts_.known);
}

void Protocol::answer(const Said& said) noexcept {
    if (!asks(said)) return;
    ++questions_;
    if (said.kind == toll_ask) return send(said.source, toll_here, 0, episode_);
    const Episode newest = said.step < told_ ? episode_ : episode_ - 1;
    if (!toll_newer(said.episode, newest)) tell(said.step, newest);
}

void Protocol::pull() noexcept {
    introduce();  // a card does not know where this rank listens
    if (!admitted()) return;
    send(steps_[awaited_].from, toll_pull, steps_[awaited_].from_step, episode_);
}

void Protocol::ask(std::size_t most) noexcept {
    for (Rank looked = 0; looked < identity_.ranks && most > 0; ++looked) {
        asked_ = (asked_ + 1) % identity_.ranks;
        if (asked_ == identity_.self || !toll_newer(episode_, peers_[asked_].entered)) continue;
        if (admitted())
            send(asked_, toll_ask, 0, episode_);
        else
            send_under(identity_.drawn, who_.digest, asked_, toll_ask, toll_before_admission, episode_);
        --most;
    }
}

std::vector<Rank> Protocol::missing() const {
    std::vector<Rank> missing;
    if (!toll_newer(episode_, all_entered_)) return missing;
    for (Rank rank = 0; rank < identity_.ranks; ++rank)
        if (rank != identity_.self && toll_newer(episode_, peers_[rank].entered)) missing.push_back(rank);
    return missing;
}

void Protocol::leave() noexcept {
    for (Rank rank = 0; rank < identity_.ranks; ++rank)
        if (peers_[rank].channel) send(rank, toll_leave, 0, episode_);
}

bool Protocol::needed() const noexcept {
    return std::ranges::any_of(peers_, [](const Peer& peer) { return peer.told && !peer.gone; });
}

void Protocol::tell(std::size_t step, Episode episode) noexcept {
    send(steps_[step].to, toll_signal, steps_[step].to_step, episode);
}

void Protocol::send(Rank to, toll_kind kind, toll_u16 step, Episode episode) noexcept {
    if (!admitted()) return;  // told again once it is
    toll_frame frame = toll_unsealed(&who_, incarnation_, static_cast<toll_u8>(kind), step, identity_.self, to,
                                     episode);
    frame.mac = toll_mac_of(&sealing_, &frame);
    ++counts_.sent;
    network_->send(to, std::as_bytes(std::span(&frame, 1)));
}

void Protocol::send_under(toll_u64 incarnation, toll_u64 digest, Rank to, toll_kind kind, toll_u16 step,
                          Episode episode) noexcept {
    toll_frame frame = toll_unsealed(&who_, incarnation, static_cast<toll_u8>(kind), step, identity_.self, to, episode);
    frame.digest = digest;
    const toll_sip sealing = toll_sealing(&who_, incarnation, digest);
    frame.mac = toll_mac_of(&sealing, &frame);
    ++counts_.sent;
    network_->send(to, std::as_bytes(std::span(&frame, 1)));
}

}  // namespace tollbar
