// SPDX-License-Identifier: Apache-2.0
// A barrier that can be measured, whatever its type: erased once a visit, never once an episode.
#pragma once

#include "visit.hpp"
#include "working.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tollbar::bench {

/// Whether a waiting thread ever gives its CPU away.
enum class Manners : bool { gives_way, spins };

/// What stands in every record about a candidate.
struct Label {
    std::string name;
    std::string kind;           ///< plan, turnstile, combination, barrier or peer
    std::string wait = "auto";  ///< auto, spin, yield or park
    Manners manners = Manners::gives_way;
};

class Candidate {
public:
    explicit Candidate(Label label) : label_(std::move(label)) {}
    virtual ~Candidate() = default;

    const Label& label() const noexcept { return label_; }

    /// Makes a new barrier, has all ranks attend the visit, and takes it down again: no barrier is left around
    /// to change how another one judges the crowding.
    virtual void receive(Crew& crew, Visit& visit) = 0;

private:
    Label label_;
};

/// Barrier::seat(rank) is called once by each rank and gives an object with a member episode().
template <class Barrier>
class Measured final : public Candidate {
public:
    using Make = std::function<std::unique_ptr<Barrier>()>;

    Measured(Label label, Make make) : Candidate(std::move(label)), make_(std::move(make)) {}

    void receive(Crew& crew, Visit& visit) override {
        const std::unique_ptr<Barrier> barrier = make_();
        crew.run([&](Rank rank) {
            auto seat = barrier->seat(rank);
            if (visit.workload != nullptr)
                attend_working(rank, seat, visit, *visit.workload);
            else
                attend(rank, seat, visit);
        });
    }

private:
    Make make_;
};

/// Most barriers know no ranks: every seat is the barrier itself. Shape says how one episode is done.
template <class Shape>
struct Everywhere {
    struct Seat {
        Shape& shape;
        void episode() { shape.episode(); }
    };

    explicit Everywhere(Rank ranks) : shape(ranks) {}
    Seat seat(Rank) { return {shape}; }

    alignas(line_bytes) Shape shape;
};

/// What cannot be measured, and why, in words.
struct Skipped {
    std::string name;
    std::string why;
};

/// All there is to measure, what is left out, and the versions of what is measured.
struct Roster {
    std::vector<std::unique_ptr<Candidate>> candidates;
    std::vector<Skipped> skipped;
    std::vector<std::pair<std::string, std::string>> versions;

    template <class Barrier, class... Arguments>
    void add(Label label, Arguments... arguments) {
        candidates.push_back(std::make_unique<Measured<Barrier>>(
            std::move(label), [=] { return std::make_unique<Barrier>(arguments...); }));
    }
};

/// Each in a file of its own; where a library is missing, a file that says so takes its place in the build.
void add_tollbar(Roster& roster, Rank ranks);    ///< all of it: every plan, and
void add_own_kinds(Roster& roster, Rank ranks);  ///< what is no plan
void add_standard_peers(Roster& roster, Rank ranks);
void add_boost(Roster& roster, Rank ranks);
void add_concurrency_kit(Roster& roster, Rank ranks);

/// One catalogue plan. Throws std::invalid_argument when it cannot be spelled so or not for that many ranks.
void add_plan(Roster& roster, Rank ranks, const std::string& spelling, const std::string& wait);

/// The same for select(): false for what is no plan.
bool add_if_a_plan(Roster& roster, Rank ranks, const std::string& name, const std::string& wait);

}  // namespace tollbar::bench
