// SPDX-License-Identifier: Apache-2.0
// Gives every channel its word and every sleeper its bell.
#include "layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace tollbar {

namespace {

/// The words of one plan, found by channel.
class Channels {
public:
    explicit Channels(std::uint32_t& lines) : lines_(lines) {}

    /// The word of (from, to); each direction of a pair of ranks has its place in the pair's line.
    std::uint32_t word(Rank from, Rank to) {
        const auto [low, high] = std::minmax(from, to);
        const auto [pair, is_new] = line_.try_emplace(std::uint64_t{low} << 32 | high, lines_);
        if (is_new) ++lines_;
        return pair->second * Layout::words_a_line + (from < to ? 0 : 1);
    }

    /// Notes one use of a word at one of its ends. Throws when that end has used it before.
    void use(std::uint32_t word, bool signals, const Plan& plan) {
        std::uint8_t& ends = ends_[word];
        const std::uint8_t end = signals ? 1 : 2;
        if ((ends & end) != 0) throw std::invalid_argument("plan '" + plan.name() + "' uses a channel twice");
        ends |= end;
    }

    void check_both_ends(const Plan& plan) const {
        if (!std::ranges::all_of(ends_, [](const auto& use) { return use.second == 3; }))
            throw std::invalid_argument("plan '" + plan.name() +
                                        "' has a signal without await, or an await without signal");
    }

private:
    std::uint32_t& lines_;
    std::unordered_map<std::uint64_t, std::uint32_t> line_;
    std::unordered_map<std::uint32_t, std::uint8_t> ends_;
};

/// The placed program of every rank of a plan; who sleeps in it sleeps at bell `first_bell` + its rank.
std::vector<std::vector<PlacedStep>> place(const Plan& plan, std::uint32_t& lines, std::uint32_t first_bell,
                                           bool between_processors) {
    Channels channels(lines);
    std::vector<std::vector<PlacedStep>> programs(plan.ranks());
    for (Rank self = 0; self < plan.ranks(); ++self) {
        for (const Step step : plan.program(self)) {
            if (step.peer >= plan.ranks() || step.peer == self)
                throw std::invalid_argument("plan '" + plan.name() + "': rank " + std::to_string(self) +
                                            " has a step to rank " + std::to_string(step.peer));
            const bool signals = is_signal(step);
            const std::uint32_t word = signals ? channels.word(self, step.peer) : channels.word(step.peer, self);
            channels.use(word, signals, plan);
            programs[self].push_back({.word = word,
                                      .bell = first_bell + (signals ? step.peer : self),
                                      .share = 1,
                                      .skip = 0,
                                      .deed = signals ? Deed::signal : Deed::await,
                                      .between_processors = between_processors});
        }
    }
    channels.check_both_ends(plan);
    return programs;
}

void append(Layout& layout, const std::vector<PlacedStep>& program) {
    layout.steps.insert(layout.steps.end(), program.begin(), program.end());
    layout.first.push_back(static_cast<std::uint32_t>(layout.steps.size()));
}

}  // namespace

Layout lay_out(const Plan& plan) {
    Layout layout{.lines = 0, .bells = plan.ranks(), .first = {0}, .steps = {}};
    for (const auto& program : place(plan, layout.lines, 0, false)) append(layout, program);
    return layout;
}

Layout lay_out_turnstile(Rank ranks) {
    Layout layout{.lines = 1, .bells = 1, .first = {0}, .steps = {}};
    const PlacedStep add{
        .word = 0, .bell = 0, .share = ranks, .skip = 0, .deed = Deed::add, .between_processors = false};
    PlacedStep await = add;
    await.deed = Deed::await;
    for (Rank self = 0; self < ranks; ++self) append(layout, {add, await});
    return layout;
}

Layout lay_out_gather_release(Rank ranks) {
    Layout layout{.lines = 2, .bells = 2, .first = {0}, .steps = {}};
    PlacedStep gather{
        .word = 0, .bell = 0, .share = ranks - 1, .skip = 0, .deed = Deed::await, .between_processors = false};
    PlacedStep release{.word = Layout::words_a_line,
                       .bell = 1,
                       .share = 1,
                       .skip = 0,
                       .deed = Deed::signal,
                       .between_processors = false};
    append(layout, {gather, release});
    gather.deed = Deed::add;
    release.deed = Deed::await;
    for (Rank self = 1; self < ranks; ++self) append(layout, {gather, release});
    return layout;
}

Layout lay_out_combination(Rank ranks, Rank processors, const Plan& among_processors) {
    if (processors == 0 || processors > ranks)
        throw std::invalid_argument("a combination barrier of " + std::to_string(ranks) + " ranks has 1 to " +
                                    std::to_string(ranks) + " processors, not " + std::to_string(processors));
    if (among_processors.ranks() != processors)
        throw std::invalid_argument(std::to_string(processors) + " processors need a plan of as many ranks, not " +
                                    std::to_string(among_processors.ranks()));

    // Each processor has a bell for its representative, one for the others, a line to meet at and a line to wait at.
    Layout layout{.lines = 2 * processors, .bells = 2 * processors, .first = {0}, .steps = {}};
    const auto outer = place(among_processors, layout.lines, 0, true);
    for (Rank self = 0; self < ranks; ++self) {
        const Rank processor = self % processors;
        const Rank members = (ranks - processor - 1) / processors + 1;
        const std::uint32_t meeting_word = 2 * processor * Layout::words_a_line;
        const std::uint32_t released_word = meeting_word + Layout::words_a_line;
        const auto in_between = static_cast<std::uint32_t>(outer[processor].size());
        PlacedStep step{.word = meeting_word,
                        .bell = processors + processor,
                        .share = members,
                        .skip = in_between + 1,
                        .deed = Deed::meet,
                        .between_processors = false};

        std::vector<PlacedStep> program{step};
        program.insert(program.end(), outer[processor].begin(), outer[processor].end());
        step.word = released_word;
        step.share = 1;
        step.skip = 0;
        for (const Deed deed : {Deed::signal, Deed::await}) {
            step.deed = deed;
            program.push_back(step);
        }
        if (members == 1) program = outer[processor];
        append(layout, program);
    }
    return layout;
}

}  // namespace tollbar
