// SPDX-License-Identifier: Apache-2.0
// Each of the host's messages to its NIC is a frame that the NIC's program takes on the way out.
#include "transport.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <span>
#include <utility>

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace tollbar::detail::nic {

namespace {

using namespace std::chrono_literals;

/// Enough of them, for wait() with yields alone.
struct Answers {
    bool happened() const noexcept { return !toll_newer(enough, toll_load(word)); }
    void progress() const noexcept {}
    bool sleep(Stopwatch&, Deadline) const noexcept { return false; }

    const toll_word* word;
    toll_u64 enough;
};

/// The member whose address a posted frame bears: any other one.
constexpr Rank addressee(Rank self) { return self == 0 ? 1 : 0; }

/// An address of the kind that each network has for itself (RFC 2365), with nobody in it: a post is for the program on
/// the way out alone. Unlike a member's address it needs no neighbour that answers.
constexpr const char* nobodys_address = "239.255.116.108";

/// Sends to nobody, through that interface.
File posting_socket(std::uint32_t interface) {
    File made(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const int on = 1, off = 0;
    ip_mreqn through{};
    through.imr_ifindex = static_cast<int>(interface);
    sockaddr_in nobody{};
    nobody.sin_family = AF_INET;
    nobody.sin_port = htons(toll_port);
    inet_pton(AF_INET, nobodys_address, &nobody.sin_addr);
    // The program replaces the whole frame, so a checksum of what it replaces would be wrong.
    if (!made || setsockopt(made.number(), SOL_SOCKET, SO_NO_CHECK, &on, sizeof on) != 0 ||
        setsockopt(made.number(), IPPROTO_IP, IP_MULTICAST_LOOP, &off, sizeof off) != 0 ||
        setsockopt(made.number(), IPPROTO_IP, IP_MULTICAST_IF, &through, sizeof through) != 0 ||
        connect(made.number(), reinterpret_cast<const sockaddr*>(&nobody), sizeof nobody) != 0)
        throw_errno("a socket for messages to the NIC");
    return made;
}

constexpr auto again = 1ms;     // waits before the NIC asks again; doubles while nothing moves
constexpr auto rarest = 64ms;   // up to that
constexpr auto answers = 20ms;  // waits for the ranks that are asked whether they have arrived

}  // namespace

/// A member that is not admitted yet stays at the first step, which may only signal.
std::vector<Rank> awaited_in(const toll_group& group) {
    const toll_u64 at = toll_load(&group.state.at);
    for (toll_u32 step = toll_step_of(at); step < group.program.steps; ++step) {
        const bool awaits = (group.program.awaits >> step & 1) != 0;
        if (awaits && toll_newer(toll_episode_of(at), toll_load(&group.state.signalled[step])))
            return {group.steps[step].step.from};
    }
    return {};
}

NicTransport::NicTransport(GroupFiles files, File socket, wait_policy policy)
    : files_(std::move(files)), group_(files_.group, PROT_READ), host_(files_.host, PROT_READ | PROT_WRITE),
      socket_(std::move(socket)), policy_(policy), episode_(toll_episode_of(toll_load(&group_->state.at))),
      overdue_(again, rarest) {
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_port = htons(toll_port);
    std::memcpy(&peer.sin_addr, group_->member[addressee(group_->self.rank)].bytes + toll_address_at,
                sizeof peer.sin_addr);
    if (connect(socket_.number(), reinterpret_cast<const sockaddr*>(&peer), sizeof peer) != 0)
        throw_errno("a route to the members of the group");
    posts_ = posting_socket(group_->interface);
    open_direct();
    enrol();
}

/// Asks to be admitted, or lets waiting ranks know that they can be. A lost frame is sent again.
void NicTransport::enrol() noexcept {
    if (!admitted()) {
        post(toll_enrol, group_->self.rank);
        return;
    }
    for (Rank rank = 1; rank < std::min<Rank>(group_->self.ranks, toll_admits + 1); ++rank) post(toll_enrol, rank);
}

void NicTransport::open_direct() noexcept {
    File direct(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));  // protocol 0: sends only
    sockaddr_ll interface {};
    interface.sll_family = AF_PACKET;
    interface.sll_ifindex = static_cast<int>(group_->interface);
    if (direct && bind(direct.number(), reinterpret_cast<const sockaddr*>(&interface), sizeof interface) == 0)
        direct_ = std::move(direct);
}

bool NicTransport::post(toll_kind kind, Rank to) noexcept {
    struct {
        std::array<std::uint8_t, toll_header_bytes> header;
        toll_frame frame;
    } __attribute__((packed)) packet;
    toll_frame frame = toll_unsealed(&group_->self.who, group_->self.drawn, static_cast<toll_u8>(kind), 0,
                                     group_->self.rank, to, episode_);
    frame.mac = toll_mac_of(&group_->self.by_drawn, &frame);
    if (!direct_) return send(posts_.number(), &frame, sizeof frame, MSG_DONTWAIT) == sizeof frame;
    std::ranges::copy(std::span(group_->member[addressee(group_->self.rank)].bytes), packet.header.begin());
    // A peer without a NIC shows another port, which the program would not take.
    packet.header[toll_port_at] = toll_port >> 8;
    packet.header[toll_port_at + 1] = toll_port & 0xff;
    packet.frame = frame;
    return send(direct_.number(), &packet, sizeof packet, MSG_DONTWAIT) == sizeof packet;
}

void NicTransport::enter() noexcept {
    post(toll_arrive);  // that the program dropped the frame is no error
    gone_ = toll_episode_of(toll_load(&group_->state.at)) != episode_ && !served();
}

bool NicTransport::over() const noexcept {
    const toll_u64 at = toll_load(&group_->state.at);
    const bool over = at == toll_at(episode_, group_->program.steps);
    if (over) std::atomic_thread_fence(std::memory_order_acquire);  // after the program's ordered move of the word
    return over;
}

void NicTransport::progress() noexcept {
    const toll_u64 at = toll_load(&group_->state.at);
    if (!overdue_.passed(at)) return;
    post(toll_episode_of(at) == episode_ ? toll_timeout : toll_arrive);
    gone_ = !served() || (refusal() != toll_not_refused && !admitted());
}

bool NicTransport::served() const noexcept {
    pollfd daemon{.fd = files_.daemon.number(), .events = 0, .revents = 0};
    return poll(&daemon, 1, 0) == 0;
}

/// Ends early for each note, also one of an episode whose end was seen without sleeping.
void NicTransport::sleep_until(Deadline deadline) noexcept {
    // Pairs with the program, which moves the word and then looks whether its owner sleeps.
    std::atomic_ref(host_->waiting).store(episode_, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::byte first;
    if (!over() && sleep_until_readable(socket_, deadline)) recv(socket_.number(), &first, sizeof first, MSG_DONTWAIT);
}

std::vector<Rank> NicTransport::silent() const {
    std::vector<Rank> found;
    for (Rank rank = 0; rank < group_->self.members; ++rank)
        if (rank != group_->self.rank && toll_newer(episode_, toll_load(&group_->entered[rank]))) found.push_back(rank);
    return found;
}

std::vector<Rank> NicTransport::missing() {
    if (group_->self.ranks > group_->self.members) return awaited_in(*group_);
    const std::vector<Rank> asked = silent();
    const toll_u64 before = toll_load(&group_->answers);
    for (const Rank rank : asked) post(toll_who, rank);
    wait<Sync>(Answers{&group_->answers, before + asked.size()}, {.spins = 0, .yields = WaitBudget::for_ever},
               deadline_after(answers));
    return over() ? std::vector<Rank>() : silent();
}

}  // namespace tollbar::detail::nic
