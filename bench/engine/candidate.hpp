// SPDX-License-Identifier: Apache-2.0
// A barrier that can be measured, whatever its type: erased once a visit, never once an episode.
#pragma once

#include "record.hpp"
#include "tolls.hpp"
#include "turns.hpp"
#include "visit.hpp"
#include "working.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tollbar::bench {

class Candidate {
public:
    explicit Candidate(Label label) : label_(std::move(label)) {}
    virtual ~Candidate() = default;

    const Label& label() const noexcept { return label_; }

    /// Makes a new barrier, has all ranks attend the visit, and takes it down again: no barrier is left around
    /// to change how another one judges the occupancy.
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
            if (visit.checked != nullptr)
                attend_tolls(rank, seat, visit);
            else if (visit.turns != nullptr)
                attend_turns(rank, seat, visit, *visit.turns);
            else if (visit.workload != nullptr)
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

/// Barriers that cannot be measured, and why, in words.
struct Skipped {
    std::string name;
    std::string why;
};

/// The version of something measured, as it stands in the environment record.
struct Version {
    FieldName<"environment", std::string> of;
    std::string version;
};
using Versions = std::vector<Version>;

/// All there is to measure, what is left out, and the versions of what is measured.
struct Roster {
    std::vector<std::unique_ptr<Candidate>> candidates;
    std::vector<Skipped> skipped;
    Versions versions;

    template <class Barrier, class... Arguments>
    void add(Label label, Arguments... arguments) {
        candidates.push_back(std::make_unique<Measured<Barrier>>(
            std::move(label), [=] { return std::make_unique<Barrier>(arguments...); }));
    }
};

/// Adds the candidate of that name and waiting policy to the roster if there is such a thing; true when it did.
using Add = std::function<bool(Roster& roster, const std::string& name, const std::string& wait)>;
inline const Add nothing_more = [](Roster&, const std::string&, const std::string&) { return false; };

/// A function that adds candidates to a program, from a source file that another part of the build links into it.
template <class Add>
struct Further {
    explicit Further(Add add) { all().push_back(add); }

    static std::vector<Add>& all() {
        static std::vector<Add> adds;
        return adds;
    }
};

/// Keeps what `list` names, in the order of the roster: NAME keeps all its waiting policies, NAME+WAIT one. Names
/// may have commas in them (mcs:2,2): the longest known one counts. A name that the roster does not have is offered
/// to `add`. Throws WrongUse for a name nobody knows.
void select(Roster& roster, std::string_view list, const Add& add);

/// Whether nobody left an episode early; if somebody did, prints who.
bool sound(const Samples& samples, const Label& label, std::uint32_t round);

}  // namespace tollbar::bench
