// SPDX-License-Identifier: Apache-2.0
// Lays out, fills and checks the memory of a group, and hands out its ranks.
#include "segment.hpp"

#include <tollbar/detail/clusters.hpp>

#include "runtime/error.hpp"
#include "runtime/files.hpp"
#include "runtime/process.hpp"
#include "runtime/say.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace tollbar {

namespace {

constexpr std::string_view signature = "tollbar group 3\n";
constexpr std::size_t longest_plan = 255;

// What RankRecord::process says besides the number of a process.
constexpr pid_t left_inside = -1;

/// Fowler, Noll, Vo: FNV-1a. Finds damage, not malice.
std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t sum = 0xcbf2'9ce4'8422'2325) {
    for (const std::byte byte : bytes) sum = (sum ^ std::to_integer<std::uint64_t>(byte)) * 0x100'0000'01b3;
    return sum;
}

std::size_t in_lines(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

/// start_of() this process, which is asked of the kernel once.
std::uint64_t own_start() {
    static std::mutex mutex;
    static std::pair<pid_t, std::uint64_t> known{0, 0};
    const std::lock_guard lock(mutex);
    if (known.first != getpid()) known = {getpid(), start_of(getpid())};
    return known.second;
}

}  // namespace

/// The beginning of a segment. The first part is written once, before anybody else sees it.
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
    Seating seating;
    char plan[longest_plan + 1];

    alignas(line_bytes) std::atomic<std::uint32_t> joined;
    std::atomic<Crowding> crowding;

    // Where the parts lie, in bytes from the beginning.
    std::size_t records() const { return in_lines(sizeof(Header)); }
    std::size_t sleepers_at() const { return records() + ranks * sizeof(RankRecord); }
    std::size_t seats_at() const { return sleepers_at() + sleepers * sizeof(Sleepers<NativeSync>); }
    std::size_t words() const { return in_lines(seats_at() + seats() * sizeof(Seat)); }
    std::size_t first() const { return words() + std::size_t{lines} * line_bytes; }
    std::size_t program() const { return in_lines(first() + (ranks + std::size_t{1}) * sizeof(std::uint32_t)); }
    Rank seats() const { return seating.groups == 0 ? 0 : ranks; }
    std::size_t end() const { return in_lines(program() + steps * sizeof(PlacedStep)); }

    template <class T>
    T* at(std::size_t offset) {
        return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(this) + offset);
    }

    /// What the checksum should be. For a header whose sizes are sound.
    std::uint64_t sum() {
        const auto* begin = at<const std::byte>(0);
        const std::uint64_t header = tollbar::checksum(
            {at<const std::byte>(offsetof(Header, bytes)), begin + offsetof(Header, joined)});
        return tollbar::checksum({begin + first(), begin + end()}, header);
    }

    bool sound(std::size_t size) {
        if (size < sizeof(Header) || std::string_view(signature, sizeof signature) != tollbar::signature) return false;
        if (bytes != size || ranks == 0 || ranks > max_ranks || end() != size || checksum != sum()) return false;
        if (seats() > 0 && (seating.groups > ranks || seating.group_of(ranks - 1) >= seating.groups)) return false;
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

/// Waiters that will usually find a CPU pay for the wakers; when crowded nobody should pay for membarrier.
bool asymmetric(const Blueprint& blueprint) {
    return blueprint.may_use_membarrier && blueprint.wait == wait_policy::automatic &&
           blueprint.ranks <= std::min(usable_cpus(), quota_cpus()) && NativeSync::register_for_heavy_fence();
}

}  // namespace

std::size_t Segment::bytes_for(const Blueprint& blueprint) {
    if (blueprint.plan.size() > longest_plan)
        throw std::invalid_argument("a plan's spelling has at most " + std::to_string(longest_plan) + " characters");
    Header header{};
    header.ranks = blueprint.ranks;
    header.lines = blueprint.layout.lines;
    header.sleepers = blueprint.layout.sleepers;
    header.steps = static_cast<std::uint32_t>(blueprint.layout.steps.size());
    header.seating = blueprint.seating;
    return header.end();
}

void Segment::build(const Blueprint& blueprint) {
    const Layout& layout = blueprint.layout;
    Header& header = *new (memory_) Header{};
    std::ranges::copy(signature, header.signature);
    header.bytes = bytes_;
    header.ranks = blueprint.ranks;
    header.lines = layout.lines;
    header.sleepers = layout.sleepers;
    header.steps = static_cast<std::uint32_t>(layout.steps.size());
    header.seating = blueprint.seating;
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
    for (Rank seat = 0; seat < header.seats(); ++seat) new (header.at<Seat>(header.seats_at()) + seat) Seat;
    auto* words = header.at<Word<NativeSync>>(header.words());
    for (std::uint32_t i = 0; i < header.lines * Layout::words_a_line; ++i) new (words + i) Word<NativeSync>{0};
    for (const PlacedStep& step : layout.steps)
        words[step.word].store(header.start * step.share, std::memory_order_relaxed);
    std::ranges::copy(layout.first, header.at<std::uint32_t>(header.first()));
    std::ranges::copy(layout.steps, header.at<PlacedStep>(header.program()));
    if (!name_.empty()) header.checksum = header.sum();  // others open it by name alone
}

Segment::Segment(const Blueprint& blueprint) : bytes_(bytes_for(blueprint)) {
    const int sharing = blueprint.scope == Scope::shared ? MAP_SHARED : MAP_PRIVATE;
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw_errno("cannot get " + std::to_string(bytes_) + " bytes for a group");
    memory_ = static_cast<std::byte*>(memory);
    build(blueprint);
}

Segment::Segment(std::string_view name, const Blueprint& blueprint, bool any_plan) : name_(name) {
    bytes_ = bytes_for(blueprint);
    file_.open(name, signature, bytes_, [&](std::byte* memory) {
        memory_ = memory;
        build(blueprint);
    });
    memory_ = file_.map(bytes_);
    const auto refuse = [&](const std::string& why) {
        munmap(memory_, bytes_);
        throw OtherSegment(what() + " " + why);
    };
    if (bytes_ < sizeof(Header) || !header().sound(bytes_)) refuse("is damaged, or another version of tollbar made it");
    if (header().ranks != blueprint.ranks)
        refuse("has " + std::to_string(header().ranks) + " ranks, not " + std::to_string(blueprint.ranks));
    if (!any_plan && header().plan != blueprint.plan)
        refuse("runs '" + std::string(header().plan) + "', not '" + blueprint.plan + "'");
}

Segment::Segment(std::byte* memory, const Blueprint& blueprint)
    : memory_(memory), bytes_(bytes_for(blueprint)), mapped_here_(false) {
    build(blueprint);
}

Segment::Segment(std::byte* memory) : memory_(memory), mapped_here_(false) { bytes_ = header().bytes; }

Segment::~Segment() {
    if (mapped_here_) munmap(memory_, bytes_);
}

Segment::Header& Segment::header() const noexcept { return *std::launder(reinterpret_cast<Header*>(memory_)); }

std::string Segment::what() const { return name_.empty() ? "the group" : "group '" + name_ + "'"; }

Rank Segment::ranks() const noexcept { return header().ranks; }

std::string Segment::plan() const { return header().plan; }

Episode Segment::start() const noexcept { return header().start; }

wait_policy Segment::wait() const noexcept { return header().wait; }

Waking Segment::waking() const noexcept { return header().waking; }

const std::atomic<Crowding>& Segment::crowding() const noexcept { return header().crowding; }

RankRecord& Segment::record(Rank rank) const noexcept { return header().at<RankRecord>(header().records())[rank]; }

void Segment::take_rank(Rank rank, const Standing& standing) {
    if (header().waking.asymmetric && !NativeSync::register_for_heavy_fence())
        throw std::invalid_argument(what() + " needs membarrier(2), which this process may not call");
    // All that may fail or take its time comes before the rank is ours.
    const std::uint64_t start = own_start();
    RankRecord& record = this->record(rank);
    pid_t holder = 0;
    if (!record.process.compare_exchange_strong(holder, getpid(), std::memory_order_acquire)) {
        const std::string which = "rank " + std::to_string(rank) + " of " + what();
        if (holder == left_inside)
            throw RankTaken(which + " was given up in the middle of an episode; the group must be made anew");
        const bool alive = is_running(holder, record.process_start.load(std::memory_order_relaxed));
        throw RankTaken(which + " is taken by process " + std::to_string(holder) +
                        (alive ? "" : ", which is gone; the group must be made anew"));
    }
    record.process_start.store(start, std::memory_order_relaxed);
    record.thread.store(gettid(), std::memory_order_relaxed);
    record.last_process.store(getpid(), std::memory_order_relaxed);
    record.standing.set(standing);
    if (header().joined.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks()) judge_crowding();
}

void Segment::give_up_rank(Rank rank, Leaving leaving) noexcept {
    RankRecord& record = this->record(rank);
    header().joined.fetch_sub(1, std::memory_order_seq_cst);  // pairs with the second look in judge_crowding()
    header().crowding.store(Crowding::unknown, std::memory_order_seq_cst);
    record.process_start.store(0, std::memory_order_relaxed);  // so that nobody takes it for the next holder's
    record.process.store(leaving == Leaving::between_episodes ? 0 : left_inside, std::memory_order_release);
}

void Segment::judge_crowding() noexcept {
    auto verdict = Crowding::crowded;
    try {
        std::vector<Standing> everybody;
        for (Rank rank = 0; rank < ranks(); ++rank) everybody.push_back(record(rank).standing.get());
        verdict = crowding_of(everybody);
    } catch (const std::bad_alloc&) {  // then nobody spins
    }
    header().crowding.store(verdict, std::memory_order_seq_cst);
    // Somebody may have left meanwhile.
    if (header().joined.load(std::memory_order_seq_cst) != ranks())
        header().crowding.store(Crowding::unknown, std::memory_order_relaxed);
}

void Segment::demand_rank(Rank rank) const {
    if (rank >= ranks())
        throw std::invalid_argument(what() + " has ranks 0.." + std::to_string(ranks() - 1) + ", no rank " +
                                    std::to_string(rank));
}

Rank Segment::seat_of(Rank rank) const noexcept {
    Header& header = this->header();
    if (header.seats() == 0) return rank;
    return take_seat({header.at<Seat>(header.seats_at()), header.seats()}, header.seating, rank, NativeSync::vicinity(),
                     usable_clusters());
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
            {wait(), waking(), crowding()}};
}

void Segment::report_missing(Rank waiting, Episode episode, std::chrono::duration<double> waited) const {
    std::string line;
    for (const absent& one : missing(episode)) line += (line.empty() ? "" : "; ") + to_text(one);
    if (line.empty()) line = "all ranks have arrived, but a signal that this rank awaits has not been passed on yet";
    tollbar_report("%s (%u ranks, %s): rank %u has waited %.1f s in episode %llu: %s", what().c_str(),
                   static_cast<unsigned>(ranks()), header().plan, static_cast<unsigned>(waiting), waited.count(),
                   static_cast<unsigned long long>(episode), line.c_str());
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

}  // namespace tollbar
