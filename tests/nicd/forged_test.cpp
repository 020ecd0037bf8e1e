// SPDX-License-Identifier: Apache-2.0
// Frames that are forged, replayed, stale, altered or cut short change nothing that a NIC remembers. The NIC's
// program runs on them without a network (BPF_PROG_TEST_RUN).
#include "nicd/programs.hpp"
#include "hosts.hpp"
#include "wire/steps.hpp"
#include "transports/nic/descriptor.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::nic;

namespace {

constexpr toll_key key{0x1122334455667788, 0x99aabbccddeeff00};
constexpr std::uint64_t digest = 77;
constexpr std::uint64_t incarnation = 0xabcdef;
constexpr std::uint64_t now = 5;

Endpoint nic_of(Rank rank) {
    return {.hardware = {2, 0, 0, 0, 0, static_cast<std::uint8_t>(rank)}, .address = toll_net32(0x0a000000 + rank)};
}

/// Rank 0 of four that exchange in pairs: it has entered episode 5 and has heard of nobody yet.
class Bench {
public:
    explicit Bench(std::uint32_t id)
        : object_(load("nic")), pages_(published(fresh(id, key))), group_(pages_.group, PROT_READ), id_(id) {}

    const toll_group& group() const { return *group_; }

    /// The group of the same number of another job, on the same NIC.
    Pages beside(const toll_key& other_key) const {
        toll_group other = fresh(id_, other_key);
        other.slot = 1;
        return published(other);
    }

    /// How many frames the programs have counted as saying nothing, or nothing true.
    std::uint64_t refused() const {
        std::uint64_t sum = 0;
        for (const std::uint32_t what : std::initializer_list<std::uint32_t>{
                 toll_repeated, toll_strange, toll_truncated, toll_altered, toll_forged, toll_untimely, toll_stale}) {
            std::vector<std::uint64_t> each(static_cast<std::size_t>(libbpf_num_possible_cpus()));
            REQUIRE(bpf_map_lookup_elem(map(object_, "statistics"), &what, each.data()) == 0);
            sum = std::accumulate(each.begin(), each.end(), sum);
        }
        return sum;
    }

    toll_frame frame(toll_kind kind, toll_u16 step, Rank source, std::uint64_t episode) const {
        const toll_identity who = toll_identity_of(key, id_, digest);
        return toll_unsealed(&who, incarnation, static_cast<toll_u8>(kind), step, source, 0, episode);
    }

    /// By somebody who has that key.
    toll_frame sealed(toll_frame frame, const toll_key& with = key) const {
        const toll_identity who = toll_identity_of(with, id_, digest);
        const toll_sip sealing = toll_sealing(&who, frame.incarnation, frame.digest);
        frame.mac = toll_mac_of(&sealing, &frame);
        return frame;
    }

    /// What the program does with it; `whole` is how many bytes of it there are.
    int receive(toll_frame frame, Rank sender, bool sealed_by_us = true, std::size_t whole = toll_packet_bytes) {
        if (sealed_by_us) frame = sealed(frame);
        std::array<std::uint8_t, toll_packet_bytes + 16> bytes{};
        const toll_header header = nic::header(nic_of(sender), nic_of(0), toll_port, toll_port);
        std::memcpy(bytes.data(), header.bytes, toll_header_bytes);
        std::memcpy(bytes.data() + toll_header_bytes, &frame, sizeof frame);
        std::array<std::uint8_t, 256> out{};
        bpf_test_run_opts options{};
        options.sz = sizeof options;
        options.data_in = bytes.data();
        options.data_size_in = static_cast<std::uint32_t>(whole);
        options.data_out = out.data();
        options.data_size_out = out.size();
        REQUIRE(bpf_prog_test_run_opts(program(object_, "receive"), &options) == 0);
        return static_cast<int>(options.retval);
    }

private:
    Pages published(const toll_group& group) const {
        Pages pages = std::move(prepare(object_, {group.slot}).front());
        publish(object_, pages, group);
        return pages;
    }

    static toll_group fresh(std::uint32_t id, const toll_key& of_job) {
        const toll_member self = member_of(toll_identity_of(of_job, id, digest), 0, 4, incarnation, toll_plan);
        toll_group group = describe(self, now - 1, {.interface = 1, .number = 0, .port = 9},
                                    compile_steps(make_plan("pairwise", 4), 0), nic_of);
        group.state.at = toll_at(now, 0);
        return group;
    }

    BpfObject object_;
    Pages pages_;
    Mapped<const toll_group> group_;
    std::uint32_t id_;
};

bool can_run() {
    static const std::string why_not = testing::no_hosts();
    if (!why_not.empty()) MESSAGE("skipped: ", why_not);
    return why_not.empty();
}

}  // namespace

TEST_CASE("a sound frame is believed, once, and answered with the next step's message") {
    if (!can_run()) return;
    Bench bench(1);
    CHECK(bench.receive(bench.frame(toll_signal, 0, 1, now), 1) == XDP_TX);
    CHECK(bench.group().state.at == toll_at(now, 1));
    CHECK(bench.receive(bench.frame(toll_signal, 0, 1, now), 1) == XDP_DROP);
    CHECK(bench.group().state.at == toll_at(now, 1));
    CHECK(bench.receive(bench.frame(toll_signal, 1, 2, now), 2) == XDP_DROP);
    CHECK(bench.group().state.at == toll_at(now, 2));
}

TEST_CASE("a frame of the next episode ends this one, and what this member owes is sent") {
    if (!can_run()) return;
    Bench bench(2);
    CHECK(bench.receive(bench.frame(toll_signal, 1, 2, now + 1), 2) == XDP_TX);
    CHECK(bench.group().state.at == toll_at(now, 2));
}

TEST_CASE("a NIC that is asked answers where its host is, and repeats what it has told") {
    if (!can_run()) return;
    Bench bench(3);
    CHECK(bench.receive(bench.frame(toll_ask, 0, 3, now), 3) == XDP_TX);
    CHECK(bench.receive(bench.frame(toll_pull, 0, 1, now), 1) == XDP_TX);
    // Not told yet: the question is passed on to the NIC that this one awaits.
    CHECK(bench.receive(bench.frame(toll_pull, 1, 2, now), 2) == XDP_TX);
    CHECK(bench.receive(bench.frame(toll_pull, 1, 2, now + 1), 2) == XDP_TX);  // which ends this episode
    CHECK(bench.group().state.at == toll_at(now, 2));
    CHECK(bench.receive(bench.frame(toll_pull, 1, 2, now + 1), 2) == XDP_DROP);
}

TEST_CASE("two jobs' groups of one number do not hear each other's frames") {
    if (!can_run()) return;
    constexpr toll_key next_key{key.low, key.high + 1};
    Bench bench(5);
    const Pages next = bench.beside(next_key);
    const Mapped<const toll_group> other(next.group, PROT_READ);
    const toll_state untouched = other->state;
    CHECK(bench.receive(bench.frame(toll_signal, 1, 2, now + 1), 2) == XDP_TX);  // ends the episode of the one
    CHECK(std::memcmp(const_cast<const toll_state*>(&other->state), &untouched, sizeof untouched) == 0);
    toll_frame frame = bench.frame(toll_signal, 0, 1, now);
    frame.name = toll_name_of(next_key, 5);
    CHECK(bench.receive(bench.sealed(frame, next_key), 1, false) == XDP_TX);
    CHECK(other->state.at == toll_at(now, 1));
}

TEST_CASE("a million forged, replayed, stale, altered and truncated frames are counted, dropped and release nobody") {
    if (!can_run()) return;
    Bench bench(4);
    std::mt19937_64 random(1);
    CHECK(bench.receive(bench.frame(toll_signal, 1, 2, now), 2) == XDP_DROP);  // early, and noted
    const toll_state before = bench.group().state;
    constexpr std::size_t recognized = toll_header_bytes + sizeof(toll_u32);  // shorter ones are anybody's
    const auto pick = [&](auto... of) {
        const std::array all{static_cast<std::uint64_t>(of)...};
        return all[random() % all.size()];
    };
    const std::vector<std::pair<const char*, std::function<int()>>> sorts{
        {"altered on the way",
         [&] {
             const toll_frame frame = bench.sealed(bench.frame(toll_signal, 0, 1, now));
             auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof frame>>(frame);
             const std::size_t at = 4 + random() % (sizeof frame - 7);
             for (std::size_t byte = 0; byte <= random() % 3; ++byte)
                 bytes[at + byte] ^= static_cast<std::uint8_t>(1 + random() % 255);
             return bench.receive(std::bit_cast<toll_frame>(bytes), 1, false);
         }},
        {"for another member",
         [&] {
             toll_frame frame = bench.frame(toll_signal, 0, 1, now);
             frame.destination = static_cast<toll_u16>(1 + random() % 0xffff);
             return bench.receive(frame, 1);
         }},
        {"of another use of the group",
         [&] {
             toll_frame frame = bench.frame(toll_signal, 0, 1, now);
             frame.incarnation = random();
             return bench.receive(frame, 1);
         }},
        {"of another plan",
         [&] {
             toll_frame frame = bench.frame(toll_signal, 0, 1, now);
             frame.digest = random();
             return bench.receive(frame, 1);
         }},
        {"by another member",
         [&] { return bench.receive(bench.frame(toll_signal, 0, static_cast<Rank>(2 + random() % 100), now), 1); }},
        {"of a step that is another's",
         [&] {
             return bench.receive(bench.frame(toll_signal, static_cast<toll_u16>(1 + random() % 65535), 1, now), 1);
         }},
        {"replayed", [&] { return bench.receive(bench.frame(toll_signal, 1, 2, now), 2); }},
        {"stale", [&] { return bench.receive(bench.frame(toll_signal, 0, 1, random() % now), 1); }},
        {"of an episode that cannot be",
         [&] { return bench.receive(bench.frame(toll_signal, 0, 1, now + 2 + random() % 1'000'000'000), 1); }},
        {"of a host's own kind",
         [&] {
             return bench.receive(bench.frame(static_cast<toll_kind>(pick(toll_arrive, toll_timeout, toll_continue,
                                                                          toll_note, toll_enrol, toll_who)),
                                              0, 1, now),
                                  1);
         }},
        {"of a kind that this plan has not",
         [&] {
             return bench.receive(
                 bench.frame(static_cast<toll_kind>(pick(toll_gather, toll_release, toll_join, toll_welcome,
                                                         toll_refuse, toll_call, 0, 255)),
                             0, 1, now),
                 1);
         }},
        {"with another key",
         [&] {
             const toll_key other{key.low, random()};
             return bench.receive(bench.sealed(bench.frame(toll_signal, 0, 1, now), other), 1, false);
         }},
        {"cut short",
         [&] {
             return bench.receive(bench.frame(toll_signal, 0, 1, now), 1, true,
                                  recognized + random() % (toll_packet_bytes - recognized));
         }},
        {"too long",
         [&] {
             return bench.receive(bench.frame(toll_signal, 0, 1, now), 1, true, toll_packet_bytes + 1 + random() % 15);
         }},
    };
    for (const auto& [what, send] : sorts) {
        CAPTURE(what);
        const std::uint64_t refused_before = bench.refused();
        const int sent = 1'000'000 / static_cast<int>(sorts.size()) + 1;
        int answered = 0;
        for (int i = 0; i < sent; ++i) answered += send() == XDP_TX;
        CHECK(answered == 0);
        CHECK(bench.refused() - refused_before == static_cast<std::uint64_t>(sent));
        CHECK(std::memcmp(const_cast<const toll_state*>(&bench.group().state), &before, sizeof before) == 0);
    }
    CHECK(bench.receive(bench.frame(toll_signal, 0, 1, now), 1) == XDP_TX);  // it was awake all the time
}

TEST_CASE("the kernel's verifier has few instructions to look at") {
    if (!can_run()) return;
    constexpr std::uint32_t most = 150'000;  // of the million it allows
    for (const auto& [object, name] :
         {std::pair{"nic", "receive"}, {"nic", "proceed"}, {"nic", "arrive"}, {"switch", "tally_up"}}) {
        const BpfObject loaded = load(object);
        bpf_prog_info info{};
        std::uint32_t size = sizeof info;
        REQUIRE(bpf_obj_get_info_by_fd(program(loaded, name), &info, &size) == 0);
        MESSAGE(std::string(name), ": ", info.verified_insns, " instructions verified");
        CHECK(info.verified_insns > 0);
        CHECK(info.verified_insns <= most);
    }
}
