// SPDX-License-Identifier: Apache-2.0
// Writes JSON by hand: there is no other need for a library here.
#include "report.hpp"

#include "missing/listed.hpp"
#include "missing/sentence.hpp"

#include <cstdio>

namespace tollbar::look {

namespace missing = detail::missing;

namespace {

std::string text(std::string_view value) {
    std::string quoted = "\"";
    for (const char c : value) {
        char escaped[8];
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) {
            std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
            quoted += escaped;
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

std::string text(double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.1f", value);
    return value < 0 ? "null" : digits;
}

template <class Members, class One>
std::string list(const Members& members, One one) {
    return std::string("[").append(detail::joined(members, ",\n", one)) + "]";
}

std::string number(auto value) { return std::to_string(value); }

std::string of_frame(const Frame& frame) {
    return "{\"at\":" + number(frame.at) + ",\"symbol\":" + text(frame.symbol) + ",\"module\":" + text(frame.module) +
           ",\"source\":" + text(frame.source) + ",\"mark\":" + number(frame.mark) + "}";
}

std::string of_barrier(const Process& process, const Barrier& barrier) {
    return "{\"kind\":" + text(barrier.kind) + ",\"at\":" + number(barrier.at) +
           ",\"key\":" + text(process.key(barrier.at)) + ",\"arrived\":" + number(barrier.arrived) +
           ",\"expected\":" + number(barrier.expected) + ",\"round\":" + number(barrier.round) + "}";
}

std::string of_communicator(const Communicator& one) {
    return "{\"name\":" + text(one.name) + ",\"number\":" + number(one.number) + ",\"rank\":" + number(one.rank) + "}";
}

std::string of_thread(const Process& process, const Thread& thread) {
    const auto barrier = [&](const Barrier& one) { return of_barrier(process, one); };
    const auto plain = [](Address value) { return number(value); };
    return "{\"thread\":" + number(thread.number) + ",\"name\":" + text(thread.name) +
           ",\"state\":" + text(std::string(1, thread.state)) + ",\"call\":" + number(thread.call) +
           ",\"arguments\":" + list(thread.arguments, plain) + ",\"switches\":" + number(thread.switches) +
           ",\"asleep_ms\":" + text(thread.asleep_ms) + ",\"held_us\":" + text(thread.held_us) +
           ",\"complete\":" + (thread.complete ? "true" : "false") + ",\"frames\":" + list(thread.frames, of_frame) +
           ",\"barriers\":" + list(thread.barriers, barrier) +
           ",\"communicators\":" + list(thread.communicators, of_communicator) + "}";
}

std::string of_process(const Sight& sight) {
    const auto thread = [&](const Thread& one) { return of_thread(*sight.process, one); };
    return "{\"process\":" + number(sight.process->number()) + ",\"threads\":" + list(sight.threads, thread) + "}";
}

std::string of_member(const absent& one) {
    return "{\"rank\":" + number(one.rank) +
           ",\"state\":" + text(missing::name_of(static_cast<tollbar_absence>(one.where))) +
           ",\"process\":" + number(one.process) + ",\"thread\":" + number(one.thread) +
           ",\"behind\":" + number(one.behind) + "}";
}

/// Empty where nobody is missing, or nobody has arrived.
std::string sentence_of(const SeenGroup& group) {
    if (group.missing.empty() || group.arrived.empty()) return "";
    const std::string name = group.name.empty() ? "a group without a name" : "group '" + group.name + "'";
    return missing::sentence_of({.about = name + " (" + number(group.ranks) + " ranks, " + group.plan + "), episode " +
                                          number(group.episode),
                                 .waiter = number(group.arrived.size()) + " of " + number(group.ranks),
                                 .how = " have arrived",
                                 .clauses = missing::clauses_of(missing::members_of(group.missing))})
        .text;
}

std::string of_group(const SeenGroup& group) {
    return "{\"name\":" + text(group.name) + ",\"plan\":" + text(group.plan) + ",\"ranks\":" + number(group.ranks) +
           ",\"episode\":" + number(group.episode) + ",\"sentence\":" + text(sentence_of(group)) +
           ",\"missing\":" + list(group.missing, of_member) + ",\"arrived\":" + list(group.arrived, of_member) + "}";
}

}  // namespace

std::string to_json(const Look& look) {
    return "{\"processes\":" + list(look.processes, of_process) + ",\"groups\":" + list(look.groups, of_group) + "}\n";
}

}  // namespace tollbar::look
