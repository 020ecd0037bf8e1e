// SPDX-License-Identifier: Apache-2.0
// Cuts rooted plans in two, and gives all others a release.
#include "inside.hpp"

#include "doors/cxx/mechanism.hpp"

#include <tollbar/algorithms.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace tollbar::hybrid {

namespace {

PlacedStep step(std::uint32_t line, std::uint32_t bell, std::uint32_t share, Deed deed) {
    return {.word = line * Layout::words_a_line,
            .bell = bell,
            .share = share,
            .skip = 0,
            .deed = deed,
            .between_processors = false};
}

/// One word, which grows by one for each thread that arrives and by one more when the messenger is back, as
/// Turnstile's does with a closing step. The first add of a thread tells it whether it is the messenger.
Layout lay_out_closing_turnstile(Rank threads) {
    Layout layout{.lines = 1, .bells = 1, .first = {0}, .steps = {}};
    for (Rank thread = 0; thread < threads; ++thread) {
        for (const Deed deed : {Deed::add, Deed::add, Deed::await})
            layout.steps.push_back(step(0, 0, threads + 1, deed));
        layout.first.push_back(static_cast<std::uint32_t>(layout.steps.size()));
    }
    return layout;
}

/// The layout with one more word, which thread 0 signals and all others await in the end.
Layout with_release(const Layout& layout) {
    Layout released{.lines = layout.lines + 1, .bells = layout.bells + 1, .first = {0}, .steps = {}};
    for (std::size_t thread = 0; thread + 1 < layout.first.size(); ++thread) {
        released.steps.insert(released.steps.end(), layout.steps.begin() + layout.first[thread],
                              layout.steps.begin() + layout.first[thread + 1]);
        released.steps.push_back(step(layout.lines, layout.bells, 1, thread == 0 ? Deed::signal : Deed::await));
        released.first.push_back(static_cast<std::uint32_t>(released.steps.size()));
    }
    return released;
}

/// What names a plan of the catalogue; groups take other spellings too.
bool is_rooted_plan(std::string_view spelling, Rank threads) {
    const std::string_view name = spelling.substr(0, spelling.find(':'));
    return name != "turnstile" && name != "combination" && is_rooted(make_plan(spelling, threads));
}

}  // namespace

Inside lay_out_inside(std::string_view spelling, Rank threads, Messenger may_go, std::uint32_t cpus) {
    Layout layout = lay_out_spelled(spelling, threads, cpus);  // finds the faults
    if (threads == 1)
        return {.layout = {.lines = 0, .bells = 0, .first = {0, 0}, .steps = {}}, .messenger = Messenger::first_thread};
    if (spelling == "turnstile" && may_go == Messenger::last_to_arrive)
        return {.layout = lay_out_closing_turnstile(threads), .messenger = Messenger::last_to_arrive};
    const bool cut = spelling == "turnstile" || is_rooted_plan(spelling, threads);
    if (spelling == "turnstile") layout = lay_out_gather_release(threads);
    if (!cut) layout = with_release(layout);
    const auto begin = layout.steps.begin();
    const auto end = begin + layout.first[1];
    const auto gathered = cut ? std::ranges::find(begin, end, Deed::signal, &PlacedStep::deed) : end - 1;
    return {.layout = std::move(layout),
            .messenger = Messenger::first_thread,
            .gather_steps = static_cast<std::uint32_t>(gathered - begin)};
}

}  // namespace tollbar::hybrid
