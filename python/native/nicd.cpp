// SPDX-License-Identifier: Apache-2.0
// Asks the daemon of the network card as members do.
#include "ending.hpp"
#include "parts.hpp"

#include "membership/connection.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>

namespace nb = nanobind;
using namespace nb::literals;
using namespace tollbar;
using namespace tollbar::detail;

namespace {

nic::Verb verb_of(const std::string& name) {
    if (name == "status") return nic::Verb::status;
    if (name == "stop") return nic::Verb::stop;
    throw std::invalid_argument("'" + name + "' is neither status nor stop");
}

std::string ask(const std::string& path, const std::string& verb) {
    using namespace std::chrono_literals;
    const nic::Request request{.verb = verb_of(verb)};
    const File connection = nic::connect_to(path);
    if (!connection) throw std::runtime_error("no daemon at " + path + ": " + nic::why_no_daemon(errno));
    const auto answer = nic::ask(connection, request, {}, 5s);
    if (!answer) throw std::runtime_error("the daemon at " + path + " does not answer, or is of another version");
    if (answer->error != 0)
        throw std::runtime_error(answer->text.empty() ? std::strerror(answer->error) : answer->text);
    return answer->text;
}

}  // namespace

void bind_nicd(nb::module_& m) {
    m.def("ask_nicd", &ask, "path"_a, "verb"_a, nb::call_guard<python::LockGivenUp>(),
          nb::sig("def ask_nicd(path: str, verb: typing.Literal['status', 'stop']) -> str"),
          "What the daemon of the network card whose socket is `path` answers: its status as JSON, or to stop that it\n"
          "does. Raises RuntimeError that says what is wrong.");
    m.def(
        "found_nicd_socket", [] { return nic::socket_of_daemon(nullptr); },
        "Where a daemon of this host's network cards listens, as the library finds it.");
}
