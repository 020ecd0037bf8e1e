// SPDX-License-Identifier: Apache-2.0
// The bridge to relacy: one test suite a number of threads, whatever the scenario.
#include "checker.hpp"

#include "effort.hpp"
#include "machine.hpp"
#include "relacy.hpp"

#include <iostream>
#include <sstream>
#include <stdexcept>

namespace tollbar::model {

namespace {

/// What the suite, which relacy constructs without arguments, is to run.
const MakeScenario* make_scenario = nullptr;

/// Lets operator new, which relacy replaces, be malloc in every translation unit: compilers inline relacy's
/// replacement in some callers only, and there it would not fit the others' delete.
class PlainAllocation : public rl::context {
public:
    static void use() {
        int& disabled = rl::ctx().*(&PlainAllocation::disable_alloc_);
        if (disabled == 0) disabled = 1;
    }
};

template <unsigned threads>
struct Suite : rl::test_suite<Suite<threads>, static_cast<rl::thread_id_t>(threads)> {
    std::unique_ptr<Scenario> scenario;

    Suite() { PlainAllocation::use(); }

    void before() {
        machine = Machine{.weakening = machine.weakening};
        scenario = (*make_scenario)();
    }

    void thread(unsigned self) { scenario->run(self); }

    void after() { scenario.reset(); }
};

rl::scheduler_type_e scheduler(Search search) {
    switch (search) {
        case Search::full: return rl::sched_full;
        case Search::bounded: return rl::sched_bound;
        case Search::random: break;
    }
    return rl::sched_random;
}

Finding finding(rl::test_result_e result) {
    switch (result) {
        case rl::test_result_success: return Finding::clean;
        case rl::test_result_data_race:
        case rl::test_result_unitialized_access:
        case rl::test_result_user_assert_failed: return Finding::unpaid;
        case rl::test_result_deadlock:
        case rl::test_result_livelock: return Finding::stuck;
        default: return Finding::broken;
    }
}

std::string_view name(Search search) {
    switch (search) {
        case Search::full: return "full search";
        case Search::bounded: return "bounded search";
        case Search::random: break;
    }
    return "random search";
}

}  // namespace

std::string_view name(Finding finding) noexcept {
    switch (finding) {
        case Finding::clean: return "clean";
        case Finding::unpaid: return "left early";
        case Finding::stuck: return "stuck";
        case Finding::broken: break;
    }
    return "broken test";
}

Outcome explore(unsigned threads, const MakeScenario& make, Effort effort, Weakening weakening) {
    std::ostringstream output;
    rl::test_params params;
    params.output_stream = &output;
    params.progress_stream = &output;
    params.search_type = scheduler(effort.search);
    params.iteration_count = static_cast<rl::iteration_t>(static_cast<double>(effort.limit) * testing::effort());
    params.context_bound = static_cast<unsigned>(effort.limit);

    make_scenario = &make;
    machine = Machine{.weakening = weakening};
    switch (threads) {
        case 2: rl::simulate<Suite<2>>(params); break;
        case 3: rl::simulate<Suite<3>>(params); break;
        case 4: rl::simulate<Suite<4>>(params); break;
        default: throw std::invalid_argument("a scenario has 2 to 4 threads, not " + std::to_string(threads));
    }
    make_scenario = nullptr;
    return {finding(params.test_result), params.stop_iteration, output.str()};
}

bool finds(Finding expected, const std::string& title, unsigned threads, const MakeScenario& make, Effort effort,
           Weakening weakening) {
    const bool is_shortened = expected == Finding::clean && effort.search == Search::bounded && testing::effort() < 1;
    if (is_shortened && effort.limit > 1) --effort.limit;
    const Outcome outcome = explore(threads, make, effort, weakening);
    const bool as_expected = outcome.finding == expected;
    std::cout << (as_expected ? "ok    " : "WRONG ") << title << ": " << name(outcome.finding) << " ("
              << name(effort.search) << ", " << outcome.interleavings << " interleavings)\n";
    if (!as_expected) {
        std::cout << "      expected: " << name(expected) << '\n';
        if (outcome.finding != Finding::clean) std::cout << outcome.history << '\n';
    }
    std::cout.flush();
    return as_expected;
}

}  // namespace tollbar::model
