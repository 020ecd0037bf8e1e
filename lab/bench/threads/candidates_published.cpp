// SPDX-License-Identifier: Apache-2.0
// The barriers between threads of Seyedroudbari and Kadiyala 2020, corrected, and the variants that they propose.
#include "candidates.hpp"
#include "published.hpp"

#include <string>
#include <utility>

namespace tollbar::bench {

namespace {

using published::Form;

class Counter {
public:
    struct Seat {
        published::SenseReversing<NativeSync>& barrier;
        void episode() noexcept { barrier.episode(); }
    };

    Counter(Rank ranks, const Form& form) : barrier_(ranks, form.counting, form.looks) {}
    Seat seat(Rank) { return {barrier_}; }

private:
    published::SenseReversing<NativeSync> barrier_;
};

class Tree {
public:
    struct Seat {
        published::McsFlags<NativeSync>& barrier;
        Rank rank;
        void episode() noexcept { barrier.episode(rank); }
    };

    Tree(Rank ranks, const Form& form) : barrier_(ranks, form.flags, form.gate, form.looks) {}
    Seat seat(Rank rank) { return {barrier_, rank}; }

private:
    published::McsFlags<NativeSync> barrier_;
};

void add(Roster& roster, Rank ranks, const Form& form, Label label) {
    if (form.tree)
        roster.add<Tree>(std::move(label), ranks, form);
    else
        roster.add<Counter>(std::move(label), ranks, form);
}

/// They give way between polls where ranks share CPUs; with "spin" never.
void add_published(Roster& roster, const Launch& launch) {
    const Rank ranks = launch.options.ranks;
    for (Form form : published::forms) {
        const std::string name(form.name);
        if (form.name == published::sense_reversing)
            add(roster, ranks, form, {name, "published", "spin", Manners::spins});
        form.looks.gives_way = launch.crowded();
        add(roster, ranks, form, {name, "published"});
    }
}

const FurtherBarriers published_ones(add_published);

}  // namespace

}  // namespace tollbar::bench
