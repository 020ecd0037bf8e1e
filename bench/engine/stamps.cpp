// SPDX-License-Identifier: Apache-2.0
// Entry and exit times of single episodes, one row a rank, and what they say about the barrier.
#include "stamps.hpp"

#include <fstream>
#include <stdexcept>

namespace tollbar::bench {

namespace {

constexpr std::size_t in_a_line = line_bytes / sizeof(Stamp);

constexpr std::size_t stride_of(std::size_t episodes) { return (episodes / in_a_line + 2) * in_a_line; }

}  // namespace

Stamps::Stamps(Rank ranks, std::size_t episodes)
    : ranks_(ranks), episodes_(episodes), stride_(stride_of(episodes)), own_(ranks * stride_), stamps_(own_.data()) {}

Stamps::Stamps(Rank ranks, std::size_t episodes, void* memory)
    : ranks_(ranks), episodes_(episodes), stride_(stride_of(episodes)), stamps_(static_cast<Stamp*>(memory)) {}

std::size_t Stamps::bytes(Rank ranks, std::size_t episodes) noexcept {
    return ranks * stride_of(episodes) * sizeof(Stamp);
}

Samples Stamps::evaluate(std::size_t episodes) const {
    Samples samples;
    samples.inside_each.resize(ranks_);
    Ticks before = 0;
    for (std::size_t episode = 0; episode < episodes; ++episode) {
        Rank last_in = 0;
        Rank first_in = 0;
        Rank last_out = 0;
        Rank first_out = 0;
        Ticks inside = 0;
        const auto at = [&](Rank rank) -> const Stamp& { return stamps_[rank * stride_ + episode]; };
        for (Rank rank = 0; rank < ranks_; ++rank) {
            inside += at(rank).exit - at(rank).entry;
            samples.inside_each[rank] += nanoseconds(at(rank).exit - at(rank).entry) / static_cast<double>(episodes);
            if (at(rank).entry > at(last_in).entry) last_in = rank;
            if (at(rank).entry < at(first_in).entry) first_in = rank;
            if (at(rank).exit > at(last_out).exit) last_out = rank;
            if (at(rank).exit < at(first_out).exit) first_out = rank;
        }
        const Ticks entered = at(last_in).entry;
        const Ticks left = at(last_out).exit;
        if (at(first_out).exit + apart() < entered) {
            samples.violation = {episode, first_out, last_in, nanoseconds(entered - at(first_out).exit)};
            return samples;
        }
        samples.latency.push_back(nanoseconds(left - entered));
        samples.skew.push_back(nanoseconds(left - at(first_out).exit));
        samples.span.push_back(nanoseconds(left - at(first_in).entry));
        samples.call.push_back(nanoseconds(at(0).exit - at(0).entry));
        samples.inside += nanoseconds(inside) / (static_cast<double>(ranks_) * static_cast<double>(episodes));
        if (episode > 0) samples.period.push_back(nanoseconds(entered - before));
        before = entered;
    }
    return samples;
}

void Stamps::write_profile(std::size_t episodes, const std::string& file) const {
    std::ofstream out(file);
    out << "thread,event,value\n";
    for (Rank rank = 0; rank < ranks_; ++rank)
        for (std::size_t episode = 1; episode < episodes; ++episode) {
            const Stamp* stamp = stamps_ + rank * stride_ + episode;
            out << rank << ",compute," << nanoseconds(stamp->entry - (stamp - 1)->exit) / 1e3 << '\n'
                << rank << ",barrier,\n";
        }
    if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

}  // namespace tollbar::bench
