// SPDX-License-Identifier: Apache-2.0
// The barriers of Seyedroudbari and Kadiyala 2020 on simulated caches.
#include "barriers.hpp"
#include "published.hpp"
#include "sync.hpp"

namespace tollbar::cores {

namespace {

class Counter final : public Barrier {
public:
    Counter(std::size_t threads, const published::Form& form) : barrier_(threads, form.counting, form.looks) {}
    void episode(Thread) override { barrier_.episode(); }

private:
    published::SenseReversing<SimulatedSync> barrier_;
};

class Tree final : public Barrier {
public:
    Tree(std::size_t threads, const published::Form& form) : barrier_(threads, form.flags, form.gate, form.looks) {}
    void episode(Thread self) override { barrier_.episode(self); }

private:
    published::McsFlags<SimulatedSync> barrier_;
};

}  // namespace

std::vector<std::string> published_names() {
    std::vector<std::string> names;
    names.reserve(published::forms.size());
    for (const published::Form& form : published::forms) names.emplace_back(form.name);
    return names;
}

Made make_published(std::string_view name, const Cores& team) {
    for (const published::Form& form : published::forms) {
        if (form.name != name) continue;
        if (form.tree) return std::make_unique<Tree>(team.size(), form);
        return std::make_unique<Counter>(team.size(), form);
    }
    return nullptr;
}

}  // namespace tollbar::cores
