// SPDX-License-Identifier: Apache-2.0
// Hands out blocks of a shared file, whose pages are asked for before they are touched.
#include "arena.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <new>
#include <pthread.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tollbar::detail {

namespace {

constexpr std::size_t capacity = std::size_t{1} << 30;
constexpr unsigned smallest_class = 12;  // blocks are 4 KiB, 8 KiB, ...
constexpr unsigned classes = 19;
constexpr std::size_t smallest_piece = std::size_t{64} << 10;
constexpr std::size_t notices = 256;
constexpr std::string_view folder = "/dev/shm/";

std::string path_of(std::uint64_t id) {
    char name[80];
    std::snprintf(name, sizeof name, "tollbar.%u.mpi.%016llx", static_cast<unsigned>(getuid()),
                  static_cast<unsigned long long>(id));
    return std::string(folder) + name;
}

std::string path_of(Arena::Descriptor file) {
    return "/proc/" + std::to_string(file.process) + "/fd/" + std::to_string(file.number);
}

/// Throws unless the path leads to shared memory: elsewhere a process of that number may be another one.
void refuse_other_files(const std::string& path) {
    std::array<char, 64> target{};
    if (readlink(path.c_str(), target.data(), target.size()) < 0) throw_errno("cannot look at " + path);
    if (!std::string_view(target.data(), target.size()).starts_with(folder))
        throw_errno(path + " is no shared memory", ENOENT);
}

std::byte* map(const File& file, Offset from, std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), static_cast<off_t>(from));
    if (memory == MAP_FAILED) throw_errno("cannot map the memory of the node");
    return static_cast<std::byte*>(memory);
}

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

/// The first pages of the file.
struct Arena::Header {
    struct Piece {
        Offset begin = 0;
        std::size_t bytes = 0;
    };

    std::uint64_t id;
    pthread_mutex_t mutex;
    Offset end = 0;                      ///< of all that was ever handed out
    std::array<Offset, classes> free{};  ///< the first free block of each class
    std::array<Notice, notices> board{};
    std::atomic<std::uint32_t> pieces_made{0};
    std::array<Piece, pieces> piece{};

    static constexpr std::size_t page = 4096;
    static constexpr std::size_t bytes() { return (sizeof(Header) + page - 1) / page * page; }

    /// How long the file is.
    Offset limit() const {
        const std::uint32_t made = pieces_made.load(std::memory_order_relaxed);
        return made == 0 ? bytes() : piece[made - 1].begin + piece[made - 1].bytes;
    }
};

/// In front of every block.
struct alignas(line_bytes) Arena::Block {
    std::atomic<std::uint32_t> users{0};
    std::uint32_t size_class = 0;
    Offset next = 0;  ///< while free
};

Arena::Header& Arena::header() const noexcept { return *std::launder(reinterpret_cast<Header*>(header_)); }

Arena::Block& Arena::block(Offset offset) {
    return *std::launder(reinterpret_cast<Block*>(at(offset - sizeof(Block))));
}

Arena::Arena(std::uint64_t id, File file) : id_(id), file_(std::move(file)), header_(map(file_, 0, Header::bytes())) {}

Arena::Descriptor Arena::descriptor() const noexcept { return {.process = getpid(), .number = file_.number()}; }

std::shared_ptr<Arena> Arena::make(std::uint64_t id) {
    File file(::open(folder.data(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file) throw_errno("cannot make shared memory in " + std::string(folder));
    if (const int error = reserve(file.number(), 0, Header::bytes()); error != 0)
        throw_errno("no room in /dev/shm", error);
    std::shared_ptr<Arena> arena(new Arena(id, std::move(file)));
    auto* header = new (arena->header_) Header{};
    header->id = id;
    header->end = Header::bytes();
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&header->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return arena;
}

std::shared_ptr<Arena> Arena::opened(std::uint64_t id, const char* path) {
    File file(::open(path, O_RDWR | O_CLOEXEC));
    if (!file) throw_errno(std::string("cannot open ") + path);
    struct stat status {};
    if (fstat(file.number(), &status) != 0) throw_errno(std::string("cannot inspect ") + path);
    if (static_cast<std::size_t>(status.st_size) < Header::bytes())
        throw_errno(std::string(path) + " is something else", ENOENT);
    std::shared_ptr<Arena> arena(new Arena(id, std::move(file)));
    if (arena->header().id != id) throw_errno(std::string(path) + " is another job's", ENOENT);
    return arena;
}

std::shared_ptr<Arena> Arena::open(std::uint64_t id, Descriptor file) {
    const std::string path = path_of(file);
    refuse_other_files(path);
    return opened(id, path.c_str());
}

std::shared_ptr<Arena> Arena::open(std::uint64_t id) { return opened(id, path_of(id).c_str()); }

void Arena::link() const {
    const std::string path = path_of(id_);
    if (linkat(AT_FDCWD, path_of(descriptor()).c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0)
        throw_errno("cannot name " + path);
}

void Arena::unlink(std::uint64_t id) noexcept { ::unlink(path_of(id).c_str()); }

Arena::~Arena() {
    const Header& header = this->header();
    for (std::size_t i = 0; i < pieces; ++i)
        if (mapped_[i] != nullptr) munmap(mapped_[i], header.piece[i].bytes);
    munmap(header_, Header::bytes());
}

std::byte* Arena::at(Offset block) {
    const std::lock_guard lock(mutex_);
    const Header& header = this->header();
    const std::uint32_t made = header.pieces_made.load(std::memory_order_acquire);  // pairs with grow()
    std::uint32_t i = 0;
    while (i + 1 < made && header.piece[i + 1].begin <= block) ++i;
    const Header::Piece& piece = header.piece[i];
    if (mapped_[i] == nullptr) mapped_[i] = map(file_, piece.begin, piece.bytes);
    return mapped_[i] + (block - piece.begin);
}

/// Each piece is half as large as all before it, so that a few are enough and little is unused; where there is no room
/// for that, as large as it has to be.
bool Arena::grow(Header& header, std::size_t bytes) {
    const std::uint32_t made = header.pieces_made.load(std::memory_order_relaxed);
    const Offset begin = header.limit();
    if (made == pieces || bytes > capacity - begin) return false;
    const std::size_t half = begin / 2 / Header::page * Header::page;
    std::size_t size = std::min(std::max({bytes, smallest_piece, half}), capacity - begin);
    if (reserve(file_.number(), begin, size) != 0) {
        size = bytes;
        if (reserve(file_.number(), begin, size) != 0) return false;
    }
    header.piece[made] = {.begin = begin, .bytes = size};
    header.end = begin;
    header.pieces_made.store(made + 1, std::memory_order_release);  // pairs with at()
    return true;
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
    if (size > header.limit() - header.end && !grow(header, size)) return 0;
    const Offset made = header.end + sizeof(Block);
    auto* block = new (at(header.end)) Block;
    block->size_class = size_class;
    block->users.store(users, std::memory_order_relaxed);
    header.end += size;
    return made;
}

/// A rank that gives a block back has used it, so that it is mapped.
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

}  // namespace tollbar::detail
