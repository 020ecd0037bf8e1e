// SPDX-License-Identifier: Apache-2.0
// A demangled name is cut where its brackets balance.
#include "names.hpp"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <string_view>
#include <utility>

namespace tollbar::look {

namespace {

constexpr std::string_view called_operator = "operator";

/// Without the arguments of templates. An operator's name may have such brackets itself.
std::string without_template_arguments(std::string_view name) {
    std::string kept;
    int depth = 0;
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (depth == 0 && name[at] == '<' && kept.ends_with(called_operator)) {  // <, <<, <=, <=>, and then arguments
            std::size_t end = at + 1;
            while (end < name.size() && (name[end] == '<' || name[end] == '=')) ++end;
            if (end < name.size() && name[end] == '>' && name[end - 1] == '=') ++end;
            kept += name.substr(at, end - at);
            at = end - 1;
            continue;
        }
        const bool is_arrow = name[at] == '>' && at > 0 && name[at - 1] == '-';
        const bool is_greater = name[at] == '>' && depth == 0;
        depth += name[at] == '<' ? 1 : 0;
        if (depth == 0) kept += name[at];
        if (name[at] == '>' && !is_arrow && !is_greater) --depth;
    }
    return kept;
}

/// The beginning of the bracket with which the name ends; npos where it ends in none.
std::size_t last_bracket(std::string_view name) {
    int depth = 0;
    for (std::size_t at = name.size(); at-- > 0;) {
        depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
        if (depth == 0) return name[at] == '(' ? at : name.npos;
    }
    return name.npos;
}

void cut_behind(std::string& name, std::string_view part) {
    if (name.ends_with(part)) name.resize(name.size() - part.size());
}

/// The beginning of the name itself, behind its result.
std::size_t begin_of(std::string_view name) {
    int depth = 0;
    for (std::size_t at = name.size(); at-- > 0;) {
        const char letter = name[at];
        depth += letter == ')' || letter == '}' ? 1 : letter == '(' || letter == '{' ? -1 : 0;
        if (letter == ' ' && depth == 0 && !name.substr(0, at).ends_with(called_operator)) return at + 1;
    }
    return 0;
}

}  // namespace

std::string demangled(const char* name) {
    if (std::string_view(name).substr(0, 2) != "_Z") return name;
    int status = 0;
    char* const plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string text = plain != nullptr ? plain : name;
    std::free(plain);  // NOLINT: the run-time library has taken it from malloc
    return text;
}

std::string brief(const char* name) {
    std::string text = demangled(name);
    return text == name ? text : brief_of_plain(std::move(text));
}

std::string brief_of_plain(std::string text) {
    constexpr std::string_view unnamed = "(anonymous namespace)::";
    for (std::size_t at = 0; (at = text.find(unnamed, at)) != text.npos;) text.erase(at, unnamed.size());
    text.erase(std::min(text.find(" [clone "), text.size()));
    text = without_template_arguments(text);
    for (const std::string_view behind : {" &&", " &", " volatile", " const"}) cut_behind(text, behind);
    const std::size_t arguments = last_bracket(text);
    if (arguments != text.npos && !std::string_view(text).substr(0, arguments).ends_with(called_operator))
        text.resize(arguments);
    text.erase(text.find_last_not_of(' ') + 1);
    return text.substr(begin_of(text));
}

std::string file_name(const char* path) {
    const std::string_view whole = path == nullptr ? "" : path;
    return std::string(whole.substr(whole.rfind('/') + 1));
}

}  // namespace tollbar::look
