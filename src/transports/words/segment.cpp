// SPDX-License-Identifier: Apache-2.0
// Lays out, fills and checks the memory of a group, and hands out its ranks.
#include "segment.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/fnv.hpp"
#include "base/process.hpp"
#include "base/thread_id.hpp"
#include "missing/sentence.hpp"
#include "plan/wording.hpp"
#include "waiting/clusters.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace tollbar::detail {

namespace {

constexpr std::string_view signature = "tollbar group 4\n";
constexpr std::size_t longest_plan = 255;

// RankRecord::process holds this in place of a process's number when the rank was given up inside an episode.
constexpr pid_t left_inside = -1;

std::size_t in_lines(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

/// start_of() this process, which is asked of the kernel once.
std::uint64_t own_start() {
    static constinit std::atomic<pid_t> of{0};
    static constinit std::atomic<std::uint64_t> known{0};
    const pid_t self = getpid();  // a child after fork(2) is another process
    if (of.load(std::memory_order_acquire) != self) {
        known.store(start_of(self), std::memory_order_relaxed);
        of.store(self, std::memory_order_release);  // pairs with the load: threads at the same time store the same
    }
    return known.load(std::memory_order_relaxed);
}

}  // namespace

/// The beginning of a segment. The first part is written once, before other processes see it.
struct Segment::Header {
    char signature[16];
    std::uint64_t checksum;  ///< of all that is written once
    std::uint64_t bytes;
    std::uint32_t ranks;
    std::uint32_t lines;
    std::uint32_t sleepers;
    std::uint32_t steps;
    Episode start;
    wait_policy wait;
    Waking waking;
    SlotGroups slot_groups;
    char plan[longest_plan + 1];

    alignas(line_bytes) std::atomic<std::uint32_t> joined;
    std::atomic<Occupancy> occupancy;

    void set_sizes(const Blueprint& blueprint) {
        ranks = blueprint.ranks;
        lines = blueprint.layout.lines;
        sleepers = blueprint.layout.sleepers;
        steps = static_cast<std::uint32_t>(blueprint.layout.steps.size());
        slot_groups = blueprint.slot_groups;
    }

    // Offsets of the parts, in bytes from the beginning.
    std::size_t records() const { return in_lines(sizeof(Header)); }
    std::size_t sleepers_at() const { return records() + ranks * sizeof(RankRecord); }
    std::size_t slots_at() const { return sleepers_at() + sleepers * sizeof(Sleepers<NativeSync>); }
    std::size_t words() const { return in_lines(slots_at() + slots() * sizeof(Slot)); }
    std::size_t first() const { return words() + std::size_t{lines} * line_bytes; }
    std::size_t program() const { return in_lines(first() + (ranks + std::size_t{1}) * sizeof(std::uint32_t)); }
    Rank slots() const { return slot_groups.groups == 0 ? 0 : ranks; }
    std::size_t end() const { return in_lines(program() + steps * sizeof(PlacedStep)); }

    template <class T>
    T* at(std::size_t offset) {
        return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(this) + offset);
    }

    /// The checksum of a header whose sizes are sound.
    std::uint64_t sum() {
        const auto* begin = at<const std::byte>(0);
        const std::uint64_t header = fnv1a({begin + offsetof(Header, bytes), begin + offsetof(Header, joined)});
        return fnv1a({begin + first(), begin + end()}, header);
    }

    bool sound(std::size_t size) {
        if (size < sizeof(Header) || std::string_view(signature, sizeof signature) != tollbar::detail::signature)
            return false;
        if (bytes != size || ranks == 0 || ranks > max_ranks || end() != size || checksum != sum()) return false;
        if (slots() > 0 && (slot_groups.groups > ranks || slot_groups.group_of(ranks - 1) >= slot_groups.groups))
            return false;
        const auto* begins = at<std::uint32_t>(first());
        const auto* placed = at<PlacedStep>(program());
        if (begins[0] != 0 || begins[ranks] != steps || !std::is_sorted(begins, begins + ranks + 1)) return false;
        for (Rank rank = 0; rank < ranks; ++rank)
            for (std::uint32_t i = begins[rank]; i < begins[rank + 1]; ++i)
                if (placed[i].word >= lines * Layout::words_a_line || placed[i].sleepers >= sleepers ||
                    placed[i].kind > WordKind::meet || placed[i].skip >= begins[rank + 1] - i)
                    return false;
        return true;
    }
};

namespace {

/// Waiters that will usually find a CPU pay for the wakers; when crowded no thread should pay for membarrier.
bool asymmetric(const Blueprint& blueprint) {
    return blueprint.may_use_membarrier && blueprint.wait == wait_policy::automatic &&
           blueprint.ranks <= std::min(usable_cpus(), quota_cpus()) && NativeSync::register_for_heavy_fence();
}

}  // namespace

std::size_t Segment::bytes_for(const Blueprint& blueprint) {
    if (blueprint.plan.size() > longest_plan)
        throw std::invalid_argument(worded({"a plan's spelling has at most ", longest_plan, " characters"}));
    Header header{};
    header.set_sizes(blueprint);
    return header.end();
}

void Segment::build(const Blueprint& blueprint) {
    const Layout& layout = blueprint.layout;
    Header& header = *new (memory_) Header{};
    header.set_sizes(blueprint);
    std::ranges::copy(signature, header.signature);
    header.bytes = header.end();
    header.start = blueprint.start;
    header.wait = blueprint.wait;
    const bool parks = blueprint.wait == wait_policy::automatic || blueprint.wait == wait_policy::park;
    header.waking = {.scope = blueprint.scope, .parks = parks, .asymmetric = asymmetric(blueprint)};
    std::ranges::copy(blueprint.plan, header.plan);

    for (Rank rank = 0; rank < header.ranks; ++rank)
        (new (header.at<RankRecord>(header.records()) + rank) RankRecord)
            ->arrived.store(header.start, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < header.sleepers; ++i)
        new (header.at<Sleepers<NativeSync>>(header.sleepers_at()) + i) Sleepers<NativeSync>;
    for (Rank slot = 0; slot < header.slots(); ++slot) new (header.at<Slot>(header.slots_at()) + slot) Slot;
    auto* words = header.at<Word<NativeSync>>(header.words());
    for (std::uint32_t i = 0; i < header.lines * Layout::words_a_line; ++i) new (words + i) Word<NativeSync>{0};
    for (const PlacedStep& step : layout.steps)
        words[step.word].store(header.start * step.share, std::memory_order_relaxed);
    std::ranges::copy(layout.first, header.at<std::uint32_t>(header.first()));
    std::ranges::copy(layout.steps, header.at<PlacedStep>(header.program()));
    header.checksum = header.sum();  // for those who open it by name, and those who look at it from outside
}

Segment::Segment(const Blueprint& blueprint) {
    const int sharing = blueprint.scope == Scope::shared ? MAP_SHARED : MAP_PRIVATE;
    const std::size_t bytes = bytes_for(blueprint);
    mapping_ = Mapping(bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1,
                       worded({"cannot get ", bytes, " bytes for a group"}));
    memory_ = mapping_.memory();
    build(blueprint);
}

Segment::Segment(std::string_view name, const Blueprint& blueprint, bool any_plan) : name_(name) {
    file_.open(name, signature, bytes_for(blueprint), [&](std::byte* memory) {
        memory_ = memory;
        build(blueprint);
    });
    mapping_ = file_.map();
    memory_ = mapping_.memory();
    const auto refuse = [&](const std::string& why) { throw OtherSegment(worded({what(), " ", why})); };
    if (!is_sound(memory_, mapping_.bytes())) refuse("is damaged, or another version of tollbar made it");
    if (header().ranks != blueprint.ranks) refuse(worded({"has ", header().ranks, " ranks, not ", blueprint.ranks}));
    if (!any_plan && header().plan != blueprint.plan)
        refuse(worded({"runs '", header().plan, "', not '", blueprint.plan, "'"}));
}

Segment::Segment(std::byte* memory, const Blueprint& blueprint) : memory_(memory) { build(blueprint); }

Segment::Segment(std::byte* memory) : memory_(memory) {}

std::size_t Segment::bytes_of(std::span<const std::byte> beginning) {
    static_assert(sizeof(Header) <= Segment::beginning);
    Header header;
    if (beginning.size() < sizeof header) return 0;
    std::memcpy(static_cast<void*>(&header), beginning.data(), sizeof header);
    return std::string_view(header.signature, sizeof header.signature) == signature ? header.bytes : 0;
}

bool Segment::is_sound(std::byte* memory, std::size_t bytes) {
    return bytes >= sizeof(Header) && std::launder(reinterpret_cast<Header*>(memory))->sound(bytes);
}

Segment::Header& Segment::header() const noexcept { return *std::launder(reinterpret_cast<Header*>(memory_)); }

std::string Segment::about(Episode episode) const {
    return worded(
        {what(), " (", ranks(), " ranks, ", std::string_view(header().plan), "), episode ", std::to_string(episode)});
}

std::string Segment::what() const { return name_.empty() ? "the group" : worded({"group '", name_, "'"}); }

Rank Segment::ranks() const noexcept { return header().ranks; }

std::string Segment::plan() const { return header().plan; }

Episode Segment::start() const noexcept { return header().start; }

wait_policy Segment::wait() const noexcept { return header().wait; }

Waking Segment::waking() const noexcept { return header().waking; }

const std::atomic<Occupancy>& Segment::occupancy() const noexcept { return header().occupancy; }

std::span<RankRecord> Segment::records() const noexcept {
    return {header().at<RankRecord>(header().records()), ranks()};
}

void Segment::take_rank(Rank rank, const Standing& standing) {
    if (header().waking.asymmetric && !NativeSync::register_for_heavy_fence())
        throw std::invalid_argument(worded({what(), " needs membarrier(2), which this process may not call"}));
    // All that may fail or take its time comes before the rank is ours.
    const std::uint64_t start = own_start();
    RankRecord& record = this->record(rank);
    pid_t holder = 0;
    if (!record.process.compare_exchange_strong(holder, getpid(), std::memory_order_acquire)) {
        const std::string which = worded({"rank ", rank, " of ", what()});
        if (holder == left_inside)
            throw RankTaken(worded({which, " was given up in the middle of an episode; the group must be made anew"}));
        const bool alive = is_running(holder, record.process_start.load(std::memory_order_relaxed));
        throw RankTaken(worded({which, " is taken by process ", std::to_string(holder),
                                alive ? "" : ", which is gone; the group must be made anew"}));
    }
    record.process_start.store(start, std::memory_order_relaxed);
    record.thread.store(thread_id(), std::memory_order_relaxed);
    record.last_process.store(getpid(), std::memory_order_relaxed);
    record.standing.set(standing);
    if (header().joined.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks()) judge_occupancy();
}

void Segment::give_up_rank(Rank rank, Leaving leaving) noexcept {
    RankRecord& record = this->record(rank);
    header().joined.fetch_sub(1, std::memory_order_seq_cst);  // pairs with the second look in judge_occupancy()
    header().occupancy.store(Occupancy::unknown, std::memory_order_seq_cst);
    record.process_start.store(0, std::memory_order_relaxed);  // so that it is not taken for the next holder's
    record.process.store(leaving == Leaving::between_episodes ? 0 : left_inside, std::memory_order_release);
}

void Segment::judge_occupancy() noexcept {
    auto verdict = Occupancy::oversubscribed;
    try {
        std::vector<Standing> all;
        for (Rank rank = 0; rank < ranks(); ++rank) all.push_back(record(rank).standing.get());
        verdict = occupancy_of(all);
    } catch (const std::bad_alloc&) {  // then no rank spins
    }
    header().occupancy.store(verdict, std::memory_order_seq_cst);
    // A rank may have left meanwhile.
    if (header().joined.load(std::memory_order_seq_cst) != ranks())
        header().occupancy.store(Occupancy::unknown, std::memory_order_relaxed);
}

void Segment::demand_rank(Rank rank) const {
    if (rank >= ranks())
        throw std::invalid_argument(worded({what(), " has ranks 0..", ranks() - 1, ", no rank ", rank}));
}

Rank Segment::slot_of(Rank rank) const noexcept {
    Header& header = this->header();
    if (header.slots() == 0) return rank;
    return take_slot({header.at<Slot>(header.slots_at()), header.slots()}, header.slot_groups, rank,
                     NativeSync::cluster(), usable_clusters());
}

std::vector<WordStep<NativeSync>> Segment::steps(Rank rank) const {
    demand_rank(rank);
    Header& header = this->header();
    const auto* first = header.at<std::uint32_t>(header.first());
    const auto* placed = header.at<PlacedStep>(header.program());
    auto* words = header.at<Word<NativeSync>>(header.words());
    auto* sleepers = header.at<Sleepers<NativeSync>>(header.sleepers_at());

    std::vector<WordStep<NativeSync>> steps;
    for (std::uint32_t i = first[rank]; i < first[rank + 1]; ++i)
        steps.push_back({.word = words + placed[i].word,
                         .sleepers = sleepers + placed[i].sleepers,
                         .share = placed[i].share,
                         .skip = placed[i].skip,
                         .kind = placed[i].kind,
                         .between_processors = placed[i].between_processors});
    return steps;
}

Runner<Words<NativeSync>> Segment::runner(Rank rank, std::span<const WordStep<NativeSync>> steps) const {
    return {steps.data(),
            static_cast<std::uint32_t>(steps.size()),
            record(rank).arrived.load(std::memory_order_relaxed),
            {wait(), waking(), occupancy()}};
}

void Segment::report_missing(Rank waiting, Episode episode, std::chrono::duration<double> waited) const {
    missing::report({.about = about(episode),
                     .waiter = "rank " + std::to_string(waiting),
                     .waited_s = waited.count(),
                     .clauses = missing::clauses_of(missing::members_of(missing(episode)),
                                                    "all ranks have arrived, but a signal that this rank awaits has "
                                                    "not been passed on yet")});
}

Episode Segment::latest() const noexcept {
    Episode latest = start();
    for (Rank rank = 0; rank < ranks(); ++rank)
        latest = std::max(latest, record(rank).arrived.load(std::memory_order_relaxed));
    return latest;
}

absent::state Segment::state_of(const RankRecord& record) const noexcept {
    const pid_t holder = record.process.load(std::memory_order_acquire);
    // A holder whose start is not known, or not yet, may be one whose number means nothing here.
    const std::uint64_t start = record.process_start.load(std::memory_order_relaxed);
    if (holder > 0 && start != 0 && !is_running(holder, start)) return absent::state::dead;
    if (holder > 0) return absent::state::running;
    const bool ever = record.last_process.load(std::memory_order_relaxed) != 0;
    return ever ? absent::state::left : absent::state::never_joined;
}

std::vector<absent> Segment::missing(Episode episode) const {
    std::vector<absent> missing;
    for (Rank rank = 0; rank < ranks(); ++rank) {
        const RankRecord& record = this->record(rank);
        const Episode arrived = record.arrived.load(std::memory_order_relaxed);
        const bool gone_inside = record.process.load(std::memory_order_relaxed) == left_inside;
        const auto where = state_of(record);
        if (arrived >= episode && where != absent::state::dead && !gone_inside) continue;
        const pid_t holder = record.process.load(std::memory_order_relaxed);
        missing.push_back({.rank = rank,
                           .where = where,
                           .process = holder > 0 ? holder : record.last_process.load(std::memory_order_relaxed),
                           .thread = record.thread.load(std::memory_order_relaxed),
                           .behind = episode - std::min(arrived, episode)});
    }
    return missing;
}

}  // namespace tollbar::detail
