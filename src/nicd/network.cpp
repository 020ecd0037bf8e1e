// SPDX-License-Identifier: Apache-2.0
// ParsedRequest over netlink, one entry at a time. A datagram to the discard port makes the kernel ask who has an
// address.
#include "network.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/inet_diag.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace tollbar::detail::nic {

namespace {

constexpr std::uint16_t discard_port = 9;
constexpr int has_hardware = NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE;

File netlink(int protocol, std::uint32_t groups = 0) {
    File made(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
    sockaddr_nl name{};
    name.nl_family = AF_NETLINK;
    name.nl_groups = groups;
    if (!made || bind(made.number(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
        throw_errno("a netlink socket");
    return made;
}

/// The kernel's answer to that question; null when it has none. It answers while the question is sent, so this never
/// waits.
template <class Answer, class Question>
const Answer* exchange(const File& kernel, Question& question, std::span<std::byte> room) noexcept {
    if (send(kernel.number(), &question, sizeof question, 0) != sizeof question) return nullptr;
    for (;;) {
        const ssize_t size = recv(kernel.number(), room.data(), room.size(), 0);
        if (size < static_cast<ssize_t>(NLMSG_LENGTH(0))) return nullptr;
        const auto* const header = reinterpret_cast<const nlmsghdr*>(room.data());
        if (header->nlmsg_seq != question.header.nlmsg_seq) continue;  // to a question before
        const bool is_answer = header->nlmsg_type != NLMSG_ERROR &&
                               header->nlmsg_len <= static_cast<std::size_t>(size) &&
                               header->nlmsg_len >= NLMSG_LENGTH(sizeof(Answer));
        return is_answer ? static_cast<const Answer*>(NLMSG_DATA(header)) : nullptr;
    }
}

struct AskNeighbour {
    nlmsghdr header;
    ndmsg neighbour;
    rtattr name;
    std::uint32_t address;
};

struct AskSocket {
    nlmsghdr header;
    inet_diag_req_v2 socket;
};

}  // namespace

Network::Network(std::string interface)
    : interface_(std::move(interface)), index_(if_nametoindex(interface_.c_str())), routes_(netlink(NETLINK_ROUTE)),
      sockets_(netlink(NETLINK_SOCK_DIAG)), changes_(netlink(NETLINK_ROUTE, RTMGRP_IPV4_IFADDR | RTMGRP_LINK)),
      datagrams_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    if (index_ == 0) throw_errno("there is no interface " + interface_);
    if (!datagrams_ || setsockopt(datagrams_.number(), SOL_SOCKET, SO_BINDTODEVICE, interface_.c_str(),
                                  static_cast<socklen_t>(interface_.size())) != 0)
        throw_errno("a socket on " + interface_);
    refresh();
}

Hardware Network::own_hardware() const {
    ifreq request{};
    interface_.copy(request.ifr_name, IFNAMSIZ - 1);
    if (ioctl(datagrams_.number(), SIOCGIFHWADDR, &request) != 0) throw_errno("the hardware address of " + interface_);
    Hardware hardware;
    std::memcpy(hardware.data(), request.ifr_hwaddr.sa_data, hardware.size());
    return hardware;
}

void Network::refresh() noexcept {
    std::array<std::byte, 4096> news;
    while (recv(changes_.number(), news.data(), news.size(), 0) > 0 || errno == ENOBUFS) {
    }
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return;
    try {
        std::vector<std::uint32_t> found;
        for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next)
            if (one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET && one->ifa_name == interface_)
                found.push_back(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr);
        own_ = std::move(found);
    } catch (const std::bad_alloc&) {  // the next change is soon enough
    }
    freeifaddrs(all);
}

std::optional<Hardware> Network::find(std::uint32_t address) noexcept {
    AskNeighbour question{};
    question.header.nlmsg_len = sizeof question;
    question.header.nlmsg_type = RTM_GETNEIGH;
    question.header.nlmsg_flags = NLM_F_REQUEST;
    question.header.nlmsg_seq = ++asked_;
    question.neighbour.ndm_family = AF_INET;
    question.neighbour.ndm_ifindex = static_cast<int>(index_);
    question.name = {.rta_len = RTA_LENGTH(sizeof address), .rta_type = NDA_DST};
    question.address = address;
    alignas(nlmsghdr) std::array<std::byte, 2048> room;
    const auto* const found = exchange<ndmsg>(routes_, question, room);
    if (found == nullptr || (found->ndm_state & has_hardware) == 0) return std::nullopt;
    const auto* const header = reinterpret_cast<const nlmsghdr*>(room.data());
    auto left = static_cast<int>(header->nlmsg_len - NLMSG_LENGTH(sizeof *found));
    Hardware hardware{};
    for (const auto* part =
             reinterpret_cast<const rtattr*>(reinterpret_cast<const std::byte*>(found) + NLMSG_ALIGN(sizeof *found));
         RTA_OK(part, left); part = RTA_NEXT(part, left))
        if (part->rta_type == NDA_LLADDR && RTA_PAYLOAD(part) == hardware.size())
            std::memcpy(hardware.data(), RTA_DATA(part), hardware.size());
    return hardware == Hardware{} ? std::nullopt : std::optional(hardware);
}

void Network::look_for(std::uint32_t address) const noexcept {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(discard_port);
    to.sin_addr.s_addr = address;
    sendto(datagrams_.number(), "", 0, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

std::optional<uid_t> Network::receiver(std::uint32_t address, std::uint16_t port, std::uint32_t from,
                                       std::uint16_t from_port) noexcept {
    AskSocket question{};
    question.header.nlmsg_len = sizeof question;
    question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    question.header.nlmsg_flags = NLM_F_REQUEST;
    question.header.nlmsg_seq = ++asked_;
    question.socket.sdiag_family = AF_INET;
    question.socket.sdiag_protocol = IPPROTO_UDP;
    question.socket.idiag_states = ~0U;
    // As a datagram would come: the socket's own end is the destination.
    question.socket.id.idiag_sport = htons(from_port);
    question.socket.id.idiag_dport = htons(port);
    question.socket.id.idiag_src[0] = from;
    question.socket.id.idiag_dst[0] = address;
    question.socket.id.idiag_if = index_;
    question.socket.id.idiag_cookie[0] = question.socket.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    alignas(nlmsghdr) std::array<std::byte, 2048> room;
    const auto* const found = exchange<inet_diag_msg>(sockets_, question, room);
    return found == nullptr ? std::nullopt : std::optional<uid_t>(found->idiag_uid);
}

}  // namespace tollbar::detail::nic
