// SPDX-License-Identifier: Apache-2.0
// Hands out blocks of a shared file, whose pages are asked for before they are touched: a full /dev/shm is an
// answer here, not a SIGBUS later.
#include "arena.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tollbar {

namespace {

constexpr std::size_t capacity = std::size_t{1} << 30;  // of addresses; pages come with the blocks
constexpr unsigned smallest_class = 12;                 // blocks are 4 KiB, 8 KiB, ...
constexpr unsigned classes = 19;
constexpr std::size_t notices = 256;

std::string path_of(std::uint64_t id) {
    char name[80];
    std::snprintf(name, sizeof name, "/tollbar.%u.mpi.%016llx", static_cast<unsigned>(getuid()),
                  static_cast<unsigned long long>(id));
    return name;
}

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

/// Holds a mutex that processes share; one whose holder died is as good as ever, for what it guards is only ever
/// one store away from being right.
class Lock {
public:
    explicit Lock(pthread_mutex_t& mutex) noexcept : mutex_(mutex) {
        if (pthread_mutex_lock(&mutex_) == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
    }
    ~Lock() { pthread_mutex_unlock(&mutex_); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    pthread_mutex_t& mutex_;
};

/// One line of the board. The ticket is 0 while the line is free and `taken` while it is being written.
struct Notice {
    static constexpr std::uint64_t taken = ~std::uint64_t{0};

    std::atomic<std::uint64_t> ticket{0};
    std::atomic<Offset> block{0};
    std::atomic<std::uint32_t> readers{0};
};

}  // namespace

struct Arena::Header {
    pthread_mutex_t mutex;
    Offset end = 0;                      ///< of all that was ever handed out
    std::array<Offset, classes> free{};  ///< the first free block of each class
    std::array<Notice, notices> board{};
};

/// In front of every block.
struct alignas(line_bytes) Arena::Block {
    std::atomic<std::uint32_t> users{0};
    std::uint32_t size_class = 0;
    Offset next = 0;  ///< while free
};

Arena::Header& Arena::header() const noexcept { return *std::launder(reinterpret_cast<Header*>(memory_)); }

Arena::Block& Arena::block(Offset offset) const noexcept {
    return *std::launder(reinterpret_cast<Block*>(memory_ + offset - sizeof(Block)));
}

std::shared_ptr<Arena> Arena::map(std::uint64_t id, int descriptor) {
    void* memory = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
    if (memory == MAP_FAILED) {
        const int error = errno;
        ::close(descriptor);
        errno = error;
        fail("cannot map the memory of the node");
    }
    return std::shared_ptr<Arena>(new Arena(id, descriptor, static_cast<std::byte*>(memory)));
}

std::shared_ptr<Arena> Arena::make(std::uint64_t id) {
    const std::string path = path_of(id);
    const int descriptor = shm_open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor < 0) fail("cannot make /dev/shm" + path);
    constexpr auto first = static_cast<off_t>((sizeof(Header) + line_bytes - 1) / line_bytes * line_bytes);
    int error = ftruncate(descriptor, static_cast<off_t>(capacity)) == 0 ? 0 : errno;
    if (error == 0) error = posix_fallocate(descriptor, 0, first);
    if (error != 0) {
        ::close(descriptor);
        shm_unlink(path.c_str());
        errno = error;
        fail("no room in /dev/shm");
    }
    auto arena = map(id, descriptor);
    auto* header = new (arena->memory_) Header{};
    header->end = static_cast<Offset>(first);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&header->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return arena;
}

std::shared_ptr<Arena> Arena::open(std::uint64_t id) {
    const std::string path = path_of(id);
    const int descriptor = shm_open(path.c_str(), O_RDWR | O_CLOEXEC, 0);
    if (descriptor < 0) fail("cannot open /dev/shm" + path);
    return map(id, descriptor);
}

void Arena::unlink(std::uint64_t id) noexcept { shm_unlink(path_of(id).c_str()); }

Arena::~Arena() {
    munmap(memory_, capacity);
    ::close(descriptor_);
}

Offset Arena::take(std::size_t bytes, std::uint32_t users) {
    const auto size_class = static_cast<unsigned>(std::bit_width((bytes + sizeof(Block) - 1) >> smallest_class));
    if (size_class >= classes) return 0;
    Header& header = this->header();
    const Lock lock(header.mutex);

    Offset& free = header.free[size_class];
    if (free != 0) {
        const Offset reused = free;
        Block& block = this->block(reused);
        free = block.next;
        block.users.store(users, std::memory_order_relaxed);
        return reused;
    }
    const std::size_t size = std::size_t{1} << (size_class + smallest_class);
    if (size > capacity - header.end) return 0;
    if (posix_fallocate(descriptor_, static_cast<off_t>(header.end), static_cast<off_t>(size)) != 0) return 0;
    const Offset made = header.end + sizeof(Block);
    auto* block = new (memory_ + header.end) Block;
    block->size_class = size_class;
    block->users.store(users, std::memory_order_relaxed);
    header.end += size;
    return made;
}

void Arena::give_back(Offset offset) noexcept {
    Block& block = this->block(offset);
    if (block.users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    Header& header = this->header();
    const Lock lock(header.mutex);
    block.next = header.free[block.size_class];
    header.free[block.size_class] = offset;
}

bool Arena::post(std::uint64_t ticket, Offset block, std::uint32_t readers) noexcept {
    for (Notice& notice : header().board) {
        std::uint64_t free = 0;
        if (!notice.ticket.compare_exchange_strong(free, Notice::taken, std::memory_order_acquire)) continue;
        notice.block.store(block, std::memory_order_relaxed);
        notice.readers.store(readers, std::memory_order_relaxed);
        notice.ticket.store(ticket, std::memory_order_release);  // pairs with look_up()
        return true;
    }
    return false;
}

bool Arena::look_up(std::uint64_t ticket, Offset& block) noexcept {
    for (Notice& notice : header().board) {
        if (notice.ticket.load(std::memory_order_acquire) != ticket) continue;  // pairs with post()
        block = notice.block.load(std::memory_order_relaxed);
        if (notice.readers.fetch_sub(1, std::memory_order_acq_rel) == 1)
            notice.ticket.store(0, std::memory_order_release);  // pairs with the exchange in post()
        return true;
    }
    return false;
}

}  // namespace tollbar
