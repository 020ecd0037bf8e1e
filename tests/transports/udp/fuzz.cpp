// SPDX-License-Identifier: Apache-2.0
// libFuzzer: whatever comes as datagrams, sealed or not, harms no memory; and what nobody with the key has sealed
// releases nobody.
#include "hand.hpp"

#include <algorithm>
#include <cstdlib>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;

namespace {

/// A tree with two levels; rank 1 awaits and tells both ways.
Plan tree() {
    return {"tree",
            {{await(1), signal(1), signal(2)},
             {await(2), await(3), signal(0), await(0), signal(3)},
             {signal(1), await(0)},
             {signal(1), await(1)}}};
}

/// The input as datagrams: a byte that says from which rank and whether its sender has the key, and a frame's bytes.
/// Gives whether somebody with the key spoke.
bool hear_all(Hand& hand, std::span<const std::byte> input) {
    bool sealed = false;
    while (!input.empty()) {
        const auto lead = std::to_integer<unsigned>(input.front());
        auto datagram = input.subspan(1, std::min(sizeof(toll_frame), input.size() - 1));
        input = input.subspan(1 + datagram.size());
        toll_frame frame;
        const bool knows = lead >= 128 && datagram.size() == sizeof frame;
        if (knows) {
            std::memcpy(&frame, datagram.data(), sizeof frame);
            frame.magic = toll_net32(toll_magic);
            frame.bytes = toll_signed;
            frame.group = toll_net32(Writing().group);
            frame.name = identity_of({}).name;
            frame.digest = Writing().digest;
            frame.destination = toll_net16(1);
            if (lead % 32 != 0) frame.incarnation = Writing().incarnation;
            seal(frame);
            datagram = std::as_bytes(std::span(&frame, 1));
            sealed = true;
        }
        hand.protocol.hear(datagram, lead % 8);
        hand.advance();
        if (!hand.runner.finished()) {
            hand.protocol.pull();
            hand.protocol.ask(8);
        }
        if (hand.runner.finished() && lead % 16 == 0) hand.runner.start();
    }
    return sealed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Plan plan = tree();
    Hand hand(plan, 1, Episode{1} << 56);
    hand.start();
    const bool sealed = hear_all(hand, std::as_bytes(std::span(data, size)));
    if (!sealed && hand.runner.finished()) std::abort();
    return 0;
}
