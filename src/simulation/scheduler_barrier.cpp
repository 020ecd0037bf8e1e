// SPDX-License-Identifier: Apache-2.0
// The barriers of Markatos et al. 1991, section 3.3, and all others: plans, whose roles the last to come plays.
#include "scheduler_barrier.hpp"

#include <tollbar/algorithms.hpp>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace tollbar::scheduler {

Barrier::Barrier(const Plan& plan, Access access)
    : matching_(match(plan)), told_(matching_.messages), entered_(matching_.members),
      next_(matching_.first.begin() + 1, matching_.first.end()), counts_(matching_.steps.size()),
      members_(matching_.members), arrivals_(matching_.members), player_(matching_.members) {
    if (access == Access::counted)
        for (Rank member = 0; member < matching_.members; ++member)
            for (Index step = matching_.first[member]; step < matching_.first[member + 1]; ++step)
                words_.push_back(is_signal(matching_.steps[step]) ? matching_.steps[step].peer : member);
    for (Rank role = matching_.ranks; role < matching_.members; ++role) {
        std::vector<Rank> players = members_of(matching_, role);
        // A representative stays on its processor: a role with threads of its own is not played from another role's.
        if (players.front() < matching_.ranks)
            std::erase_if(players, [this](Rank member) { return member >= matching_.ranks; });
        members_[role] = players.size();
        for (const Rank member : players) {
            const auto word = matching_.steps.begin() + matching_.first[member];
            const auto tells = std::find(word, matching_.steps.end(), signal(role));
            counts_[static_cast<Index>(tells - matching_.steps.begin())] = true;
        }
        if (access == Access::counted) note_words(role, players);
    }
}

void Barrier::note_words(Rank role, const std::vector<Rank>& players) {
    const Word counter = matching_.members + role;
    for (const Rank player : players)
        for (Index step = matching_.first[player]; step < matching_.first[player + 1]; ++step)
            if (matching_.steps[step].peer == role) words_[step] = counter;
    // Who comes last has read in the counter that all have come. If nothing else is to be heard, the full counter
    // releases them; else one store does.
    bool gathers = true;
    for (Index step = matching_.first[role]; step < matching_.first[role + 1]; ++step) {
        const bool of_player = std::ranges::binary_search(players, matching_.steps[step].peer);
        const bool releases = is_signal(matching_.steps[step]);
        if (of_player)
            words_[step] = releases && !gathers && !matching_.leaves_with_former(role, step) ? counter : no_word;
        gathers = gathers && of_player && (!releases || words_[step] == no_word);
    }
}

void Barrier::enter(Rank self) {
    ++entered_[self];
    next_[self] = matching_.first[self];
}

Barrier::Advance Barrier::advance(std::uint32_t thread, bool accessed) {
    const std::uint64_t before = steps_;
    const std::optional<Word> access = run(thread, thread, accessed);
    return {.moved = steps_ != before, .through = finished(thread), .access = access};
}

bool Barrier::can_advance(std::uint32_t thread) const { return heard_all(stands_for(thread)); }

Word Barrier::polls(std::uint32_t thread) const {
    const Rank self = stands_for(thread);
    return words_.empty() ? self : words_[next_[self]];
}

Rank Barrier::stands_for(std::uint32_t thread) const {
    Rank self = thread;
    while (plays_on(self, thread)) self = matching_.steps[next_[self]].peer;
    return self;
}

bool Barrier::finished(Rank self) const { return next_[self] == matching_.first[self + 1]; }

std::optional<Word> Barrier::run(Rank self, std::uint32_t thread, bool& accessed) {
    for (Index& next = next_[self]; !finished(self); ++steps_) {
        const bool signals = is_signal(matching_.steps[next]);
        if (!signals && plays_on(self, thread))
            if (const auto word = run(matching_.steps[next].peer, thread, accessed)) return word;
        if (!signals && !heard_all(self)) return std::nullopt;
        if (const Word word = needs(self, thread); word != no_word && !std::exchange(accessed, false)) return word;
        if (!signals) {
            next = matching_.set_end(next, self);
            continue;
        }
        tell(self, thread);
        ++next;
    }
    return std::nullopt;
}

Word Barrier::needs(Rank self, std::uint32_t thread) const {
    const Index step = next_[self];
    if (words_.empty()) return no_word;
    const bool arrived_last = step > matching_.first[self] && counts_[step - 1] &&
                              player_[matching_.steps[step].peer] == thread && is_await(matching_.steps[step]);
    return arrived_last ? no_word : words_[step];
}

void Barrier::tell(Rank self, std::uint32_t thread) {
    const Index step = next_[self];
    told_[matching_.message[step]] = entered_[self];
    if (!counts_[step]) return;
    const Rank role = matching_.steps[step].peer;
    if (++arrivals_[role] < entered_[self] * members_[role]) return;
    player_[role] = thread;
    enter(role);
}

bool Barrier::plays_on(Rank self, std::uint32_t thread) const {
    if (finished(self) || next_[self] == matching_.first[self] || !counts_[next_[self] - 1]) return false;
    const Rank role = matching_.steps[next_[self]].peer;
    return player_[role] == thread && !finished(role);
}

bool Barrier::heard_all(Rank self) const {
    const Index end = matching_.set_end(next_[self], self);
    for (Index step = next_[self]; step < end; ++step)
        if (told_[matching_.message[step]] < entered_[self]) return false;
    return true;
}

namespace {

/// The threads of each processor that has some.
Groups on_processors(const std::vector<std::uint32_t>& home) {
    std::map<std::uint32_t, std::vector<Rank>> threads;
    for (Rank thread = 0; thread < home.size(); ++thread) threads[home[thread]].push_back(thread);
    Groups groups;
    for (auto& [processor, of_it] : threads) groups.push_back(std::move(of_it));
    return groups;
}

const std::map<std::string, std::string> names_of_paper{
    {"centralized", "turnstile"}, {"tree", "mcs:4,2"}, {"combination", "turnstile/mcs:4,2"}};

}  // namespace

Barrier make_barrier(const std::string& barrier, const std::vector<std::uint32_t>& home, Access access) {
    const auto of_paper = names_of_paper.find(barrier);
    const std::string& spelling = of_paper == names_of_paper.end() ? barrier : of_paper->second;
    try {
        Plan plan = make_plan(spelling, on_processors(home));
        if (const std::string_view other = runs_on(spelling); !other.empty())
            throw std::invalid_argument("'" + spelling + "' is for " + std::string(other) +
                                        ", not for threads on processors");
        return Barrier(plan, access);
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument("the barrier is centralized, tree, combination or a plan; as a plan: " +
                                    std::string(error.what()));
    }
}

}  // namespace tollbar::scheduler
