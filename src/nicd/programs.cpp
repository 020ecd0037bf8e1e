// SPDX-License-Identifier: Apache-2.0
// Everything the daemon asks of the kernel about BPF.
#include "programs.hpp"

#include "objects.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/epoll.h>

namespace tollbar::detail::nic {

namespace {

// Newer than the headers that some distributions compile with.
constexpr auto tcx_ingress = static_cast<bpf_attach_type>(46);
constexpr auto tcx_egress = static_cast<bpf_attach_type>(47);

/// Groups that can join at once without waiting for a slot; more are prepared when there are only so few.
constexpr std::size_t many_prepared = 32;
constexpr std::size_t few_prepared = 16;

/// libbpf's options begin with their size.
template <class Options>
Options sized() {
    Options options{};
    options.sz = sizeof options;
    return options;
}

std::uint32_t index_of(const std::string& interface) {
    const unsigned index = if_nametoindex(interface.c_str());
    if (index == 0) throw_errno("there is no interface " + interface);
    return index;
}

File link(int program, std::uint32_t index, bpf_attach_type where, std::uint32_t flags) {
    auto options = sized<bpf_link_create_opts>();
    options.flags = flags;
    return File(bpf_link_create(program, static_cast<int>(index), where, &options));
}

File attach_tc(int program, const std::string& interface, bpf_attach_type where) {
    File attached = link(program, index_of(interface), where, 0);
    if (!attached) throw_errno("attaching to " + interface + " (this needs Linux 6.6 or newer)");
    return attached;
}

File new_array(const char* name, std::uint32_t bytes) {
    auto options = sized<bpf_map_create_opts>();
    options.map_flags = BPF_F_MMAPABLE;
    File made(bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(std::uint32_t), bytes, 1, &options));
    if (!made) throw_errno("a map for the group");
    return made;
}

}  // namespace

void BpfClose::operator()(bpf_object* object) const noexcept { bpf_object__close(object); }

void give_key(bpf_object* object, const toll_key& key) {
    bpf_map* const constants = bpf_object__find_map_by_name(object, ".rodata");
    if (constants == nullptr || bpf_map__set_initial_value(constants, &key, sizeof key) != 0)
        throw std::runtime_error("the switch's program takes no key");
}

BpfObject load(const std::string& name, const toll_key* key) {
    libbpf_set_print([](libbpf_print_level, const char*, va_list) { return 0; });
    const bool counts = name == "switch";
    const unsigned char* const begin = counts ? tollbar_switch_object : tollbar_nic_object;
    const unsigned char* const end = counts ? tollbar_switch_object_end : tollbar_nic_object_end;
    auto options = sized<bpf_object_open_opts>();
    options.object_name = "tollbar";
    BpfObject object(bpf_object__open_mem(begin, static_cast<std::size_t>(end - begin), &options));
    if (!object)
        throw std::runtime_error("the program for the NIC cannot be read: " + std::string(std::strerror(errno)));
    if (key != nullptr) give_key(object.get(), *key);
    if (const int error = bpf_object__load(object.get()); error != 0) {
        if (error == -EPERM)
            throw std::runtime_error(
                "no right to load BPF programs: run this as root, or with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN");
        throw std::runtime_error("the kernel rejects the program for the NIC: " + std::string(std::strerror(-error)));
    }
    return object;
}

int program(const BpfObject& object, const char* name) {
    return bpf_program__fd(bpf_object__find_program_by_name(object.get(), name));
}

int map(const BpfObject& object, const char* name) { return bpf_object__find_map_fd_by_name(object.get(), name); }

File attach_xdp(int program, const std::string& interface, Mode& mode) {
    const std::uint32_t index = index_of(interface);
    const bool device = std::filesystem::exists("/sys/class/net/" + interface + "/device");
    if (mode == Mode::native || (mode == Mode::automatic && device)) {
        File attached = link(program, index, BPF_XDP, XDP_FLAGS_DRV_MODE);
        if (!attached && mode == Mode::native)
            throw_errno("the driver of " + interface + " does not support XDP programs (use --mode generic)");
        mode = Mode::native;
        if (attached) return attached;
    }
    mode = Mode::generic;
    File attached = link(program, index, BPF_XDP, XDP_FLAGS_SKB_MODE);
    if (!attached)
        throw_errno("attaching to " + interface +
                    (errno == EBUSY || errno == EEXIST ? " (another XDP program is there)" : ""));
    return attached;
}

std::vector<Pages> prepare(const BpfObject& object, const std::vector<std::uint32_t>& slots) {
    std::vector<Pages> made;
    made.reserve(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i)
        made.push_back({.group = new_array("tollbar_group", sizeof(toll_group)),
                        .host = new_array("tollbar_host", sizeof(toll_host))});
    for (const auto& [name, file] : {std::pair{"groups", &Pages::group}, {"hosts", &Pages::host}}) {
        std::vector<int> numbers(made.size());
        std::ranges::transform(made, numbers.begin(),
                               [file = file](const Pages& pages) { return (pages.*file).number(); });
        auto count = static_cast<std::uint32_t>(slots.size());
        const auto options = sized<bpf_map_batch_opts>();
        if (bpf_map_update_batch(map(object, name), slots.data(), numbers.data(), &count, &options) != 0)
            throw_errno("maps for groups");
    }
    return made;
}

void publish(const BpfObject& object, const Pages& pages, const toll_group& group) {
    const std::uint32_t first = 0;
    if (bpf_map_update_elem(pages.group.number(), &first, &group, BPF_ANY) != 0) throw_errno("writing the group's map");
    // From now on only the programs write it: a descriptor opened for reading could not be mapped.
    if (bpf_map_freeze(pages.group.number()) != 0) throw_errno("freezing the group's map");
    if (bpf_map_update_elem(map(object, "slots"), &group.self.who.name, &group.slot, BPF_NOEXIST) != 0)
        throw_errno("no room for the group");
}

NicPrograms::NicPrograms(std::string interface, Mode mode)
    : interface_(std::move(interface)), index_(index_of(interface_)), mode_(mode), object_(load("nic")),
      watched_(epoll_create1(EPOLL_CLOEXEC)) {
    if (!watched_) throw_errno("epoll");
    // The host's frames are caught last: until then nothing can arrive.
    links_.push_back(attach_tc(program(object_, "proceed"), interface_, tcx_ingress));
    links_.push_back(attach_xdp(program(object_, "receive"), interface_, mode_));
    links_.push_back(attach_tc(program(object_, "arrive"), interface_, tcx_egress));
    free_.resize(toll_groups);
    std::iota(free_.rbegin(), free_.rend(), 0);  // the lowest is taken first
    preparer_ = std::thread([this] { keep_prepared(); });
}

NicPrograms::~NicPrograms() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    wanted_.notify_one();
    preparer_.join();
}

std::optional<NicPrograms::Prepared> NicPrograms::take() noexcept {
    const std::lock_guard lock(mutex_);
    if (prepared_.size() <= few_prepared) wanted_.notify_one();
    if (prepared_.empty()) return std::nullopt;
    Prepared first = std::move(prepared_.front());
    prepared_.pop_front();
    return first;
}

void NicPrograms::add(const Prepared& prepared, const toll_group& group) {
    publish(object_, prepared.pages, group);
    epoll_event event{};
    event.data.u32 = prepared.slot;
    for (const File* map : {&prepared.pages.group, &prepared.pages.host})
        if (epoll_ctl(watched_.number(), EPOLL_CTL_ADD, map->number(), &event) != 0) {
            const int error = errno;
            remove(group.self.who.name);
            throw_errno("watching the group's maps", error);
        }
}

void NicPrograms::send_from(const std::array<std::uint8_t, 6>& hardware) noexcept {
    const std::uint32_t first = 0;
    std::array<std::uint8_t, 8> value{};
    std::ranges::copy(hardware, value.begin());
    bpf_map_update_elem(map(object_, ".bss"), &first, value.data(), BPF_ANY);
}

void NicPrograms::remove(toll_u64 name) noexcept { bpf_map_delete_elem(map(object_, "slots"), &name); }

void NicPrograms::give_back(std::uint32_t slot) noexcept {
    const std::lock_guard lock(mutex_);
    free_.push_back(slot);  // there is room for all; its maps go when it is prepared anew
}

std::vector<std::uint32_t> NicPrograms::held() const {
    // The kernel takes a map out when its last descriptor and mapping go; until then it reports it, whatever happens.
    std::vector<epoll_event> maps(std::size_t{2} * toll_groups);
    const int count = epoll_wait(watched_.number(), maps.data(), static_cast<int>(maps.size()), 0);
    if (count < 0) throw_errno("epoll");
    std::vector<std::uint32_t> slots(static_cast<std::size_t>(count));
    std::transform(maps.begin(), maps.begin() + count, slots.begin(),
                   [](const epoll_event& map) { return map.data.u32; });
    std::ranges::sort(slots);
    return slots;
}

void NicPrograms::answer_at(const std::vector<std::uint32_t>& addresses) noexcept {
    const std::uint8_t yes = 1;
    for (const std::uint32_t address : answered_)
        if (std::ranges::find(addresses, address) == addresses.end())
            bpf_map_delete_elem(map(object_, "own"), &address);
    for (const std::uint32_t address : addresses) bpf_map_update_elem(map(object_, "own"), &address, &yes, BPF_ANY);
    answered_ = addresses;
}

/// Prepares many slots at a time, ahead of need; tries again a little later when it cannot.
void NicPrograms::keep_prepared() noexcept {
    std::unique_lock lock(mutex_);
    while (!ending_) {
        const std::size_t count = prepared_.size() > few_prepared
                                      ? 0
                                      : std::min(free_.size(), many_prepared - prepared_.size());
        if (count == 0) {
            wanted_.wait(lock);
            continue;
        }
        try {
            const std::vector<std::uint32_t> slots(free_.end() - static_cast<std::ptrdiff_t>(count), free_.end());
            free_.resize(free_.size() - count);
            lock.unlock();
            std::vector<Pages> made;
            try {
                made = prepare(object_, slots);
            } catch (const std::exception&) {
                lock.lock();
                free_.insert(free_.end(), slots.begin(), slots.end());
                throw;
            }
            lock.lock();
            for (std::size_t i = 0; i < count; ++i)
                prepared_.push_back({.slot = slots[i], .pages = std::move(made[i])});
        } catch (const std::exception&) {
            if (!lock) lock.lock();
            wanted_.wait_for(lock, std::chrono::milliseconds(100));
        }
    }
}

std::array<std::uint64_t, toll_statistics> NicPrograms::counts() const {
    std::array<std::uint64_t, toll_statistics> sums{};
    std::vector<std::uint64_t> each(static_cast<std::size_t>(libbpf_num_possible_cpus()));
    for (std::uint32_t what = 0; what < sums.size(); ++what) {
        if (bpf_map_lookup_elem(map(object_, "statistics"), &what, each.data()) != 0)
            throw_errno("reading the statistics");
        for (const std::uint64_t one : each) sums[what] += one;
    }
    return sums;
}

Switch::Switch(std::string_view ports, Mode mode, const toll_key& key) : object_(load("switch", &key)) {
    for (std::uint32_t port = 0; !ports.empty(); ++port) {
        const std::size_t comma = std::min(ports.find(','), ports.size());
        const std::string name(ports.substr(0, comma));
        ports.remove_prefix(std::min(comma + 1, ports.size()));
        Mode own = mode;
        links_.push_back(attach_xdp(program(object_, "tally_up"), name, own));
        const std::uint32_t index = index_of(name);
        if (bpf_map_update_elem(map(object_, "ports"), &port, &index, BPF_ANY) != 0)
            throw_errno("the switch has no room for port " + name);
    }
}

}  // namespace tollbar::detail::nic
