// SPDX-License-Identifier: Apache-2.0
// Numbers words and sleepers in the order in which operations first need them.
#include "layout.hpp"

#include "plan/wording.hpp"

#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

namespace tollbar::detail {

namespace {

using Kind = Operation::Kind;

WordKind word_kind(Kind kind) {
    switch (kind) {
        case Kind::signal:
        case Kind::release: return WordKind::signal;
        case Kind::await:
        case Kind::counted:
        case Kind::released: return WordKind::await;
        case Kind::count: return WordKind::count;
        case Kind::meet: return WordKind::meet;
    }
    return WordKind::await;
}

/// Numbers keys in the order in which they are first asked for.
class Numbers {
public:
    std::uint32_t operator[](std::uint64_t key) { return numbers_.try_emplace(key, size()).first->second; }
    std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(numbers_.size()); }

private:
    std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

/// Gives operations their words: one a channel, one or two a role. The two directions between a pair of members share a
/// line, because the member that answers then owns the line already (docs/design/words.md).
struct Placement {
    RolesAre roles;
    Numbers lines = {};
    Numbers sleepers = {};

    PlacedStep place(const Operation& operation) {
        const bool is_of_channel = operation.is_of_channel(), ascends = operation.from < operation.to;
        const bool for_a_role = is_role(operation.from) || (is_of_channel && is_role(operation.to));
        Operation first_way = operation;
        if (is_of_channel && !ascends) std::swap(first_way.from, first_way.to);
        const std::uint32_t line = lines[first_way.meeting_point()];
        return {.word = Layout::word_in(line, is_of_channel && !ascends ? 1 : 0),
                .sleepers = sleepers[is_of_channel ? operation.to : operation.meeting_point()],
                .share = operation.share,
                .skip = operation.skip,
                .kind = word_kind(operation.kind),
                .between_processors = roles == RolesAre::processors && for_a_role};
    }
};

}  // namespace

std::uint32_t Layout::word_in(std::uint32_t line, std::uint32_t offset) {
    if (line >= most_lines)
        throw std::invalid_argument(
            worded({"the plan has more than ", most_lines, " channels between ranks that share memory"}));
    return line * words_a_line + offset;
}

Layout lay_out(const Schedule& schedule, RolesAre roles, const AtWords& at_words) {
    Placement placement{.roles = roles};
    Layout layout{.lines = 0, .sleepers = 0, .first = {0}, .steps = {}};
    for (Rank i = 0; i + 1 < schedule.first.size(); ++i) {
        for (const Operation& operation : schedule.of(i))
            if (!at_words || at_words(operation)) layout.steps.push_back(placement.place(operation));
        layout.first.push_back(static_cast<std::uint32_t>(layout.steps.size()));
    }
    layout.lines = placement.lines.size();
    layout.sleepers = placement.sleepers.size();
    return layout;
}

Layout lay_out(const Plan& plan, Player player, RolesAre roles) { return lay_out(lower(plan, player), roles); }

}  // namespace tollbar::detail
