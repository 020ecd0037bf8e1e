// SPDX-License-Identifier: Apache-2.0
// The learning of a process while it waits, on a machine with a clock of the test's: neighbours that come and go, spins
// that pay or not, and the ways to wake.
#include <tollbar/detail/waiting.hpp>

#include <doctest/doctest.h>

#include <functional>

using namespace tollbar;
using namespace tollbar::detail;

namespace {

// The clock counts nanoseconds.
constexpr std::uint64_t us = 1000;
constexpr std::uint64_t ms = 1000 * us;

/// A CPU, what yielding there costs, and what was done.
struct Machine {
    std::uint64_t now = 1000 * ms;
    std::uint64_t looks_at_the_clock = 0;
    std::uint64_t pauses = 0;
    std::uint64_t yields = 0;
    std::uint64_t sleeps = 0;
    std::uint64_t naps = 0;
    std::function<std::uint64_t()> yield_takes = [] { return 1 * us; };
    Neighbours neighbours;
};

Machine* machine = nullptr;

/// The Sync policy of that machine.
struct ScriptedSync {
    template <class T>
    using Atomic = std::atomic<T>;
    using Backoff = tollbar::detail::Backoff;
    using Neighbours = tollbar::detail::Neighbours;

    static void pause() noexcept { machine->now += 20, ++machine->pauses; }
    static void yield() noexcept { machine->now += machine->yield_takes(), ++machine->yields; }
    static std::uint64_t ticks() noexcept { return ++machine->looks_at_the_clock, machine->now; }
    static const Pace& pace() noexcept {
        static constexpr Pace pace{.ticks_per_us = us, .fruitless = 500};
        return pace;
    }
    static Neighbours& neighbours() noexcept { return machine->neighbours; }
    static void nap_until(Deadline) noexcept { ++machine->naps; }
    static std::uint32_t spins_worth_a_wake() noexcept { return 1000; }
};

/// Something that happens at a time, of which a sleeper learns 20 us later.
struct Event {
    bool happened() const noexcept { return machine->now >= at; }
    static void progress() noexcept {}

    template <class Deadline>
    bool sleep(Stopwatch&, Deadline) const noexcept {
        machine->now = std::max(machine->now, at) + 20 * us;
        ++machine->sleeps;
        return true;
    }

    std::uint64_t at;
};

/// A participant on a new machine.
class Participant {
public:
    explicit Participant(Occupancy occupancy, wait_policy policy = wait_policy::automatic)
        : budget_(wait_budget_for<ScriptedSync>(policy, occupancy)) {
        budget_.spinning = &spinning_;
        machine = &machine_;
    }
    ~Participant() { machine = nullptr; }
    Participant(const Participant&) = delete;
    Participant& operator=(const Participant&) = delete;

    /// Waits for something that happens so much later.
    void wait(std::uint64_t later) {
        const bool over = detail::wait<ScriptedSync>(Event{machine_.now + later}, budget_, Never{});
        if (!over) FAIL("a wait without a deadline has not waited");
    }

    /// Waits again and again for that long, with a little to do between.
    struct Account {
        std::uint64_t waits = 0;
        std::uint64_t slept = 0;
        std::uint64_t late = 0;  ///< that took over half a millisecond more than what was awaited
    };
    Account wait_for(std::uint64_t long_time, std::uint64_t later) {
        Account account;
        const std::uint64_t sleeps = machine_.sleeps;
        for (const std::uint64_t end = machine_.now + long_time; machine_.now < end; machine_.now += 3 * us) {
            const std::uint64_t begun = machine_.now;
            wait(later);
            ++account.waits;
            account.late += machine_.now - begun > later + ms / 2 ? 1 : 0;
        }
        account.slept = machine_.sleeps - sleeps;
        return account;
    }

    /// One turn of somebody whom nobody wakes, in a wait that begins.
    void wait_unwoken() {
        Stopwatch asleep;
        CHECK(nap<ScriptedSync>(budget_, asleep, Never{}));
    }

    Machine& operator*() noexcept { return machine_; }
    Machine* operator->() noexcept { return &machine_; }

private:
    Machine machine_;
    Backoff spinning_;
    WaitBudget budget_;
};

constexpr std::uint64_t soon = 2 * us;

std::uint64_t fellow() { return 1 * us; }
std::uint64_t stranger() { return 3 * ms; }

}  // namespace

TEST_CASE("a wait that is over at the first look costs no look at a clock") {
    for (const Occupancy occupancy : {Occupancy::exclusive, Occupancy::oversubscribed}) {
        Participant self(occupancy);
        self.wait(0);
        CHECK(self->looks_at_the_clock == 0);
        CHECK(self->pauses + self->yields + self->sleeps == 0);
    }
}

TEST_CASE("a yield reaches nobody, a thread of ours, or a neighbour once one is known") {
    Participant self(Occupancy::unknown);
    self->yield_takes = [] { return us / 4; };
    CHECK(yield_once<ScriptedSync>() == YieldedTo::nobody);
    self->yield_takes = fellow;
    CHECK(yield_once<ScriptedSync>() == YieldedTo::thread);
    self->yield_takes = stranger;
    CHECK(yield_once<ScriptedSync>() == YieldedTo::thread);
    CHECK(yield_once<ScriptedSync>() == YieldedTo::neighbour);
}

TEST_CASE("who is told how to wait does nothing else") {
    Participant parks(Occupancy::exclusive, wait_policy::park);
    parks.wait(soon);
    CHECK(parks->sleeps == 1);
    CHECK(parks->yields + parks->pauses == 0);

    Participant yields(Occupancy::exclusive, wait_policy::yield);
    yields.wait(100 * ms);
    CHECK(yields->yields > 0);
    CHECK(yields->sleeps + yields->pauses == 0);

    Participant spins(Occupancy::oversubscribed, wait_policy::spin);
    spins.wait(100 * ms);
    CHECK(spins->pauses > 0);
    CHECK(spins->sleeps + spins->yields == 0);
}

TEST_CASE("among fellows a participant yields and does not sleep") {
    Participant self(Occupancy::oversubscribed);
    CHECK(self.wait_for(100 * ms, soon).slept == 0);
    CHECK(self->yields > 0);
    CHECK(self->pauses == 0);
}

TEST_CASE("yields that find nobody end in sleep") {
    Participant self(Occupancy::oversubscribed);
    self->yield_takes = [] { return std::uint64_t{250}; };
    self.wait(10 * ms);
    CHECK(self->sleeps == 1);
    CHECK(self->yields < 100);
}

TEST_CASE("who yields to nobody again and again sleeps at once, and yields within 50 ms of the coming of fellows") {
    Participant self(Occupancy::oversubscribed);
    self->yield_takes = [] { return std::uint64_t{250}; };
    self.wait_for(50 * ms, ms);
    const std::uint64_t yields = self->yields;
    const auto alone = self.wait_for(5000 * ms, ms);
    CHECK(alone.slept == alone.waits);
    CHECK((self->yields - yields) * 250 < 50 * ms);

    self->yield_takes = fellow;
    self.wait_for(50 * ms, soon);
    CHECK(self.wait_for(500 * ms, soon).slept == 0);
}

TEST_CASE(
    "within 50 ms of a stranger's coming participants sleep at once, and lose little to looking whether it goes") {
    for (const std::uint64_t slice : {1 * ms, 3 * ms, 4 * ms}) {
        Participant self(Occupancy::oversubscribed);
        self.wait_for(500 * ms, soon);
        self->yield_takes = [slice] { return slice; };
        self.wait_for(50 * ms, soon);
        const auto account = self.wait_for(1000 * ms, soon);
        CAPTURE(slice);
        CHECK(account.waits - account.slept <= account.late);
        CHECK(account.late * slice <= 100 * ms);
    }
}

TEST_CASE("within 50 ms of a stranger's going participants yield, however long it was there") {
    for (const std::uint64_t stay : {20 * ms, 200 * ms, 20'000 * ms}) {
        Participant self(Occupancy::oversubscribed);
        self->yield_takes = stranger;
        CHECK(self.wait_for(stay, soon).slept > 0);
        self->yield_takes = fellow;
        self.wait_for(50 * ms, soon);
        CAPTURE(stay);
        CHECK(self.wait_for(500 * ms, soon).slept == 0);
    }
}

TEST_CASE("who is woken by nobody yields before it naps, also to nobody, but naps at once beside a neighbour") {
    Participant self(Occupancy::oversubscribed);
    self->yield_takes = [] { return std::uint64_t{250}; };
    self.wait_for(50 * ms, ms);  // yields do not pay
    const std::uint64_t yields = self->yields;
    self.wait_unwoken();
    CHECK(self->yields == yields + 1);
    CHECK(self->naps == 0);

    self->yield_takes = stranger;
    for (int turn = 0; turn < 100; ++turn) self.wait_unwoken();
    CHECK(self->neighbours.here());
    const std::uint64_t naps = self->naps;
    self.wait_unwoken();
    CHECK(self->naps == naps + 1);
}

TEST_CASE("a hiccup is not a neighbour") {
    Participant self(Occupancy::oversubscribed);
    for (int hiccup = 0; hiccup < 20; ++hiccup) {
        self->yield_takes = [] { return machine->yield_takes = fellow, 3 * ms; };
        CHECK(self.wait_for(50 * ms, soon).slept == 0);
    }
}

TEST_CASE("a quota that is used up again and again is not a neighbour") {
    Participant self(Occupancy::oversubscribed);
    for (int period = 0; period < 20; ++period) {
        self->yield_takes = [] { return machine->yield_takes = fellow, 25 * ms; };
        CHECK(self.wait_for(100 * ms, soon).slept == 0);
    }
}

TEST_CASE("a late yield that costs less than the wake-ups saved since is not a neighbour") {
    Participant self(Occupancy::oversubscribed);  // a rank beside others that now and then poll for a slice
    constexpr int waits = 200;
    for (int slices = 0; slices < 50; ++slices) {
        self->yield_takes = [] { return machine->yield_takes = fellow, 3 * ms; };
        for (int i = 0; i < waits; ++i) self.wait(soon);
    }
    CHECK(self->sleeps == 0);
}

TEST_CASE("spins that pay go on, and those that fail are given up and tried again within 50 ms") {
    Participant self(Occupancy::exclusive);
    CHECK(self.wait_for(100 * ms, soon).slept == 0);
    CHECK(self->yields == 0);

    self.wait_for(50 * ms, ms);
    const std::uint64_t pauses = self->pauses;
    const auto failing = self.wait_for(5000 * ms, ms);
    CHECK((self->pauses - pauses) * 20 < 50 * ms);
    CHECK(failing.slept == failing.waits);

    self.wait_for(50 * ms, soon);
    const std::uint64_t yields = self->yields;
    CHECK(self.wait_for(500 * ms, soon).slept == 0);
    CHECK(self->yields == yields);
}
