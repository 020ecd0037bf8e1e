// SPDX-License-Identifier: Apache-2.0
// A datagram to the discard port makes the kernel ask who has the address; /proc/net/arp has the answers.
#include "neighbours.hpp"

#include "runtime/files.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace tollbar::nic {

namespace {

constexpr std::uint16_t discard_port = 9;

bool read_hardware(const std::string& text, Hardware& hardware) {
    std::array<unsigned, 6> part{};
    if (std::sscanf(text.c_str(), "%x:%x:%x:%x:%x:%x", &part[0], &part[1], &part[2], &part[3], &part[4], &part[5]) != 6)
        return false;
    std::ranges::transform(part, hardware.begin(), [](unsigned byte) { return static_cast<std::uint8_t>(byte); });
    return hardware != Hardware{};
}

}  // namespace

Hardware own_hardware(const std::string& interface) {
    const File any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    interface.copy(request.ifr_name, IFNAMSIZ - 1);
    if (ioctl(any.number(), SIOCGIFHWADDR, &request) != 0) throw_errno("the hardware address of " + interface);
    Hardware hardware;
    std::memcpy(hardware.data(), request.ifr_hwaddr.sa_data, hardware.size());
    return hardware;
}

std::vector<std::uint32_t> own_addresses(const std::string& interface) {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) throw_errno("the interfaces' addresses");
    std::vector<std::uint32_t> found;
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next)
        if (one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET && one->ifa_name == interface)
            found.push_back(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr);
    freeifaddrs(all);
    return found;
}

std::map<std::uint32_t, Hardware> neighbours(const std::string& interface) {
    std::map<std::uint32_t, Hardware> found;
    std::ifstream table("/proc/thread-self/net/arp");
    std::string line;
    std::getline(table, line);  // the titles
    while (std::getline(table, line)) {
        std::istringstream words(line);
        std::string address, type, flags, hardware_text, mask, device;
        in_addr number{};
        Hardware hardware;
        if (words >> address >> type >> flags >> hardware_text >> mask >> device && device == interface &&
            inet_pton(AF_INET, address.c_str(), &number) == 1 && read_hardware(hardware_text, hardware))
            found[number.s_addr] = hardware;
    }
    return found;
}

void look_for(const std::string& interface, const std::vector<std::uint32_t>& addresses) {
    const File any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!any || setsockopt(any.number(), SOL_SOCKET, SO_BINDTODEVICE, interface.c_str(),
                           static_cast<socklen_t>(interface.size())) != 0)
        throw_errno("a socket on " + interface);
    for (const std::uint32_t address : addresses) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(discard_port);
        to.sin_addr.s_addr = address;
        sendto(any.number(), "", 0, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    }
}

}  // namespace tollbar::nic
