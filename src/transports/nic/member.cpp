// SPDX-License-Identifier: Apache-2.0
// Everything the host says to its card is a frame that the card's program takes on the way out.
#include "member.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace tollbar::nic {

namespace {

constexpr Rank poster(Rank self) { return self == 0 ? 1 : 0; }

/// At the card's word, before the clock is looked at or the processor given away.
constexpr int looks = 4;

}  // namespace

Member::Member(Share share, File socket, wait_policy policy, const Pace& pace)
    : share_(std::move(share)), group_(share_.group, PROT_READ), host_(share_.host, PROT_READ | PROT_WRITE),
      socket_(std::move(socket)), policy_(policy), pace_(pace),
      episode_(toll_episode_of(toll_load(&group_->state.at))) {
    const int on = 1;
    // The card replaces the whole frame, so a checksum of what it replaces would be wrong.
    if (setsockopt(socket_.number(), SOL_SOCKET, SO_NO_CHECK, &on, sizeof on) != 0) fail("SO_NO_CHECK");
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_port = htons(toll_port);
    std::memcpy(&peer.sin_addr, group_->member[poster(group_->rank)].bytes + 30, sizeof peer.sin_addr);
    if (connect(socket_.number(), reinterpret_cast<const sockaddr*>(&peer), sizeof peer) != 0)
        fail("a route to the members of the group");
    open_direct();
}

void Member::open_direct() noexcept {
    File direct(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));  // protocol 0: sends only
    sockaddr_ll interface {};
    interface.sll_family = AF_PACKET;
    interface.sll_ifindex = static_cast<int>(group_->interface);
    if (direct && bind(direct.number(), reinterpret_cast<const sockaddr*>(&interface), sizeof interface) == 0)
        direct_ = std::move(direct);
}

bool Member::post(toll_kind kind, std::uint32_t mask) noexcept {
    struct {
        std::array<std::uint8_t, toll_header_bytes> header;
        toll_frame frame;
    } __attribute__((packed)) packet;
    toll_frame frame{.magic = toll_net32(toll_magic),
                     .kind = static_cast<toll_u8>(kind),
                     .zero = 0,
                     .step = 0,
                     .key = group_->key,
                     .group = group_->id,
                     .source = toll_net32(group_->rank),
                     .episode = toll_net64(episode_),
                     .mask = toll_net32(mask),
                     .check = 0};
    frame.check = toll_net32(toll_check(&frame));
    if (!direct_) return send(socket_.number(), &frame, sizeof frame, MSG_DONTWAIT) == sizeof frame;
    std::ranges::copy(group_->member[poster(group_->rank)].bytes, packet.header.begin());
    packet.frame = frame;
    return send(direct_.number(), &packet, sizeof packet, MSG_DONTWAIT) == sizeof packet;
}

bool Member::arrive() noexcept {
    ++episode_;
    patience_ = pace_.again;
    asks_ = Clock::now() + patience_;
    post(toll_arrive, 0);  // that the program dropped the frame is no error
    return toll_episode_of(toll_load(&group_->state.at)) == episode_ || served();
}

bool Member::over() const noexcept {
    const toll_u64 place = toll_load(&group_->state.at);
    const bool over = place == toll_place(episode_, group_->program.steps);
    if (over) std::atomic_thread_fence(std::memory_order_acquire);  // after the card's ordered move of the word
    return over;
}

void Member::look_for_lost(Clock::time_point now) noexcept {
    if (now < asks_) return;
    const toll_u64 place = toll_load(&group_->state.at);
    post(toll_episode_of(place) == episode_ ? toll_timeout : toll_arrive, 0);
    const bool stands = std::exchange(asked_at_, place) == place;  // a step further, the next frame may be lost too
    patience_ = stands ? std::min(2 * patience_, pace_.rarest) : pace_.again;
    asks_ = now + patience_;
    gone_ = !served();
}

bool Member::test() noexcept {
    if (over()) return true;
    look_for_lost(Clock::now());
    return over();
}

/// Gives way in between: where members share processors, others get theirs and may end the episode, and it costs a
/// fraction of a wake-up.
bool Member::look(Deadline deadline) noexcept {
    if (policy_ == wait_policy::park) return over();
    for (int turn = 0; policy_ != wait_policy::automatic || turn < pace_.yields; ++turn) {
        for (int i = 0; i < looks; ++i) {
            if (over()) return true;
            NativeSync::pause();
        }
        if (policy_ != wait_policy::spin) NativeSync::yield();
        const auto now = Clock::now();
        if (now >= deadline.at || gone_) break;
        look_for_lost(now);
    }
    return over();
}

bool Member::served() const noexcept {
    pollfd daemon{.fd = share_.daemon.number(), .events = 0, .revents = 0};
    return poll(&daemon, 1, 0) == 0;
}

/// Ends early for each note, also one of an episode whose end was seen without sleeping.
void Member::sleep(std::chrono::nanoseconds at_most) noexcept {
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(at_most);
    const timespec time{.tv_sec = whole.count(), .tv_nsec = (at_most - whole).count()};
    pollfd note{.fd = socket_.number(), .events = POLLIN, .revents = 0};
    std::byte first;
    if (ppoll(&note, 1, &time, nullptr) == 1) recv(socket_.number(), &first, sizeof first, MSG_DONTWAIT);
}

Outcome Member::finish(Deadline deadline) noexcept {
    if (over() || look(deadline)) return Outcome::over;
    for (;;) {
        // Pairs with the card, which moves the word and then looks whether its owner sleeps.
        std::atomic_ref(host_->waiting).store(episode_, std::memory_order_seq_cst);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (over()) return Outcome::over;
        if (gone_) return Outcome::gone;
        const auto now = Clock::now();
        if (now >= deadline.at) return Outcome::late;
        look_for_lost(now);
        if (!over() && !gone_) sleep(std::min(asks_, deadline.at) - now);
    }
}

std::vector<Rank> Member::silent() const {
    std::vector<Rank> found;
    for (Rank rank = 0; rank < group_->members; ++rank)
        if (rank != group_->rank && toll_newer(episode_, toll_load(&group_->heard[rank]))) found.push_back(rank);
    return found;
}

std::vector<Rank> Member::missing() noexcept {
    if (over()) return {};
    if (group_->ranks > group_->members) {
        const toll_u32 step = toll_step_of(toll_load(&group_->state.at));
        if (step >= group_->program.steps) return {};
        return {group_->steps[step].step.from};
    }
    const std::vector<Rank> asked = silent();
    const toll_u64 before = toll_load(&group_->answers);
    for (const Rank rank : asked) post(toll_ask, rank);
    const auto until = Clock::now() + pace_.answers;
    while (toll_load(&group_->answers) - before < asked.size() && Clock::now() < until) NativeSync::yield();
    if (over()) return {};
    return silent();
}

}  // namespace tollbar::nic
