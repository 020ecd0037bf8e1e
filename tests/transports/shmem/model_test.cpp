// SPDX-License-Identifier: Apache-2.0
// The slot scheme in every order in which puts may arrive: nobody leaves early, nobody is stuck. With one slot a
// channel somebody is.
#include "transports/shmem/slots.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

using namespace tollbar;
using namespace tollbar::shmem;

namespace {

/// What a PE takes for the arrival of a signal.
enum class Test : std::uint8_t {
    equal,     ///< the word of its episode: what the transport does
    at_least,  ///< the word of its episode or of a later one
};

struct Scheme {
    unsigned slots_a_channel = phases;
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
        : ranks_(ranks), slots_(slots), depth_(depth), bytes_(2 * ranks + std::size_t{ranks} * slots * depth, 0) {}

    char& episode(Rank rank) { return bytes_[rank]; }
    char& step(Rank rank) { return bytes_[ranks_ + rank]; }
    char& slot(Rank rank, unsigned phase, std::uint32_t index) {
        return bytes_[2 * ranks_ + (std::size_t{rank} * depth_ + phase) * slots_ + index];
    }

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
    std::size_t fixed() const { return 2 * ranks_ + std::size_t{ranks_} * slots_ * depth_; }

    Rank ranks_;
    std::uint32_t slots_;
    unsigned depth_;
    std::string bytes_;
};

class Explorer {
public:
    Explorer(const Plan& plan, char episodes, Scheme scheme)
        : ranks_(plan.ranks()), episodes_(episodes), scheme_(scheme) {
        for (Rank rank = 0; rank < ranks_; ++rank) wires_.push_back(wire(plan, rank));
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
        return scheme_.slots_a_channel == phases ? phase_of(static_cast<Episode>(episode)) : 0;
    }

    bool is_over(State& state, Rank rank) const {
        return state.episode(rank) == 0 || static_cast<std::size_t>(state.step(rank)) == wires_[rank].size();
    }

    bool met(State& state, Rank rank) const {
        const Wire& one = wires_[rank][static_cast<std::size_t>(state.step(rank))];
        const char mine = state.episode(rank);
        const char seen = state.slot(rank, phase(mine), one.slot);
        constexpr Signature signature = signature_of(1, 1);
        if (scheme_.test == Test::at_least) return seen >= mine;
        return seen != 0 &&
               slot_word(signature, static_cast<Episode>(seen)) == slot_word(signature, static_cast<Episode>(mine));
    }

    /// Sends what comes next, and sees who leaves.
    void go_on(State& state, Rank rank) {
        for (; !is_over(state, rank); ++state.step(rank)) {
            const Wire& one = wires_[rank][static_cast<std::size_t>(state.step(rank))];
            if (!one.sends) return;
            state.send({one.peer, phase(state.episode(rank)), one.slot, state.episode(rank)});
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
    std::vector<std::vector<Wire>> wires_;
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
