// SPDX-License-Identifier: Apache-2.0
// The picture of a priced episode: time runs downwards, each rank and role has a lane, each message is an arrow.
#include "draw.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

namespace tollbar::detail {

namespace {

constexpr std::string_view style =
    R"(<style>
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2937; }
.paper { fill: #ffffff; }
.name { font-size: 16px; font-weight: 600; }
.small { font-size: 12px; fill: #5b6675; }
.done { font-size: 12px; text-anchor: middle; paint-order: stroke; stroke: #ffffff; stroke-width: 4px; }
.time { text-anchor: end; }
.rank { text-anchor: middle; font-weight: 600; }
.badge { fill: #e8edf4; }
.grid { stroke: #edf0f4; }
.lane { stroke: #bcc5d1; stroke-width: 2; }
.arrow { stroke: #2563eb; stroke-width: 1.5; stroke-opacity: 0.8; }
.head, .send { fill: #2563eb; }
.receive { fill: #e5850b; }
.send, .receive { stroke: #ffffff; stroke-width: 0.8; }
.message:hover .arrow { stroke-width: 3.5; stroke-opacity: 1; }
@media (prefers-color-scheme: dark) {
text { fill: #e5e7eb; }
.paper { fill: #14181f; }
.small { fill: #9aa5b4; }
.done { stroke: #14181f; }
.badge { fill: #2a323e; }
.grid { stroke: #222a35; }
.lane { stroke: #4a5567; }
.arrow { stroke: #78aefc; }
.head, .send { fill: #78aefc; }
.receive { fill: #f5b14c; }
.send, .receive { stroke: #14181f; }
}
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" )"
    R"(markerUnits="userSpaceOnUse" orient="auto"><path class="head" d="M0,0.8 8,4 0,7.2z"/></marker></defs>
)";

/// The lane of a role: its steps are taken by its player.
constexpr std::string_view style_of_roles =
    R"(<style>
.played { stroke-dasharray: 5 4; }
.role { fill: #fdeccc; stroke: #e5850b; stroke-dasharray: 3 2; }
@media (prefers-color-scheme: dark) {
.role { fill: #4a3413; stroke: #f5b14c; }
}
</style>
)";

/// Up to three decimals, none where they are 0.
std::string number(double value) {
    std::array<char, 64> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed, 3)
                         .ptr;
    std::string text(digits.data(), end);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) switch (c) {
            case '&': result += "&amp;"; break;
            case '<': result += "&lt;"; break;
            case '>': result += "&gt;"; break;
            case '"': result += "&quot;"; break;
            default: result += c;
        }
    return result;
}

/// Attributes x="1" y="2" ... in one go.
struct Attribute {
    std::string_view name;
    double value;
};

std::string element(std::string_view tag, std::string_view kind, std::initializer_list<Attribute> attributes,
                    std::string_view rest = "/>\n") {
    std::string text = '<' + std::string(tag) + " class=\"" + std::string(kind) + '"';
    for (const auto& [name, value] : attributes) text += ' ' + std::string(name) + "=\"" + number(value) + '"';
    return text += rest;
}

std::string words(std::string_view kind, double x, double y, std::string_view text) {
    return element("text", kind, {{"x", x}, {"y", y}}, '>' + escaped(text) + "</text>\n");
}

/// 1, 2 or 5 times a power of ten: the smallest such step that leaves room between two labels.
double tick_us(double pixels_per_us) {
    constexpr double room = 40;
    double step = 1e-3;
    for (std::size_t i = 0; step * pixels_per_us < room; ++i) step *= i % 3 == 1 ? 2.5 : 2;
    return step;
}

/// The geometry of the picture, in pixels.
class Page {
public:
    Page(const LogP& logp, const Plan& plan, double last_us, std::size_t title)
        : plan_(plan), width_(std::max(axis + lane_pitch * plan.members() + 24, 32 + 9.0 * static_cast<double>(title))),
          last_us_(last_us) {
        constexpr double hop = 88, longest = 1800;
        const double hop_us = logp.path_us();
        per_us_ = hop_us > 0 ? hop / hop_us : 1;
        if (last_us * per_us_ > longest) per_us_ = longest / last_us;
    }

    double x(Rank member) const { return axis + lane_pitch * (plan_.index_of(member) + 0.5); }
    double y(double us) const { return top + us * per_us_; }
    double width() const { return width_; }
    double height() const { return y(last_us_) + 74; }
    double per_us() const { return per_us_; }

    static constexpr double axis = 56, lane_pitch = 66, top = 112, bar = 9;

private:
    const Plan& plan_;
    double width_;
    double last_us_;
    double per_us_;
};

std::string bar(const Page& page, std::string_view kind, Rank member, double from_us, double to_us) {
    const double height = std::max(page.y(to_us) - page.y(from_us), 3.0);
    return element("rect", kind,
                   {{"x", page.x(member) - Page::bar / 2},
                    {"y", page.y(from_us)},
                    {"width", Page::bar},
                    {"height", height},
                    {"rx", 1.5}});
}

std::string axis(const Page& page, double last_us) {
    std::string text = words("small time", Page::axis - 8, Page::top - 24, "us");
    const double step = tick_us(page.per_us());
    for (int i = 0; i * step <= last_us; ++i) {
        const double y = page.y(i * step);
        text += element("line", "grid", {{"x1", Page::axis}, {"y1", y}, {"x2", page.width() - 16}, {"y2", y}});
        text += words("small time", Page::axis - 8, y + 4, number(i * step));
    }
    return text;
}

std::string lane(const Page& page, Rank member, double completion_us) {
    const std::string name = member_text(member);
    const std::string_view line = is_role(member) ? "lane played" : "lane";
    const double x = page.x(member), end = page.y(completion_us);
    const double badge = 16 + 8 * static_cast<double>(name.size());
    return element("line", line, {{"x1", x}, {"y1", Page::top - 16}, {"x2", x}, {"y2", end}}) +
           element("line", "lane", {{"x1", x - 9}, {"y1", end}, {"x2", x + 9}, {"y2", end}}) +
           element("rect", is_role(member) ? "badge role" : "badge",
                   {{"x", x - badge / 2}, {"y", Page::top - 40}, {"width", badge}, {"height", 24}, {"rx", 12}}) +
           words("rank", x, Page::top - 23, name);
}

std::string arrow(const Page& page, const LogP& logp, const Message& message) {
    const double side = message.from < message.to ? Page::bar / 2 : -Page::bar / 2;
    const double taken_us = message.received_us - logp.receiver_us();
    return "<g class=\"message\"><title>" + member_text(message.from) + " -&gt; " + member_text(message.to) +
           ", sent " + number(message.sent_us) + ", received " + number(message.received_us) + " us</title>\n" +
           element("line", "arrow",
                   {{"x1", page.x(message.from) + side},
                    {"y1", page.y(message.sent_us + logp.o_s())},
                    {"x2", page.x(message.to) - side},
                    {"y2", page.y(taken_us)}},
                   " marker-end=\"url(#head)\"/>\n") +
           bar(page, "send", message.from, message.sent_us, message.sent_us + logp.o_s()) +
           bar(page, "receive", message.to, taken_us, message.received_us) + "</g>\n";
}

std::string legend(const Page& page) {
    const double y = page.height() - 18;
    const auto entry = [y](std::string_view kind, double x, std::string_view text) {
        return element("rect", kind, {{"x", x}, {"y", y - 11}, {"width", Page::bar}, {"height", 13}, {"rx", 1.5}}) +
               words("small", x + 16, y, text);
    };
    return entry("send", Page::axis, "sends a signal") + entry("receive", Page::axis + 124, "takes a signal");
}

/// When each role has sent its last message, which is the last it does.
std::vector<double> completion_of_roles(const Plan& plan, const LogP& logp, const std::vector<Message>& messages) {
    std::vector<double> done_us(plan.roles());
    for (const Message& message : messages)
        if (is_role(message.from)) {
            double& done = done_us[role_number(message.from)];
            done = std::max(done, message.sent_us + logp.o_s());
        }
    return done_us;
}

std::string counted(Rank number, std::string_view what) {
    return std::to_string(number) + ' ' + std::string(what) + (number == 1 ? "" : "s");
}

}  // namespace

std::string draw_svg(const Plan& plan, const LogP& logp) {
    const Price price = tollbar::price(plan, logp);
    const std::vector<Message> messages = price_messages(plan, logp);
    const std::string title = plan.name() + ", " + counted(plan.ranks(), "rank") +
                              (plan.roles() == 0 ? "" : ", " + counted(plan.roles(), "role")) + ": " +
                              number(price.last_us) + " us";
    const Page page(logp, plan, price.last_us, title.size());
    const std::string size = number(page.width()) + ' ' + number(page.height());

    std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 " + size + "\" width=\"" +
                      number(page.width()) + "\" height=\"" + number(page.height()) + "\">\n<title>" + escaped(title) +
                      "</title>\n" + std::string(style) + std::string(plan.roles() == 0 ? "" : style_of_roles);
    svg += element("rect", "paper", {{"width", page.width()}, {"height", page.height()}, {"rx", 8}});
    svg += words("name", 16, 28, title);
    const std::string overheads = logp.o_r ? ", o_s " + number(logp.o) + ", o_r " + number(*logp.o_r)
                                           : ", o " + number(logp.o);
    svg += words("small", 16, 47, "L " + number(logp.L) + overheads + ", g " + number(logp.g) + " us");
    svg += axis(page, price.last_us);
    for (Rank rank = 0; rank < plan.ranks(); ++rank) svg += lane(page, rank, price.completion_us[rank]);
    const std::vector<double> done_us = completion_of_roles(plan, logp, messages);
    for (Rank number = 0; number < plan.roles(); ++number) svg += lane(page, role(number), done_us[number]);
    for (const Message& message : messages) svg += arrow(page, logp, message);
    for (Rank rank = 0; rank < plan.ranks(); ++rank)
        svg += words("done", page.x(rank), page.y(price.completion_us[rank]) + 17, number(price.completion_us[rank]));
    return svg + legend(page) + "</svg>\n";
}

}  // namespace tollbar::detail
