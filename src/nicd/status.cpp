// SPDX-License-Identifier: Apache-2.0
// Numbers and names of our own alone go in, so nothing needs escaping. Keys stay out: they are secrets.
#include "status.hpp"

#include <sstream>

namespace tollbar::nic {

namespace {

constexpr std::array<const char*, toll_statistics> statistics{"frames",   "answered", "continued", "noted",
                                                              "arrivals", "known",    "strange",   "truncated",
                                                              "altered",  "forged",   "untimely"};
constexpr std::array<const char*, 3> shapes{"plan", "gather", "switch"};

}  // namespace

std::string status_text(const NicPrograms& programs, const std::vector<Held>& held, std::size_t departed,
                        std::uint32_t most) {
    std::ostringstream text;
    text << R"({"interface":")" << programs.interface() << R"(","mode":")"
         << (programs.mode() == Mode::native ? "native" : "generic") << R"(","most":)" << most << R"(,"departed":)"
         << departed << R"(,"counts":{)";
    const auto counts = programs.counts();
    for (std::size_t what = 0; what < counts.size(); ++what)
        text << (what == 0 ? "" : ",") << '"' << statistics[what] << "\":" << counts[what];
    text << R"(},"groups":[)";
    const char* comma = "";
    for (const Held& one : held) {
        const Mapped<const toll_group> group(*one.group, PROT_READ);
        const toll_u64 place = toll_load(&group->state.at);
        text << comma << R"({"group":)" << toll_net32(group->id) << R"(,"rank":)" << group->rank << R"(,"ranks":)"
             << group->ranks << R"(,"shape":")" << shapes[group->shape] << R"(","user":)" << one.user
             << R"(,"process":)" << one.process << R"(,"episode":)" << toll_episode_of(place) << R"(,"step":)"
             << toll_step_of(place) << R"(,"steps":)" << group->program.steps << '}';
        comma = ",";
    }
    text << "]}";
    return text.str();
}

}  // namespace tollbar::nic
