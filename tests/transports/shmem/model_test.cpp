// SPDX-License-Identifier: Apache-2.0
// The slot scheme in every order in which puts may arrive: nobody leaves early, nobody is stuck. With one slot a
// channel somebody is.
#include "transports/shmem/placement.hpp"
#include "transports/shmem/slots.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::shmem;

namespace {

/// What a PE takes for the arrival of a signal.
enum class Test : std::uint8_t {
    equal,     ///< the word of its episode: what the transport does
    at_least,  ///< the word of its episode or of a later one
};

struct Scheme {
    unsigned slots_a_channel = parities;
    Test test = Test::equal;
};

struct Findings {
    std::size_t states = 0;
    std::size_t stuck = 0;
    std::size_t early = 0;
};

/// Where everything is; kept as bytes to be remembered.
class State {
public:
    State(Rank ranks, std::uint32_t slots, unsigned depth)
        : ranks_(ranks), slots_(slots), depth_(depth), bytes_(fixed(), 0) {}

    char& episode(Rank rank) { return bytes_[rank]; }
    char& step(Rank rank) { return bytes_[ranks_ + rank]; }
    char& slot(Rank rank, unsigned phase, std::uint32_t index) {
        return bytes_[2 * ranks_ + (std::size_t{rank} * depth_ + phase) * slots_ + index];
    }
    char& counter(Rank rank) { return bytes_[fixed() - 1 - rank]; }

    struct Put {
        Rank to;
        unsigned phase;
        std::uint32_t index;
        char episode;
    };
    std::size_t in_flight() const { return (bytes_.size() - fixed()) / 4; }
    Put put(std::size_t i) const {
        const char* at = &bytes_[fixed() + 4 * i];
        return {static_cast<Rank>(at[0]), static_cast<unsigned>(at[1]), static_cast<std::uint32_t>(at[2]), at[3]};
    }
    void send(Put put) {
        std::vector<std::string> puts;
        for (std::size_t i = 0; i < in_flight(); ++i) puts.push_back(bytes_.substr(fixed() + 4 * i, 4));
        puts.push_back(
            {static_cast<char>(put.to), static_cast<char>(put.phase), static_cast<char>(put.index), put.episode});
        std::ranges::sort(puts);  // in which order they were sent makes no difference
        bytes_.resize(fixed());
        for (const std::string& one : puts) bytes_ += one;
    }
    void arrive(std::size_t i) {
        const Put one = put(i);
        slot(one.to, one.phase, one.index) = one.episode;
        bytes_.erase(fixed() + 4 * i, 4);
    }
    const std::string& bytes() const { return bytes_; }

private:
    std::size_t fixed() const { return ranks_ * (3 + std::size_t{slots_} * depth_); }

    Rank ranks_;
    std::uint32_t slots_;
    unsigned depth_;
    std::string bytes_;
};

class Explorer {
    using Kind = shmem::Step::Kind;

public:
    Explorer(const Plan& plan, char episodes, Scheme scheme)
        : ranks_(plan.ranks()), episodes_(episodes), scheme_(scheme) {
        for (Rank rank = 0; rank < ranks_; ++rank) steps_.push_back(steps_of(plan, rank));
        visit(State(ranks_, slots_of(plan), scheme.slots_a_channel));
        while (!open_.empty()) {
            const State state = open_.back();
            open_.pop_back();
            expand(state);
        }
    }

    Findings findings() const { return findings_; }

private:
    unsigned phase(char episode) const {
        return scheme_.slots_a_channel == parities ? parity_of(static_cast<Episode>(episode)) : 0;
    }

    bool is_over(State& state, Rank rank) const {
        return state.episode(rank) == 0 || static_cast<std::size_t>(state.step(rank)) == steps_[rank].size();
    }

    const shmem::Step& next(State& state, Rank rank) const {
        return steps_[rank][static_cast<std::size_t>(state.step(rank))];
    }

    bool met(State& state, Rank rank) const {
        const shmem::Step& one = next(state, rank);
        const char mine = state.episode(rank);
        const char seen = state.slot(rank, phase(mine), one.slot);
        constexpr Signature signature = signature_of(1, 1);
        if (scheme_.test == Test::at_least) return seen >= mine;
        return seen != 0 &&
               slot_word(signature, static_cast<Episode>(seen)) == slot_word(signature, static_cast<Episode>(mine));
    }

    /// Does a step that is no await; gives how many to go on.
    std::uint32_t take(State& state, Rank rank, const shmem::Step& one) {
        const char mine = state.episode(rank);
        if (one.kind == Kind::signal) state.send({one.peer, phase(mine), one.slot, mine});
        const bool skips = one.kind == Kind::flush ||
                           (one.kind == Kind::meet && ++state.counter(one.peer) != mine * static_cast<char>(one.share));
        return skips ? 1 + one.skip : 1;
    }

    /// Does what comes before the next await, and sees who leaves.
    void go_on(State& state, Rank rank) {
        while (!is_over(state, rank)) {
            const shmem::Step& one = next(state, rank);
            if (one.kind == Kind::await) return;
            state.step(rank) = static_cast<char>(state.step(rank) + static_cast<char>(take(state, rank, one)));
        }
        for (Rank other = 0; other < ranks_; ++other)
            if (state.episode(other) < state.episode(rank)) ++findings_.early;
    }

    void expand(const State& from) {
        bool moved = false;
        bool finished = true;
        for (Rank rank = 0; rank < ranks_; ++rank) {
            State state = from;
            const bool over = is_over(state, rank);
            if (over && state.episode(rank) == episodes_) continue;
            finished = false;
            if (over) {
                ++state.episode(rank);
                state.step(rank) = 0;
            } else if (met(state, rank)) {
                ++state.step(rank);
            } else {
                continue;
            }
            go_on(state, rank);
            visit(state);
            moved = true;
        }
        for (std::size_t i = 0; i < from.in_flight(); ++i) {
            State state = from;
            state.arrive(i);
            visit(state);
            moved = true;
        }
        if (!moved && !finished) ++findings_.stuck;
    }

    void visit(const State& state) {
        if (!seen_.insert(state.bytes()).second) return;
        ++findings_.states;
        open_.push_back(state);
    }

    Rank ranks_;
    char episodes_;
    Scheme scheme_;
    std::vector<std::vector<shmem::Step>> steps_;
    std::unordered_set<std::string> seen_;
    std::vector<State> open_;
    Findings findings_;
};

Findings explore(const char* plan, Rank ranks, char episodes, Scheme scheme) {
    return Explorer(make_plan(plan, ranks), episodes, scheme).findings();
}

void check_sound(const char* plan, Rank ranks, char episodes, Test test = Test::equal) {
    CAPTURE(plan);
    CAPTURE(ranks);
    const Findings found = explore(plan, ranks, episodes, {.test = test});
    CHECK(found.states > ranks);
    CHECK(found.stuck == 0);
    CHECK(found.early == 0);
}

}  // namespace

TEST_CASE("with two slots a channel nobody is stuck and nobody leaves early, in whatever order puts arrive") {
    for (const Test test : {Test::equal, Test::at_least}) {
        check_sound("dissemination", 2, 4, test);
        check_sound("dissemination", 3, 3, test);
        check_sound("dissemination", 4, 2, test);
        check_sound("dissemination", 5, 2, test);
    }
    check_sound("dissemination:2", 3, 3);
    check_sound("dissemination:3", 4, 2);
    check_sound("mcs", 4, 3);
    check_sound("mcs", 5, 3);
}

TEST_CASE("whoever counts last releases the others, and nobody is stuck") {
    for (const Rank ranks : {2U, 3U, 4U}) check_sound("counter", ranks, 3);
}

TEST_CASE("the first member of a role may play it, and nobody is stuck") {
    check_sound("combination", 4, 3);
    check_sound("turnstile@2/counter", 4, 3);
    check_sound("turnstile@2/dissemination", 5, 2);
}

TEST_CASE("with one slot a channel somebody is stuck") {
    for (const Test test : {Test::equal, Test::at_least}) {
        CHECK(explore("dissemination", 2, 4, {.slots_a_channel = 1, .test = test}).stuck != 0);
        CHECK(explore("dissemination", 4, 2, {.slots_a_channel = 1, .test = test}).stuck != 0);
    }
}

TEST_CASE("a plan that is no barrier is seen to let somebody leave early") {
    const Plan half = parse_plan("half", "0: !1\n1: ?0");
    CHECK(Explorer(half, 2, {}).findings().early != 0);
}
