// SPDX-License-Identifier: Apache-2.0
// A rank under test: pays its toll before the barrier, reads everybody's after it, and does what its desk says.
#pragma once

#include "board.hpp"

#include <chrono>
#include <concepts>
#include <sched.h>
#include <vector>

namespace tollbar::testing {

/// What a transport's rank must be able to do. `missing` may be asked at any time after the first arrive. A transport
/// that needs its ranks' calls to deliver has `idle()` too, which is called whenever a rank has nothing to do.
template <class M>
concept Member = requires(M member, std::chrono::milliseconds limit) {
    member.arrive();
    { member.test() } -> std::same_as<bool>;
    member.wait();
    member.arrive_and_wait();
    { member.wait_for(limit) } -> std::same_as<bool>;
    { member.missing() } -> std::same_as<std::vector<Rank>>;
};

template <Member M>
class Visitor {
public:
    Visitor(M member, Board& board, Rank self)
        : member_(std::move(member)), board_(board), desk_(board[self]), self_(self) {}

    void arrive() {
        pay();
        member_.arrive();
    }

    bool test() { return left_if(member_.test()); }
    bool wait_for(std::chrono::milliseconds limit) { return left_if(member_.wait_for(limit)); }

    std::vector<Rank> missing() const { return member_.missing(); }

    void wait() {
        member_.wait();
        left_if(true);
    }

    void arrive_and_wait() {
        pay();
        member_.arrive_and_wait();
        left_if(true);
    }

    /// Memory order: none but the barrier's; the late rank looks at the others through relaxed atomics.
    void run(FreeRun how) {
        for (std::uint32_t i = 0; i < how.episodes; ++i) {
            if (how.late_every != 0 && (episode_ + 1) % how.late_every == 0 &&
                (episode_ + 1) / how.late_every % board_.ranks() == self_)
                be_late();
            const auto way = how.mixed ? (episode_ + self_) % 4 : 0;
            if (way == 0) {
                arrive_and_wait();
                continue;
            }
            arrive();
            if (way == 1) wait();
            while (way == 2 && !test()) sched_yield();
            while (way == 3 && !wait_for(std::chrono::milliseconds(1))) {
            }
        }
    }

    /// Obeys the desk until it says stop.
    void serve() {
        for (std::uint32_t served = 0;; ++served) {
            while (!ordered(served)) {
            }
            if (desk_.call == Call::stop) break;
            desk_.done = obey();
            desk_.missing = 0;
            if (desk_.call == Call::missing || (desk_.call == Call::timed_wait && !desk_.done))
                for (const Rank rank : member_.missing()) desk_.missing |= std::uint64_t{1} << rank;
            count_one(desk_.reports);
        }
    }

private:
    static constexpr bool idles = requires(M member) { member.idle(); };

    void pass_time() {
        if constexpr (idles) member_.idle();
        sched_yield();
    }

    /// Waits for the next order, for a while.
    bool ordered(std::uint32_t served) {
        if constexpr (!idles) return changes(desk_.orders, served);
        pass_time();
        return desk_.orders.load(std::memory_order_acquire) != served;
    }

    bool obey() {
        switch (desk_.call) {
            case Call::arrive: arrive(); return true;
            case Call::test: return test();
            case Call::wait: wait(); return true;
            case Call::arrive_and_wait: arrive_and_wait(); return true;
            case Call::timed_wait: return wait_for(std::chrono::milliseconds(desk_.argument));
            case Call::run: run(desk_.free_run); return true;
            case Call::missing:
            case Call::stop: break;
        }
        return true;
    }

    void pay() { tollbar_toll_pay(board_.tolls(), self_, ++episode_); }

    bool left_if(bool left) {
        if (left && tollbar_toll_leave(board_.tolls(), board_.ranks(), self_, episode_) != board_.ranks())
            ++desk_.unpaid;
        return left;
    }

    /// Comes when all others have come, and finds them all there.
    void be_late() {
        while (tollbar_toll_is_last(board_.tolls(), board_.ranks(), self_, episode_ + 1) == 0) pass_time();
        if (tollbar_toll_early(board_.tolls(), board_.ranks(), self_, episode_ + 1) != board_.ranks()) ++desk_.early;
    }

    M member_;
    Board& board_;
    Desk& desk_;
    Rank self_;
    Episode episode_ = 0;
};

}  // namespace tollbar::testing
