// SPDX-License-Identifier: Apache-2.0
// tollbar's split barriers of OpenSHMEM: every way of signalling, in several rounds and in one shot.
#pragma once

#include "candidate.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace tollbar::bench {

/// A split barrier of all PEs. Made and destroyed collectively.
class Split {
public:
    virtual ~Split() = default;

    virtual void post() noexcept = 0;
    virtual bool test() noexcept = 0;
    virtual void wait() noexcept = 0;
};

struct Variant {
    const char* name;  ///< of the plan
    const char* how;   ///< of the signals; stands where other programs name the waiting policy
    /// Collective; throws std::runtime_error, everywhere or nowhere.
    std::function<std::unique_ptr<Split>()> make;
};

/// Variants that signal as the library does not.
using FurtherVariants = Further<void (*)(std::vector<Variant>& variants)>;

/// The variants that this OpenSHMEM can do among the PEs of this job. The others go to `skipped` with the library's own
/// words. Collective.
std::vector<Variant> variants(std::vector<Skipped>& skipped);

inline Label label_of(const Variant& variant) { return {variant.name, "split", variant.how}; }

/// One of them among all PEs. Making it is collective and throws std::runtime_error, everywhere or nowhere.
class VariantSplit {
public:
    explicit VariantSplit(const Variant& variant) : split_(variant.make()) {}

    void post() noexcept { split_->post(); }
    bool test() noexcept { return split_->test(); }
    void wait() noexcept { split_->wait(); }

private:
    std::unique_ptr<Split> split_;
};

}  // namespace tollbar::bench
