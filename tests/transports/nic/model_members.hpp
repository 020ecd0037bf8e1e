// SPDX-License-Identifier: Apache-2.0
// Members of a group for the model checker, whose words NICs keep: one with a NIC, and one whose host handles its
// frames.
#pragma once

#include "relacy_sync.hpp"

using toll_word = rl::atomic<std::uint64_t>;

inline std::uint64_t toll_load(const toll_word* word) { return word->load(rl::mo_relaxed, RL_INFO); }
#define toll_load toll_load

/// The kernel's: a full fence on both sides when it succeeds. Relaxed loads before it rely on that.
inline std::uint64_t toll_swap(toll_word* word, std::uint64_t before, std::uint64_t after) {
    const std::uint64_t expected = before;
    tollbar::model::fence();
    word->compare_exchange(rl::bool_t<false>(), before, after, rl::mo_seq_cst, rl::mo_seq_cst, RL_INFO);
    if (before == expected) tollbar::model::fence();
    return before;
}

#include "wire/protocol.h"

#include "host_member.hpp"
#include "wire/steps.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace tollbar::model {

using testing::Frames;
using testing::of_group;

inline toll_frame sealed(const toll_sip& sealing, toll_frame frame) {
    frame.mac = toll_mac_of(&sealing, &frame);
    return frame;
}

/// Takes in frames on any thread. Each call returns the frames that it sends.
class Member {
public:
    virtual ~Member() = default;
    virtual Frames enter(std::uint64_t episode) = 0;
    virtual bool over(std::uint64_t episode) = 0;
    virtual Frames ask_again(std::uint64_t episode) = 0;
    virtual Frames hear(const toll_frame& frame) = 0;
};

/// A member whose NIC runs its program, as nic.bpf.c does.
class Nic final : public Member {
public:
    /// Without steps: of a group that rank 0's NIC counts.
    Nic(Rank self, Rank ranks, std::vector<toll_step> steps, std::uint64_t drawn, bool admitted)
        : steps_(std::move(steps)) {
        program_ = {.steps = 1, .signals = 0, .awaits = 1};
        if (!steps_.empty()) program_ = {.steps = static_cast<toll_u32>(steps_.size()), .signals = 0, .awaits = 0};
        for (std::size_t s = 0; s < steps_.size(); ++s) {
            program_.signals |= static_cast<toll_u32>(steps_[s].to != TOLLBAR_NOBODY) << s;
            program_.awaits |= static_cast<toll_u32>(steps_[s].from != TOLLBAR_NOBODY) << s;
            sent_.push_back(std::make_unique<rl::atomic<std::uint64_t>>(0));
        }
        for (toll_word* word :
             {&self_.incarnation, &self_.refusal, &admitted_, &state_.released, &state_.counted[0], &state_.counted[1]})
            word->store(0, rl::mo_relaxed, RL_INFO);
        for (toll_word& word : state_.signalled) word.store(0, rl::mo_relaxed, RL_INFO);
        state_.at.store(toll_at(0, program_.steps), rl::mo_relaxed, RL_INFO);
        const toll_identity who = testing::identity();
        toll_become(&self_, &who, drawn, self, ranks, ranks, steps_.empty() ? toll_star : toll_plan);
        if (admitted) toll_begin(&self_, of_group);
    }

    Frames enter(std::uint64_t episode) override {
        if (!toll_enter(&state_, &program_, episode)) return {};
        if (toll_load(&self_.incarnation) == 0) return join();
        if (steps_.empty()) return gather(episode);
        toll_u64 now = episode;
        const toll_u32 due = (program_.signals & 1) | toll_advance(&state_, &program_, episode, &now);
        return emit(due, now);
    }

    bool over(std::uint64_t episode) override {
        return state_.at.load(rl::mo_acquire, RL_INFO) == toll_at(episode, program_.steps);
    }

    Frames ask_again(std::uint64_t episode) override {
        if (toll_load(&self_.incarnation) == 0) return join();
        if (steps_.empty()) return gather(episode);
        const toll_u32 step = toll_step_of(toll_load(&state_.at));
        if (step >= steps_.size() || steps_[step].from == TOLLBAR_NOBODY) return {};
        return {frame(steps_[step].from, toll_pull, steps_[step].from_step, episode)};
    }

    Frames hear(const toll_frame& heard) override {
        const toll_u16 step = toll_net16(heard.step);
        const Rank source = toll_net16(heard.source);
        const bool ours = step < steps_.size();
        const toll_subject subject{.from = ours ? steps_[step].from : TOLLBAR_NOBODY,
                                   .to = ours ? steps_[step].to : TOLLBAR_NOBODY,
                                   .signalled = &state_.signalled[step & toll_step_mask],
                                   .admitted = &admitted_};
        const toll_u64 at = state_.at.load(rl::mo_acquire, RL_INFO);  // an answer carries what it was seen with
        const toll_reply reply = toll_hear(&self_, &heard, toll_now_at(at), subject);
        toll_u64 episode = reply.proof;
        switch (reply.verdict) {
            case toll_known:
            case toll_believed:
            case toll_not_yet: {
                const toll_u32 due = toll_advance(&state_, &program_, reply.proof, &episode);
                return emit(due, episode);
            }
            case toll_to_repeat: return {message(step, reply.episode)};
            case toll_to_answer: return {frame(source, reply.kind, reply.step, reply.episode)};
            case toll_to_count: return count_in(source, reply.proof);
            case toll_to_gather: return gather(reply.episode);
            case toll_to_join: return join();
            case toll_to_reply: {
                toll_frame answer = toll_unsealed(&self_.who, heard.incarnation, reply.kind, reply.step, self_.rank,
                                                  source, reply.episode);
                answer.digest = heard.digest;
                return {sealed(reply.sealing, answer)};
            }
            case toll_to_begin: {
                const toll_u32 due = toll_begin_at(&self_, toll_net64(reply.episode), &state_, &program_, &episode);
                return emit(due, episode);
            }
            default: return {};
        }
    }

    Frames join() const {
        return {sealed(self_.by_drawn, toll_unsealed(&self_.who, self_.drawn, toll_join, 0, self_.rank,
                                                     toll_admits_of(self_.rank), 0))};
    }

private:
    toll_frame frame(Rank to, unsigned kind, toll_u16 step, std::uint64_t episode) const {
        return sealed(self_.sealing,
                      toll_unsealed(&self_.who, of_group, static_cast<toll_u8>(kind), step, self_.rank, to, episode));
    }

    toll_frame message(std::size_t step, std::uint64_t episode) const {
        return frame(steps_[step].to, toll_signal, steps_[step].to_step, episode);
    }

    /// A message of a step may leave once the step is entered, and leaves once an episode, except on admission.
    Frames emit(toll_u32 due, std::uint64_t episode) {
        Frames frames;
        for (toll_u32 step = 0; step < steps_.size(); ++step) {
            if ((due >> step & 1) == 0) continue;
            RL_ASSERT(!toll_newer(toll_at(episode, step), toll_load(&state_.at)));
            const std::uint64_t before = sent_[step]->exchange(episode, rl::mo_acq_rel, RL_INFO);
            RL_ASSERT(before == episode - 1 || self_.drawn != of_group);
            frames.push_back(message(step, episode));
        }
        return frames;
    }

    Frames gather(std::uint64_t episode) {
        if (self_.rank == 0) return count_in(0, episode);
        return {frame(0, toll_gather, 0, episode)};
    }

    Frames count_in(Rank source, std::uint64_t episode) {
        const std::uint64_t released = state_.released.load(rl::mo_acquire, RL_INFO);
        if (toll_newer(episode, released + 1)) return {};
        if (!toll_newer(episode, released)) {
            if (source == 0) return {};
            return {frame(source, toll_release, 0, released)};
        }
        if (toll_count(&state_, self_.ranks, source, episode) == 0) return {};
        toll_record(&state_.signalled[0], episode);
        toll_u64 now = episode;
        toll_advance(&state_, &program_, episode, &now);
        Frames frames;
        for (Rank rank = 1; rank < self_.ranks; ++rank) frames.push_back(frame(rank, toll_release, 0, episode));
        return frames;
    }

    toll_member self_;
    toll_word admitted_;  ///< of the one rank that it admits
    toll_state state_;
    toll_program program_{};
    std::vector<toll_step> steps_;
    std::vector<std::unique_ptr<rl::atomic<std::uint64_t>>> sent_;  ///< by step: the newest episode that was signalled
};

/// A member without a NIC: its host takes in one frame at a time, under the mutex of AnsweringRunner.
class Host final : public Member {
public:
    Host(const Plan& plan, Rank self) : host_(plan, self) {}

    template <class Call>
    auto inside(Call call) {
        mutex_.lock(RL_INFO);
        auto result = call();
        mutex_.unlock(RL_INFO);
        return result;
    }

    Frames enter(std::uint64_t) override {
        return inside([&] { return host_.enter(); });
    }
    bool over(std::uint64_t) override {
        return inside([&] { return host_.over(); });
    }
    Frames ask_again(std::uint64_t) override {
        return inside([&] { return host_.over() ? Frames() : host_.pull(); });
    }
    Frames hear(const toll_frame& frame) override {
        return inside([&] { return host_.hear(frame); });
    }

private:
    rl::mutex mutex_;
    testing::HostMember host_;
};

}  // namespace tollbar::model
