// SPDX-License-Identifier: Apache-2.0
#include "transport.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace tollbar {

void UdpTransport::progress() noexcept {
    constexpr std::size_t most_asked = 64;  // enough to name the missing, too few for a storm
    constexpr int worth_a_roll_call = 8;    // times longer than a frame is waited for: somebody is late
    if (!overdue_.passed(protocol_.counts().heard)) return;
    protocol_.pull();
    if (overdue_.grown() >= worth_a_roll_call) protocol_.ask(most_asked);
}

bool UdpTransport::take_in_one() noexcept {
    std::array<std::byte, 2 * sizeof(toll_frame)> buffer;  // what is longer than a frame must be seen to be
    const auto received = network_->receive(buffer);
    if (received) protocol_.hear(std::span(buffer).first(std::min(received->size, buffer.size())), received->from);
    return received.has_value();
}

}  // namespace tollbar
