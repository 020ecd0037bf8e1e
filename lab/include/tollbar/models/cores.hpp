// SPDX-License-Identifier: Apache-2.0
// Barriers on up to 256 cores that are not here: the real templates run on simulated caches. Event-driven,
// deterministic, without I/O (docs/design/cores.md).
#pragma once

#include <tollbar/detail/language.hpp>
#include <tollbar/models/progress.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace tollbar::cores {

/// The most threads that a simulation has, each on a core of its own.
inline constexpr std::uint32_t most_cores = 256;

/// The neighbourhood of a core. Cores of a cluster share a last-level cache; clusters are numbered through all sockets.
struct Core {
    std::uint32_t cluster;  ///< its number
    std::uint32_t socket;   ///< its number

    friend bool operator==(const Core&, const Core&) = default;
};

/// The costs of its caches, in nanoseconds, and its cores. Lines are modified in one cache, shared by several,
/// or nowhere. A miss goes to the line's home, queues there first come first served, keeps the line busy for a part of
/// the transfer, and ends when the data have come.
struct Machine {
    std::string name;             ///< as machine() knows it, or any
    std::vector<Core> cores;      ///< numbered from 0
    double cluster_ns = 0;        ///< a line from core to core, one way, within a cluster
    double socket_ns = 0;         ///< between clusters of the first socket, which is home to all lines
    double second_socket_ns = 0;  ///< between clusters of any other socket
    double far_ns = 0;            ///< between sockets
    double busy = 1;              ///< the part of a transfer in which nobody else gets the line, 0 to 1
    double read_ns = 0;           ///< so long a read keeps a line busy that several have
    double cluster_read_ns = 0;   ///< the same within a cluster whose cache serves it
    double invalidate_ns = 0;     ///< a write takes so much longer for each that loses the line
    double pause_ns = 0;          ///< one pause between two polls
    double hit_ns = 1.3;          ///< an access to a line that the core has
    double add_ns = 5;            ///< an addition there
    bool clusters_cache = false;  ///< a read is served by the cluster's cache where that has the line
    double held = 0;              ///< after a write the line stays busy for so many transfers more
};

/// The machines that are built in, by name: "epyc" and "mesh" have 128 cores; "graviton2", "icelake" and "skylake" have
/// 16 and are what the model was fitted to. Sources: docs/design/cores.md. Throws std::invalid_argument for others.
Machine machine(std::string_view name);
std::vector<std::string> machine_names();

/// That many cores in clusters of `cluster`, in sockets of `socket`, numbered in order. Throws
/// std::invalid_argument unless a socket is one or more whole clusters.
std::vector<Core> in_order(std::uint32_t cores, std::uint32_t cluster, std::uint32_t socket);

/// Throws std::invalid_argument that names what is wrong.
void check(const Machine& machine);

/// The cores that threads have.
enum class Placement : std::uint8_t {
    compact,   ///< thread i has core i
    spread,    ///< clusters take turns, over the whole machine
    shuffled,  ///< the first cores, in an order drawn from a fixed seed: ranks know nothing of clusters
};

/// The barrier, its threads and how often they meet.
struct CoresRun {
    /// A plan of the catalogue, as a group runs it; "auto", what a group of pinned threads runs that may use the cores
    /// of these and where nothing is tuned; "tollbar::barrier"; "one-word", which that is for few threads, for
    /// any number; "combination", whose processors are the clusters, or "combination/PLAN" with PLAN between these; or
    /// a peer or a paper's: see peers() and published_names().
    std::string barrier = "tollbar::barrier";
    std::uint32_t threads = 2;                 ///< each on a core of its own
    Placement placement = Placement::compact;  ///< on which
    std::uint32_t episodes = 40;               ///< that count, after 8 that do not
    double spread_ns =
        0;  ///< each thread enters up to so much after it left the last one; 0: one barrier after another
    std::uint64_t seed = 1;  ///< of the times of entry
};

/// The result of a run; times in nanoseconds.
struct Outcome {
    double barrier_ns = 0;     ///< an episode; with spread_ns from the last entry to the last exit, in the mean
    double misses = 0;         ///< an episode, of all threads
    double hand_overs = 0;     ///< an episode, of the line that writes take from other cores most often
    double simulated_ns = 0;   ///< the whole run
    std::uint64_t events = 0;  ///< what it cost to simulate
};

/// Simulates one barrier; its progress counts episodes that the first thread has left. The same arguments give the same
/// digits everywhere. Throws std::invalid_argument for what does not fit, and std::logic_error when somebody left an
/// episode before everybody had entered, or never left.
///
///     double ns = simulate(machine("epyc"), {.barrier = "pairwise", .threads = 64}).barrier_ns;
Outcome simulate(const Machine& machine, const CoresRun& asked, const Watch& watch = {});

/// The barriers of others that are simulated: what they do to memory, polling for ever. Throws std::bad_alloc.
std::vector<std::string> peers();
/// The sense-reversing barrier and the MCS tree of Seyedroudbari and Kadiyala 2020, and the variants they propose.
/// Throws std::bad_alloc.
std::vector<std::string> published_names();

/// Microbenchmarks of such a machine, in nanoseconds: for validation, and for machines that were measured. All throw
/// std::invalid_argument for cores that the machine does not have.

/// One trip of a line between threads on two cores that wait for each other. Throws std::invalid_argument.
double one_way_ns(const Machine& machine, std::uint32_t from, std::uint32_t to);
/// An addition, where so many threads on the first cores add to one word as often as they can. Throws
/// std::invalid_argument.
double contended_add_ns(const Machine& machine, std::uint32_t threads);
/// A hand-over of a ticket lock whose two words share a line, so that who waits polls what others add to. Throws
/// std::invalid_argument.
double polled_add_ns(const Machine& machine, std::uint32_t threads);

}  // namespace tollbar::cores
#pragma GCC visibility pop
