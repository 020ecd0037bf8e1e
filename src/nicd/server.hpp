// SPDX-License-Identifier: Apache-2.0
// The daemon: checks who asks for what, and hands the descriptors of a group to its members.
#pragma once

#include "programs.hpp"
#include "neighbours.hpp"
#include "client/talk.hpp"

#include "transports/nic/descriptor.hpp"

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tollbar::nic {

struct Limits {
    std::uint32_t groups = 256;              ///< of all users together
    std::uint32_t per_user = 64;             ///< of one user
    std::chrono::seconds linger{60};         ///< the card answers for a member so long after it is gone
    std::chrono::milliseconds search{1000};  ///< for a neighbour's hardware address
};

/// One thread. Serves until somebody who may tells it to stop.
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

    struct Joining {
        Request request;
        std::vector<std::uint32_t> addresses;
        toll_shape shape;
        std::optional<Plan> plan;
        std::vector<Rank> others;  ///< whose hardware addresses are needed
        Clock::time_point until;
    };

    struct Client {
        File connection;
        uid_t user;
        pid_t process;
        std::optional<Joining> joining;
        std::optional<toll_group> group;
        std::optional<Pages> pages;
    };

    struct Departed {
        uid_t user;
        toll_group group;
        Clock::time_point until;
    };

    void accept_one();
    /// False when the connection is over.
    bool hear(Client& client);
    void begin_joining(Client& client, const Request& request, std::vector<std::uint32_t> addresses);
    void go_on_joining(Client& client);
    void admit(Client& client, const std::map<std::uint32_t, Hardware>& known);
    void forget_departed();
    /// Throws Refusal when the user, or all of them, have as many as they may. Those who departed first give way.
    void make_room(uid_t user);
    std::string status() const;

    NicPrograms& programs_;
    std::string path_;
    Limits limits_;
    File listener_;
    std::list<Client> clients_;
    std::list<Departed> departed_;
    bool stopping_ = false;
};

}  // namespace tollbar::nic
