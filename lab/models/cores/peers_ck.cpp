// SPDX-License-Identifier: Apache-2.0
// The accesses of Concurrency Kit 0.7's five barriers to memory: which words lie in which line, who writes them, who
// polls.
#include "barriers.hpp"
#include "sync.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace tollbar::cores {

using namespace detail;

namespace {

using Flag = Word<SimulatedSync>;

/// Polls until a flag is exactly `sense`.
void await_sense(const Flag& flag, std::uint64_t sense) {
    poll(flag, [sense](std::uint64_t value) { return value == sense; });
}

std::uint32_t rounds_for(std::size_t threads) { return static_cast<std::uint32_t>(std::bit_width(threads - 1)); }

/// A counter and its sense in one line, as ck_barrier_centralized lays them out.
struct alignas(line_bytes) FetchAddGroup {
    /// Adds one; the last of `expected` does `then`, resets the counter and turns the sense, which the others await.
    template <class Then>
    void meet(std::uint64_t expected, std::uint64_t turn, Then&& then) {
        if (count.fetch_add(1, relaxed) + 1 < expected) {
            SimulatedSync::full_fence();
            return await_sense(sense, turn);
        }
        then();
        count.store(0, relaxed);
        sense.store(turn, relaxed);
    }

    Flag count;
    Flag sense;
};

class Centralized final : public Barrier {
public:
    explicit Centralized(const Cores& team) : episodes_(team.size()) {}
    void episode(Thread self) override {
        group_.meet(episodes_.size(), ++episodes_[self] % 2, [] {});
    }

private:
    FetchAddGroup group_;
    std::vector<std::uint64_t> episodes_;
};

/// Groups of four threads at the nodes of a binary tree that is filled level by level below an empty root.
class Combining final : public Barrier {
public:
    explicit Combining(const Cores& team) : groups_((team.size() + 3) / 4 + 1), episodes_(team.size()) {
        expected_.resize(groups_.size());
        for (std::size_t node = 1; node < groups_.size(); ++node) {
            expected_[node] += std::min<std::size_t>(4, team.size() - (node - 1) * 4);
            ++expected_[(node - 1) / 2];
        }
    }
    void episode(Thread self) override { meet(self / 4 + 1, ++episodes_[self] % 2); }

private:
    void meet(std::size_t node, std::uint64_t sense) {
        groups_[node].meet(expected_[node], sense, [&] {
            if (node != 0) meet((node - 1) / 2, sense);
        });
    }

    std::vector<FetchAddGroup> groups_;
    std::vector<std::uint64_t> expected_;
    std::vector<std::uint64_t> episodes_;
};

/// The flags of all rounds side by side, one set for odd and one for even episodes, reversed every second time.
class Dissemination final : public Barrier {
public:
    explicit Dissemination(const Cores& team) : rounds_(rounds_for(team.size())), rows_(team.size()) {}

    void episode(Thread self) override {
        const std::uint64_t episode = rows_[self].episodes++;
        const std::uint64_t sense = 1 - episode / 2 % 2;
        const std::uint64_t first = episode % 2 * rounds_;
        for (std::uint32_t round = 0; round < rounds_; ++round) {
            Row& partner = rows_[(self + (std::size_t{1} << round)) % rows_.size()];
            partner.flags[first + round].flag.store(sense, relaxed);
            await_sense(rows_[self].flags[first + round].flag, sense);
        }
    }

private:
    struct FlagAndPointer {
        Flag flag;
        std::uint64_t pointer = 0;
    };
    struct alignas(line_bytes) Row {
        std::array<FlagAndPointer, 16> flags;
        std::uint64_t episodes = 0;
    };

    std::uint32_t rounds_;
    std::vector<Row> rows_;
};

/// Winners await losers, losers the release; each rank's rounds lie side by side.
class Tournament final : public Barrier {
public:
    explicit Tournament(const Cores& team) : rows_(team.size()) {}

    void episode(Thread self) override {
        const std::uint64_t sense = ++rows_[self].episodes % 2;
        const std::uint32_t rounds = rounds_for(rows_.size());
        std::uint32_t round = 0;
        for (; round < rounds; ++round) {
            const std::size_t stride = std::size_t{1} << round;
            if (self % (2 * stride) != 0) {
                rows_[self - stride].rounds[round].flag.store(sense, relaxed);
                await_sense(rows_[self].rounds[round].flag, sense);
                break;
            }
            if (self + stride < rows_.size()) await_sense(rows_[self].rounds[round].flag, sense);
        }
        while (round-- > 0)
            if (const std::size_t loser = self + (std::size_t{1} << round); loser < rows_.size())
                rows_[loser].rounds[round].flag.store(sense, relaxed);
    }

private:
    struct Round {
        std::array<std::uint64_t, 2> role{};
        Flag flag;
    };
    struct alignas(line_bytes) Row {
        std::array<Round, 8> rounds;
        std::uint64_t episodes = 0;
    };

    std::vector<Row> rows_;
};

/// Four children report to a node, two are released by it; what they write lies in its line.
class Mcs final : public Barrier {
public:
    explicit Mcs(const Cores& team) : nodes_(team.size()) {}

    void episode(Thread self) override {
        Node& node = nodes_[self];
        const std::uint64_t sense = ++node.episodes % 2;
        const std::size_t first = 4 * std::size_t{self} + 1;
        const std::size_t children = first < nodes_.size() ? std::min<std::size_t>(4, nodes_.size() - first) : 0;
        for (std::size_t child = 0; child < children; ++child) await_sense(node.ready[child], 1);
        for (std::size_t child = 0; child < children; ++child) node.ready[child].store(0, relaxed);
        if (self != 0) {
            nodes_[(self - 1) / 4].ready[(self - 1) % 4].store(1, relaxed);
            await_sense(node.parents_sense, sense);
        }
        for (std::size_t child = 2 * std::size_t{self} + 1; child <= 2 * std::size_t{self} + 2; ++child)
            if (child < nodes_.size()) nodes_[child].parents_sense.store(sense, relaxed);
    }

private:
    struct alignas(line_bytes) Node {
        std::array<Flag, 4> ready;
        Flag parents_sense;
        std::uint64_t episodes = 0;
    };

    std::vector<Node> nodes_;
};

}  // namespace

const std::vector<Peer>& concurrency_kit() {
    static const std::vector<Peer> peers{{"ck_centralized", made<Centralized>},
                                         {"ck_combining", made<Combining>},
                                         {"ck_dissemination", made<Dissemination>},
                                         {"ck_tournament", made<Tournament>},
                                         {"ck_mcs", made<Mcs>}};
    return peers;
}

}  // namespace tollbar::cores
