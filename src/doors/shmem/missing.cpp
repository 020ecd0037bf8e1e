// SPDX-License-Identifier: Apache-2.0
// Reads other PEs' blocks where their memory can be read, and else goes by the plan.
#include "missing.hpp"

#include "analysis/unheard.hpp"
#include "base/process.hpp"
#include "missing/sentence.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>

namespace tollbar::detail::shmem {

namespace {

constexpr const char* all_posted =
    "all PEs have posted, but some of them neither test nor wait and so pass no signals on";

/// A peer's block; null where it can not be read.
std::uint64_t* words_at(const tollbar_shmem_barrier& barrier, int pe) {
    return static_cast<std::uint64_t*>(shmem_ptr(barrier.block.words(), pe));
}

/// The PEs of which the plan has no proof yet.
std::vector<int> unheard_pes(const tollbar_shmem_barrier& barrier) {
    std::vector<int> pes;
    const Rank self = *barrier.members.self;
    for (const Rank rank : unheard(*barrier.plan, self, barrier.steps[barrier.runner->steps_done()].done)) {
        // A PE that signals this one itself may have done so out of turn.
        const bool has_signalled = std::ranges::any_of(barrier.steps, [&](const ShmemTransport::Step& step) {
            return step.kind == Step::Kind::await && step.peer == rank && barrier.runner->transport().signalled(step);
        });
        if (!has_signalled) pes.push_back(barrier.members.pes[rank]);
    }
    return pes;
}

/// The PE with what its block says of it, where that can be read.
tollbar_missing described(const tollbar_shmem_barrier& barrier, int pe) {
    const Episode episode = barrier.runner->episode();
    tollbar_missing one = missing::unknown_member(static_cast<Rank>(pe), barrier.waited.ns(episode), "");
    std::uint64_t* words = words_at(barrier, pe);
    if (words == nullptr) return one;
    const Block::Owner owner = Block::owner(words);
    one.process = static_cast<std::int64_t>(owner.process);
    one.state = owner.process == 0                                           ? TOLLBAR_NEVER_JOINED
                : is_running(static_cast<pid_t>(owner.process), owner.start) ? TOLLBAR_RUNNING
                                                                             : TOLLBAR_DEAD;
    if (owner.process != 0) one.behind = episode - Block::entered(words);
    return one;
}

void set_fault(tollbar_shmem_barrier& barrier, int error, const std::string& line) {
    barrier.what = line;
    barrier.fault = error;
}

/// The barrier that this memory is, as that PE says; 0 for none, or where it can not be read.
std::uint64_t identity_at(const tollbar_shmem_barrier& barrier, int pe) {
    std::uint64_t* words = words_at(barrier, pe);
    return words == nullptr ? 0 : Block::identity(words);
}

void blame_foreigner(tollbar_shmem_barrier& barrier, Signature theirs, const std::string& who) {
    const auto mine = static_cast<Signature>(barrier.identity);
    const std::string what = theirs >> 16 != mine >> 16 ? "another group or tag" : "another plan or kind of signals";
    set_fault(barrier, EPROTO,
              who + " made this barrier with " + what + " than " + pe_text(shmem_my_pe()) + " (" + barrier.spelling +
                  ", " + std::to_string(barrier.members.size()) + " PEs)");
}

/// Looks for the PE that may have written a word with that signature.
std::string writer_of(const tollbar_shmem_barrier& barrier, Signature signature) {
    for (int pe = 0; pe < shmem_n_pes(); ++pe)
        if (const std::uint64_t identity = identity_at(barrier, pe);
            identity != 0 && static_cast<Signature>(identity) == signature)
            return pe_text(pe);
    return "some PE";
}

void examine_slots(tollbar_shmem_barrier& barrier) {
    const auto fault = barrier.runner->transport().fault();
    if (!fault) return;
    if (fault->reading == Reading::foreign) {
        const auto theirs = static_cast<Signature>(fault->word >> 32);
        blame_foreigner(barrier, theirs, writer_of(barrier, theirs));
        return;
    }
    std::string who = "some PE";
    for (const ShmemTransport::Step& step : barrier.steps)
        if (step.kind == Step::Kind::await && step.slot == fault->slot && !is_role(step.peer))
            who = pe_text(barrier.members.pes[step.peer]);
    set_fault(barrier, EBADMSG,
              who + " claims an episode that it cannot have reached (" +
                  std::to_string(static_cast<std::uint32_t>(fault->word)) + " while " + pe_text(shmem_my_pe()) +
                  " is in " + std::to_string(static_cast<std::uint32_t>(barrier.runner->episode())) +
                  "): something else writes to the barrier's memory");
}

}  // namespace

std::vector<tollbar_missing> missing_of(const tollbar_shmem_barrier& barrier) {
    if (!barrier.open || barrier.runner->finished()) return {};
    std::vector<int> pes = unheard_pes(barrier);
    std::erase_if(pes, [&](int pe) {
        return identity_at(barrier, pe) == barrier.identity &&
               static_cast<std::int64_t>(Block::entered(words_at(barrier, pe)) - barrier.runner->episode()) >= 0;
    });
    std::ranges::sort(pes);
    std::vector<tollbar_missing> list;
    list.reserve(pes.size());
    for (const int pe : pes) list.push_back(described(barrier, pe));
    return list;
}

std::string in_words(const std::vector<tollbar_missing>& missing) {
    return missing::text_of(missing::members_of(missing, "PE"), all_posted);
}

void report(const tollbar_shmem_barrier& barrier, std::chrono::duration<double> waited) {
    missing::report({.about = "barrier of " + std::to_string(barrier.members.size()) + " PEs (" + barrier.spelling +
                              "), episode " + std::to_string(barrier.runner->episode()),
                     .waiter = pe_text(shmem_my_pe()),
                     .waited_s = waited.count(),
                     .clauses = missing::clauses_of(missing::members_of(missing_of(barrier), "PE"), all_posted)});
}

void examine(tollbar_shmem_barrier& barrier) noexcept {
    try {
        for (const int pe : barrier.members.pes)
            if (const std::uint64_t theirs = identity_at(barrier, pe); theirs != 0 && theirs != barrier.identity)
                return blame_foreigner(barrier, static_cast<Signature>(theirs), pe_text(pe));
        examine_slots(barrier);
    } catch (const std::exception&) {  // no memory for the words: the next examination finds it again
        barrier.fault = 0;
    }
}

}  // namespace tollbar::detail::shmem
