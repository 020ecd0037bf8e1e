// SPDX-License-Identifier: Apache-2.0
// Which frames are believed, what they prove, and how each question is answered.
#include "protocol.hpp"

#include <algorithm>
#include <cstring>

namespace tollbar {

Protocol::Protocol(const UdpIdentity& identity, std::span<const toll_step> steps, Episode before, Datagrams& network)
    : identity_(identity), steps_(steps), network_(&network), episode_(before), all_entered_(before),
      told_(steps_.size()), heard_(steps_.size(), before), peers_(identity.ranks, Peer{.entered = before}) {
    for (const toll_step& step : steps_) {
        if (step.to != TOLLBAR_NOBODY) peers_[step.to].channel = peers_[step.to].told = true;
        if (step.from != TOLLBAR_NOBODY) peers_[step.from].channel = true;
    }
}

void Protocol::enter(Episode episode) noexcept {
    if (toll_newer(episode_, all_entered_)) all_entered_ = episode_;  // the episode before is over
    episode_ = episode;
    told_ = 0;
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
    const Said said{
        .kind = frame.kind, .step = toll_net16(frame.step), .source = from, .episode = toll_net64(frame.episode)};
    if (!fits_plan(said) || frame.zero != 0 || frame.mask != 0) {
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
    switch (toll_inspect(&frame, toll_net64(identity_.key), toll_net32(identity_.group))) {
        case toll_sound: break;
        case toll_not_ours: ++counts_.malformed; return false;
        case toll_other_key: ++counts_.other_job; return false;
        case toll_other_group: ++counts_.other_group; return false;
        case toll_damaged: ++counts_.damaged; return false;
    }
    const Rank source = toll_net32(frame.source);
    if (source == from && source < identity_.ranks && source != identity_.self) return true;
    ++counts_.other_source;
    return false;
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
    if (news) all_entered_ = proved;
    Peer& peer = peers_[said.source];
    if (toll_newer(said.episode, peer.entered)) {
        peer.entered = said.episode;
        news = true;
    }
    if (said.kind == toll_leave && !peer.gone) peer.gone = news = true;
    if (said.kind == toll_signal && toll_newer(said.episode, heard_[said.step])) {
        heard_[said.step] = said.episode;
        news = true;
    }
    ++(news || asks(said) ? counts_.heard : counts_.known);
}

void Protocol::answer(const Said& said) noexcept {
    if (!asks(said)) return;
    ++questions_;
    if (said.kind == toll_ask) return send(said.source, toll_here, 0, episode_);
    const Episode newest = said.step < told_ ? episode_ : episode_ - 1;
    if (!toll_newer(said.episode, newest)) tell(said.step, newest);
}

void Protocol::pull() noexcept { send(steps_[awaited_].from, toll_pull, steps_[awaited_].from_step, episode_); }

void Protocol::ask(std::size_t most) noexcept {
    for (Rank looked = 0; looked < identity_.ranks && most > 0; ++looked) {
        asked_ = (asked_ + 1) % identity_.ranks;
        if (asked_ == identity_.self || !toll_newer(episode_, peers_[asked_].entered)) continue;
        send(asked_, toll_ask, 0, episode_);
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
    const toll_frame frame = toll_sealed(kind, step, toll_net64(identity_.key), toll_net32(identity_.group),
                                         identity_.self, episode, 0);
    ++counts_.sent;
    network_->send(to, std::as_bytes(std::span(&frame, 1)));
}

}  // namespace tollbar
