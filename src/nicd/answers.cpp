// SPDX-License-Identifier: Apache-2.0
#include "answers.hpp"

#include <array>
#include <cstddef>
#include <cstring>

#include <sys/socket.h>
#include <sys/uio.h>

namespace tollbar::nic {

void send_answer(const File& connection, int error, const std::string& text,
                 const std::vector<const File*>& files) noexcept {
    Answer answer{.error = error};
    std::array<iovec, 2> parts{iovec{.iov_base = &answer, .iov_len = sizeof answer},
                               iovec{.iov_base = const_cast<char*>(text.data()), .iov_len = text.size()}};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(most_files * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    if (!files.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
        for (std::size_t i = 0; i < files.size(); ++i) {
            const int number = files[i]->number();
            std::memcpy(CMSG_DATA(header) + i * sizeof number, &number, sizeof number);
        }
    }
    sendmsg(connection.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);  // who is gone is noticed when it is read
}

}  // namespace tollbar::nic
