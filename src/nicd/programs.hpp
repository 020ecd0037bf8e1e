// SPDX-License-Identifier: Apache-2.0
// The programs of one network interface, or of a switch made of this host's interfaces: loaded, attached and fed by a
// process with the right to, gone when that process is.
#pragma once

#include "base/files.hpp"
#include "transports/nic/group.h"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

struct bpf_object;

namespace tollbar::detail::nic {

enum class Mode : std::uint8_t {
    automatic,  ///< native where a device is behind the interface and takes it, else generic
    native,     ///< in the driver
    generic,    ///< in the kernel's receive path, for any interface
};

struct BpfClose {
    void operator()(bpf_object* object) const noexcept;
};
using BpfObject = std::unique_ptr<bpf_object, BpfClose>;

/// Program `name` of an object that is part of this program ("nic", "switch", which wants a key); throws
/// std::runtime_error.
BpfObject load(const std::string& name, const toll_key* key = nullptr);

/// The same for any object file: a switch's gets its key before it is loaded.
void give_key(bpf_object* object, const toll_key& key);

int program(const BpfObject& object, const char* name);
int map(const BpfObject& object, const char* name);

/// Attaches with a descriptor's lifetime: nothing stays when the process ends, however it does.
/// Throws std::system_error that names the interface.
File attach_xdp(int program, const std::string& interface, Mode& mode);

/// A group's maps; once it is published no process can write anything to the first, whatever its rights.
struct Pages {
    File group;
    File host;
};

/// Puts empty maps into those slots of the programs "nic", in place of what was there. Takes as long as all processors
/// need to finish what they are at, some milliseconds, however many slots there are. Throws std::system_error.
std::vector<Pages> prepare(const BpfObject& object, const std::vector<std::uint32_t>& slots);

/// Makes a group known to the programs "nic", in the maps prepared for its slot. Takes microseconds. Throws
/// std::system_error.
void publish(const BpfObject& object, const Pages& pages, const toll_group& group);

/// The programs of one interface. One thread calls it; another, its own, prepares the slots, for that waits.
class NicPrograms {
public:
    /// A slot that waits for a group.
    struct Prepared {
        std::uint32_t slot;
        Pages pages;
    };

    /// Throws std::runtime_error or std::system_error that says what is missing.
    NicPrograms(std::string interface, Mode mode);
    ~NicPrograms();
    NicPrograms(const NicPrograms&) = delete;
    NicPrograms& operator=(const NicPrograms&) = delete;

    const std::string& interface() const noexcept { return interface_; }
    std::uint32_t index() const noexcept { return index_; }
    Mode mode() const noexcept { return mode_; }

    /// The slot for the next group; nothing while none is ready. Never waits.
    std::optional<Prepared> take() noexcept;

    /// The interface's own hardware address, from which frames are sent.
    void send_from(const std::array<std::uint8_t, 6>& hardware) noexcept;

    /// As publish(), in the maps of the slot that was taken.
    void add(const Prepared& prepared, const toll_group& group);

    /// The programs forget it; a process that has mapped it still sees its last state, and its slot is not used again.
    void remove(toll_u64 name) noexcept;

    /// That slot may be used again.
    void give_back(std::uint32_t slot) noexcept;

    /// Slots whose maps some process has open or mapped, ascending; this one too as long as it keeps the pages.
    std::vector<std::uint32_t> held() const;

    /// The addresses at which echoes are answered.
    void answer_at(const std::vector<std::uint32_t>& addresses) noexcept;

    /// The programs' counts, by toll_statistic.
    std::array<std::uint64_t, toll_statistics> counts() const;

private:
    void keep_prepared() noexcept;

    std::string interface_;
    std::uint32_t index_;
    Mode mode_;
    BpfObject object_;
    std::vector<File> links_;
    File watched_;  ///< an epoll set of the maps that were given out: a map stays in it until all have closed it
    std::vector<std::uint32_t> answered_;

    std::mutex mutex_;  ///< of what follows
    std::condition_variable wanted_;
    std::deque<Prepared> prepared_;
    std::vector<std::uint32_t> free_;  ///< slots that hold no group and no prepared maps
    bool ending_ = false;
    std::thread preparer_;
};

/// Counts arrivals itself.
class Switch {
public:
    /// `ports` are names with commas between; each has the far end of a cable to one host. `key` is the one that the
    /// hosts' daemons have too. Throws as NicPrograms does.
    Switch(std::string_view ports, Mode mode, const toll_key& key);

private:
    BpfObject object_;
    std::vector<File> links_;
};

}  // namespace tollbar::detail::nic
