// SPDX-License-Identifier: Apache-2.0
// The daemon: checks users and their requests, and hands the descriptors of a group to its members.
#pragma once

#include "parsed_request.hpp"
#include "network.hpp"
#include "programs.hpp"

#include "base/error.hpp"
#include "membership/connection.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tollbar::detail::nic {

struct Limits {
    std::uint32_t groups = 256;   ///< of all users together
    std::uint32_t per_user = 64;  ///< of one user
    std::uint32_t silent =
        512;  ///< connections without a group, of all users; beyond, one of the user with most gives way
    std::uint32_t silent_per_user = 128;
    std::chrono::milliseconds patience{5000};  ///< with a connection that asks for nothing
    std::chrono::seconds linger{60};           ///< the NIC answers for a member that long after it is gone
    std::chrono::milliseconds search{4000};    ///< for a neighbour's hardware address; the kernel asks once a second
    std::optional<toll_key> of_switch = {};    ///< of the switch that counts for groups of this host

    static constexpr std::uint32_t descriptors_of_group = 3;  ///< a connection and two maps
    static constexpr std::uint32_t own_descriptors = 128;  ///< two maps for each slot that is ready, and what is open

    std::uint32_t descriptors() const noexcept { return descriptors_of_group * groups + silent + own_descriptors; }
};

/// Whether `action` was refused, and the member was sent that. Any exception is a refusal.
template <class Action>
bool refused(const File& connection, Action action) {
    const c_door::Refusal refusal = c_door::refusal_of(action);
    if (refusal.error != 0) send_answer(connection, refusal.error, refusal.line, {});
    return refusal.error != 0;
}

/// One thread. Serves until a user with the right to stops it; nothing else that a client does ends it. Users take
/// turns, and a turn costs the same whatever is asked for, so no user waits for another one's second request.
class Server {
public:
    /// Throws std::system_error when the socket cannot be had.
    Server(NicPrograms& programs, const std::string& socket, const Limits& limits);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    void serve();

private:
    using Clock = std::chrono::steady_clock;

    /// A group that is wanted; it counts as one that its user has.
    struct Joining {
        ParsedRequest asked;
        std::vector<Hardware> found;  ///< of the first addresses
        Clock::time_point until, next_look, next_question;
        std::chrono::milliseconds pause{1};
    };

    /// A group whose member is gone. The NIC answers for it until then; it counts as one of its user's until all
    /// processes that have its maps have closed them.
    struct Past {
        uid_t user;
        toll_u64 name;
        std::uint32_t slot;
        Clock::time_point until;
        bool answers;
    };

    struct Joined {
        std::list<Past> past;  ///< kept when it is gone; here already, so that memory may be short then
        Pages pages;
    };

    struct Client {
        File connection;
        uid_t user;
        pid_t process;
        Clock::time_point until;  ///< it is to ask for something; of clients that are silent
        bool in_turn = false;
        std::unique_ptr<Joining> joining;
        std::unique_ptr<Joined> member;

        bool silent() const noexcept { return !joining && !member; }
    };

    /// The programs' view of the network follows this host's.
    void follow_network() noexcept;
    /// Puts clients with a request into their users' queues.
    void look_around();
    void put_in_turn(Client& client);
    void take_turns();
    /// Goes on with as many joins that are due as there is time for in a turn.
    void look_after_joins();
    void accept_some();
    bool accept_one();
    /// Makes room among the silent connections; false when there are none. Without `of`: of the user with most.
    bool drop_silent(std::optional<uid_t> of);
    void drop_overdue();
    void attend(Client& client) noexcept;
    /// False when the connection is over.
    bool hear(Client& client);
    void drop(Client& client) noexcept;

    void begin_joining(Client& client, ParsedRequest asked);
    void go_on_joining(Client& client) noexcept;
    /// False when something is still to be waited for.
    bool join(Client& client);
    void admit(Client& client, NicPrograms::Prepared prepared);
    void forget_past();
    void free_what_nobody_has();
    void retire(Past& past) noexcept;
    std::size_t held_by(uid_t user) const noexcept;
    std::size_t held() const noexcept;
    /// Throws Refusal when the user, or all of them, have as many as they may. Only the user's own past gives way.
    void make_room(uid_t user);
    std::string status(uid_t asking) const;

    NicPrograms& programs_;
    Network network_;
    std::string path_;
    Limits limits_;
    File listener_;
    std::pair<std::uint64_t, std::uint64_t> file_;  ///< of the socket's name: device and number
    File events_;
    std::list<Client> clients_;
    std::map<uid_t, std::deque<Client*>> turns_;  ///< none empty
    uid_t latest_ = 0;                            ///< had the last turn
    std::list<Past> past_;
    bool calls_ = false;  ///< a client wants to connect
    Clock::time_point deaf_until_, next_look_;
    bool stopping_ = false;
};

}  // namespace tollbar::detail::nic
