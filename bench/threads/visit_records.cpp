// SPDX-License-Identifier: Apache-2.0
#include "visit_records.hpp"

namespace tollbar::bench {

Record start_record(const char* kind, const Label& label, std::uint32_t round) {
    Record record(kind);
    record.field("round", round).field("name", label.name).field("kind", label.kind).field("wait", label.wait);
    return record;
}

bool sound(const Samples& samples, const Label& label, std::uint32_t round) {
    if (!samples.violation) return true;
    start_record("violation", label, round)
        .field("episode", samples.violation->episode)
        .field("left", samples.violation->left)
        .field("missing", samples.violation->missing)
        .field("early_ns", samples.violation->early_ns)
        .print();
    return false;
}

void print_skipped(const std::string& name, const std::string& why, const std::string& wait) {
    Record("skipped").field("name", name).field("wait", wait).field("why", why).print();
}

}  // namespace tollbar::bench
