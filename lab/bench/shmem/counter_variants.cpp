// SPDX-License-Identifier: Apache-2.0
// Dissemination by counters becomes a variant of the programs that measure split barriers.
#include "counters.hpp"
#include "variants.hpp"

#include <memory>
#include <vector>

namespace tollbar::bench {

namespace {

class CounterSplit final : public Split {
public:
    explicit CounterSplit(const CounterKind& kind) : barrier_(kind, "dissemination") {}

    void post() noexcept override { barrier_.post(); }
    bool test() noexcept override { return barrier_.test(); }
    void wait() noexcept override { barrier_.wait(); }

private:
    CounterBarrier barrier_;
};

void add_counters(std::vector<Variant>& variants) {
    for (const CounterKind& kind : counter_kinds)
        variants.push_back({"dissemination", kind.name, [&kind] { return std::make_unique<CounterSplit>(kind); }});
}

const FurtherVariants counters(add_counters);

}  // namespace

}  // namespace tollbar::bench
