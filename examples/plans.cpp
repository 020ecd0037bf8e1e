// SPDX-License-Identifier: Apache-2.0
// Plans without running them: make one, prove it, price it, print it; then write your own and see what is wrong.
#include <iostream>
#include <tollbar/algorithms.hpp>
#include <tollbar/plan.hpp>
#include <tollbar/price.hpp>
#include <tollbar/verify.hpp>

int main() {
    const tollbar::LogP logp{.L = 10, .o = 5, .g = 3};  // microseconds
    for (const char* spelling : {"dissemination", "mcs", "central@2/dissemination"}) {
        const tollbar::Plan plan = tollbar::make_plan(spelling, 4);
        const tollbar::Price price = tollbar::price(plan, logp);
        std::cout << plan.name() << ": " << tollbar::verify(plan).explain() << "; " << price.messages << " messages, "
                  << price.last_us << " us\n"
                  << tollbar::to_text(plan) << '\n';
    }

    const tollbar::Plan hasty = tollbar::parse_plan("hasty", "0: !1 ?1\n1: !2 !0 ?0 ?2\n2: !1 ?1");
    const tollbar::Verdict verdict = tollbar::verify(hasty);
    std::cout << hasty.name() << ": " << verdict.explain() << '\n';
    return verdict ? 1 : 0;
}
