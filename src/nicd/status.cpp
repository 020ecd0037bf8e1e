// SPDX-License-Identifier: Apache-2.0
// The daemon's contents, as JSON: how much for anybody, the groups themselves for their users and for root. Numbers and
// names of our own alone go in, so nothing needs escaping. Keys stay out: they are secrets.
#include "server.hpp"

#include <sstream>

namespace tollbar::detail::nic {

namespace {

/// The compiler names a counter that is left out.
constexpr const char* name_of(toll_statistic what) noexcept {
    switch (what) {
        case toll_strange: return "strange";
        case toll_truncated: return "truncated";
        case toll_repeated: return "known";
        case toll_frames: return "frames";
        case toll_answered: return "answered";
        case toll_continued: return "continued";
        case toll_noted: return "noted";
        case toll_arrivals: return "arrivals";
        case toll_statistics: break;
    }
    return "";
}

/// The counters of dropped frames come first.
constexpr const char* name_of(toll_verdict why) noexcept {
    switch (why) {
        case toll_altered: return "altered";
        case toll_forged: return "forged";
        case toll_untimely: return "untimely";
        case toll_stale: return "stale";
        default: return "";
    }
}

constexpr const char* name_of_count(std::size_t what) noexcept {
    return what <= toll_stale ? name_of(static_cast<toll_verdict>(what)) : name_of(static_cast<toll_statistic>(what));
}
constexpr std::size_t room_at_the_end = 512;  // for one more group and what comes last
constexpr std::array<const char*, 3> shapes{"plan", "gather", "switch"};

}  // namespace

std::string Server::status(uid_t asking) const {
    std::ostringstream text;
    text << R"({"interface":")" << programs_.interface() << R"(","mode":")"
         << (programs_.mode() == Mode::native ? "native" : "generic") << R"(","most":)" << limits_.groups
         << R"(,"held":)" << held() << R"(,"departed":)" << past_.size() << R"(,"counts":{)";
    const auto counts = programs_.counts();
    for (std::size_t what = 0; what < counts.size(); ++what)
        text << (what == 0 ? "" : ",") << '"' << name_of_count(what) << "\":" << counts[what];
    text << R"(},"groups":[)";
    const char* comma = "";
    std::size_t unlisted = 0;
    for (const Client& client : clients_) {
        if (!client.member || (asking != 0 && asking != geteuid() && asking != client.user)) continue;
        if (static_cast<std::size_t>(text.tellp()) > most_text - room_at_the_end) {
            ++unlisted;
            continue;
        }
        const Mapped<const toll_group> group(client.member->pages.group, PROT_READ);
        const toll_u64 at = toll_load(&group->state.at);
        text << comma << R"({"group":)" << toll_net32(group->self.who.group) << R"(,"rank":)" << group->self.rank
             << R"(,"ranks":)" << group->self.ranks << R"(,"shape":")" << shapes[group->self.shape] << R"(","user":)"
             << client.user << R"(,"process":)" << client.process << R"(,"episode":)" << toll_episode_of(at)
             << R"(,"step":)" << toll_step_of(at) << R"(,"steps":)" << group->program.steps << '}';
        comma = ",";
    }
    text << R"(],"unlisted":)" << unlisted << '}';
    return text.str();
}

}  // namespace tollbar::detail::nic
