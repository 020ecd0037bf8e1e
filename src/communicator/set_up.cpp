// SPDX-License-Identifier: Apache-2.0
#include "set_up.hpp"

#include "missing.hpp"
#include "participant.h"

#include "missing/reporting.hpp"
#include "missing/sentence.hpp"

#include <tollbar/detail/cpus.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <system_error>
#include <unistd.h>

namespace tollbar::detail::mpi {

namespace {

/// The bytes of messages; they stay for ever where the MPI may use them after the last look at them.
class Buffer {
public:
    explicit Buffer(std::size_t bytes) : bytes_(new std::byte[bytes]) {}
    ~Buffer() {
        if (!keep_) delete[] bytes_;
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    std::byte* at(std::size_t offset) noexcept { return bytes_ + offset; }
    void keep() noexcept { keep_ = true; }

private:
    std::byte* bytes_;
    bool keep_ = false;
};

/// One message of some of those bytes, begun; its channel is closed in the end.
class Transfer {
public:
    Transfer(const tollbar_p2p& p2p, Rank peer, tollbar_way way, Buffer& buffer, std::size_t offset, std::size_t bytes)
        : p2p_(p2p), buffer_(buffer),
          channel_(p2p.open(p2p.state, peer, way, buffer.at(offset), static_cast<std::uint32_t>(bytes))) {
        if (channel_ == nullptr) fail_alone("the MPI gave no channel");
        if (p2p_.start(p2p_.state, channel_) == 0) return;
        close();
        fail_alone("the MPI refused a message");
    }
    ~Transfer() { close(); }
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    /// Whether the message is over.
    bool done() {
        const int done = p2p_.done(p2p_.state, channel_);
        if (done < 0) fail_alone("the MPI lost a message");
        return done > 0;
    }

private:
    void close() noexcept {
        if (p2p_.close(p2p_.state, channel_) != 0) buffer_.keep();
    }

    const tollbar_p2p& p2p_;
    Buffer& buffer_;
    tollbar_channel* channel_;
};

}  // namespace

void fail_alone(const char* what) { throw std::system_error(std::make_error_code(std::errc::io_error), what); }

SetUp::Failure SetUp::first_failure(const c_door::Refusal& mine) const {
    struct {
        std::int32_t error;
        Rank rank;
    } first{};
    const std::vector<std::int32_t> errors = gather(std::int32_t{mine.error});
    const auto found = std::ranges::find_if(errors, [](std::int32_t error) { return error != 0; });
    if (found != errors.end()) first = {.error = *found, .rank = static_cast<Rank>(found - errors.begin())};
    broadcast(first);
    Failure failure{.error = first.error, .rank = first.rank, .line = {}};
    if (failure.error == 0) return failure;
    std::array<char, sizeof failure.line> line{};
    c_door::write_text(mine.line, line.data(), line.size());
    const auto lines = gather(line);
    if (is_root()) failure.line = lines[first.rank];
    broadcast(failure.line);
    return failure;
}

// Linear, because only the receiver of each rank's own message can say whose has not come.
void SetUp::gather(const void* mine, void* all, std::size_t bytes) const {
    if (bytes == 0) return;
    Buffer buffer(is_root() ? p2p_.ranks * bytes : bytes);
    std::memcpy(buffer.at(0), mine, bytes);
    if (!is_root()) {
        Transfer transfer(p2p_, 0, TOLLBAR_TO_PEER, buffer, 0, bytes);
        return wait_until([&] { return transfer.done(); });
    }
    std::deque<Transfer> transfers;
    for (Rank rank = 1; rank < p2p_.ranks; ++rank)
        transfers.emplace_back(p2p_, rank, TOLLBAR_FROM_PEER, buffer, rank * bytes, bytes);
    std::vector<unsigned char> received(p2p_.ranks);
    received[0] = 1;
    for (Pause wait(*this);; wait.pass(received.data())) {
        for (Rank rank = 1; rank < p2p_.ranks; ++rank)
            if (received[rank] == 0 && transfers[rank - 1].done()) received[rank] = 1;
        if (std::ranges::all_of(received, [](unsigned char one) { return one != 0; })) break;
    }
    std::memcpy(all, buffer.at(0), p2p_.ranks * bytes);
}

// Down a wide tree: where ranks outnumber CPUs, each level costs every rank a turn.
void SetUp::broadcast(void* data, std::size_t bytes) const {
    constexpr Rank children = 16;
    if (bytes == 0) return;
    Buffer buffer(bytes);
    if (is_root()) {
        std::memcpy(buffer.at(0), data, bytes);
    } else {
        Transfer from(p2p_, (p2p_.rank - 1) / children, TOLLBAR_FROM_PEER, buffer, 0, bytes);
        wait_until([&] { return from.done(); });
        std::memcpy(data, buffer.at(0), bytes);
    }
    std::deque<Transfer> transfers;
    for (Rank child = p2p_.rank * children + 1; child < p2p_.ranks && transfers.size() < children; ++child)
        transfers.emplace_back(p2p_, child, TOLLBAR_TO_PEER, buffer, 0, bytes);
    for (Transfer& transfer : transfers) wait_until([&] { return transfer.done(); });
}

void SetUp::Pause::pass(const unsigned char* received) {
    const tollbar_p2p& p2p = set_up_.p2p_;
    const bool blocks = !set_up_.give_way_ || !set_up_.give_way_();
    if (blocks) p2p.progress(p2p.state);
    if (p2p.error(p2p.state) != 0) fail_alone("the MPI gave an error");
    const Occupancy occupancy = p2p.ranks <= masked_cpus() ? Occupancy::exclusive : Occupancy::oversubscribed;
    if (blocks) nap<NativeSync>(wait_budget_for<NativeSync>(wait_policy::automatic, occupancy), waited_, Never{});
    const double waited_s = std::chrono::duration<double>(waited_.elapsed()).count();
    if (report_is_due(waited_s, set_up_.timeout_s_, next_report_s_)) set_up_.report(waited_s, received);
}

void SetUp::report(double waited_s, const unsigned char* received) const {
    std::vector<Rank> unheard;
    for (Rank rank = 0; received != nullptr && rank < p2p_.ranks; ++rank)
        if (received[rank] == 0) unheard.push_back(rank);
    if (unheard.empty() && is_root()) return;
    missing::Member absent{.numbers{unheard.begin(), unheard.end()}, .known_as = in_world(p2p_, name_, unheard)};
    std::vector<missing::Clause> clauses{{"rank 0, or a rank that rank 0 waits for, has not arrived", {}}};
    if (!unheard.empty()) clauses = missing::clauses_of({absent});
    std::string self = in_world(p2p_, name_, {&p2p_.rank, 1});
    if (!self.empty()) self += ", ";
    missing::report(
        {.about = std::string(name_) + " (" + std::to_string(p2p_.ranks) + " ranks), its first barrier",
         .waiter = "rank " + std::to_string(p2p_.rank) + " (" + self + "process " + std::to_string(getpid()) + ")",
         .waited_s = waited_s,
         .clauses = clauses});
}

}  // namespace tollbar::detail::mpi

void tollbar_mpi_pass_time(int64_t* since_ns) {
    using namespace tollbar;
    using namespace tollbar::detail;
    using std::chrono::nanoseconds;
    if (*since_ns == 0) *since_ns = nanoseconds(Stopwatch::Clock::now().time_since_epoch()).count();
    Stopwatch waited(Stopwatch::Clock::time_point{nanoseconds(*since_ns)});
    nap<NativeSync>({.spins = 0, .yields = 0}, waited, Never{});
}
