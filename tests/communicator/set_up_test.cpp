// SPDX-License-Identifier: Apache-2.0
// Set-up by an MPI that loses a message while others are under way.
#include "communicator/set_up.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <system_error>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::mpi;

struct tollbar_channel {
    Rank peer;
    void* data;
    std::uint32_t bytes;
};

namespace {

/// Loses the message of the first peer, and goes on to use the memory of the others after they were closed.
struct Unreliable {
    static constexpr Rank ranks = 5;
    std::vector<tollbar_channel> still_used{};

    tollbar_p2p p2p() {
        tollbar_p2p made{};
        made.state = this;
        made.ranks = ranks;
        made.open = [](void*, Rank peer, tollbar_way, void* data, std::uint32_t bytes) {
            return new tollbar_channel{.peer = peer, .data = data, .bytes = bytes};
        };
        made.start = [](void*, tollbar_channel*) { return 0; };
        made.done = [](void*, tollbar_channel* channel) { return channel->peer == 1 ? -1 : 0; };
        made.close = [](void* state, tollbar_channel* channel) {
            static_cast<Unreliable*>(state)->still_used.push_back(*channel);
            delete channel;
            return 1;
        };
        made.error = [](void*) { return 0; };
        made.progress = [](void*) {};
        return made;
    }
};

}  // namespace

TEST_CASE("what the MPI may still use after a lost message is given to nobody else") {
    static Unreliable& mpi = *new Unreliable;  // what is kept for ever is not lost
    const tollbar_p2p p2p = mpi.p2p();
    const SetUp set_up(p2p, "", 0);
    std::array<char, 100> mine{};
    CHECK_THROWS_AS(set_up.gather(mine), std::system_error);
    CHECK_THROWS_AS(set_up.broadcast(mine), std::system_error);
    CHECK(mpi.still_used.size() == 8);

    std::vector<std::vector<char>> blocks(1000, std::vector<char>(500, 'a'));
    for (const tollbar_channel& channel : mpi.still_used) std::memset(channel.data, 'b', channel.bytes);
    for (const std::vector<char>& block : blocks) CHECK(block == std::vector<char>(500, 'a'));
    CHECK(mine == std::array<char, 100>{});
}

TEST_CASE("what became of the communicator ends the wait of a set-up") {
    tollbar_p2p p2p{};
    p2p.error = [](void*) { return 75; };
    p2p.progress = [](void*) {};
    CHECK_THROWS_AS(SetUp(p2p, "", 0).wait_until([] { return false; }), std::system_error);
}
