// SPDX-License-Identifier: Apache-2.0
// The accesses of libstdc++ 12's std::barrier and of GCC's libgomp to memory. The real ones sleep after some polls;
// these poll for ever, so that what is compared is the caches' part.
#include "barriers.hpp"
#include "sync.hpp"

#include <array>
#include <random>

namespace tollbar::cores {

namespace {

/// Pairs meet at tickets of a node, by compare-and-swap, level after level; the last one stores the phase, which all
/// poll. A hash of the thread says where it begins.
class TicketTree final : public Barrier {
public:
    explicit TicketTree(const Cores& team) : nodes_((team.size() + 1) / 2) {
        std::mt19937 random(5);
        for (std::size_t thread = 0; thread < team.size(); ++thread) hash_.push_back(random());
    }

    void episode(Thread self) override {
        const std::uint64_t phase = phase_.word.load(relaxed);
        std::size_t expected = hash_.size();
        std::size_t at = hash_[self] % nodes_.size();
        for (std::size_t level = 0; expected > 1; ++level, at /= 2) {
            const std::size_t nodes = (expected + 1) / 2;
            if (!wins(at, level, phase, nodes, expected % 2 == 1)) return await_at_least(phase_.word, phase + 2);
            expected = nodes;
        }
        phase_.word.store(phase + 2, relaxed);
    }

private:
    /// Tickets of all levels, a byte each in life, so a line.
    struct alignas(2 * line_size) Node {
        std::array<Word<SimulatedSync>, 8> ticket;
    };

    /// Takes half of a ticket, which is to be the loser's, or the other half, from the node `at` on.
    bool wins(std::size_t& at, std::size_t level, std::uint64_t phase, std::size_t nodes, bool odd) {
        const std::uint64_t half = phase + 1;
        const std::uint64_t full = phase + 2;
        for (;; ++at) {
            if (at >= nodes) at = 0;
            Word<SimulatedSync>& ticket = nodes_[at].ticket[level];
            std::uint64_t seen = phase;
            if (odd && at == nodes - 1) {  // nobody to meet
                if (ticket.compare_exchange_weak(seen, full, relaxed, relaxed)) return true;
                continue;
            }
            if (ticket.compare_exchange_weak(seen, half, relaxed, relaxed)) return false;
            if (seen == half && ticket.compare_exchange_weak(seen, full, relaxed, relaxed)) return true;
        }
    }

    std::vector<Node> nodes_;
    LoneWord phase_;
    std::vector<std::size_t> hash_;
};

/// A counter, and a generation in another line.
class CounterAndGeneration final : public Barrier {
public:
    explicit CounterAndGeneration(const Cores& team) : threads_(team.size()) {}

    void episode(Thread) override {
        const std::uint64_t generation = generation_.word.load(relaxed);
        if (awaited_.word.fetch_add(1, relaxed) + 1 < threads_) return await_at_least(generation_.word, generation + 1);
        awaited_.word.store(0, relaxed);
        generation_.word.store(generation + 1, relaxed);
    }

private:
    std::uint64_t threads_;
    LoneWord awaited_;
    LoneWord generation_;
};

}  // namespace

const std::vector<Peer>& standard_peers() {
    static const std::vector<Peer> peers{{"std::barrier", made<TicketTree>}, {"libgomp", made<CounterAndGeneration>}};
    return peers;
}

}  // namespace tollbar::cores
