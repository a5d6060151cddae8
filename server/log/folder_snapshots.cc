// Snapshots as files of one folder.
#include "log/folder_snapshots.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "log/files.h"

namespace dpcache::server {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".dpcache";
constexpr std::string_view kUnfinished = ".tmp";  // behind the suffix
constexpr std::size_t kDigits = 20;               // of the largest position
constexpr std::size_t kLongestName = 200;         // a file's name has at most 255 bytes

bool is_name(std::string_view cache) {
  return !cache.empty() && cache.size() <= kLongestName &&
         cache.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == cache.npos;
}

std::string file_name(const std::string& cache, Position position) {
  if (!is_name(cache)) throw std::invalid_argument("'" + cache + "' is no name of a cache's files");
  const std::string digits = std::to_string(position);
  return cache + "." + std::string(kDigits - digits.size(), '0') + digits + std::string(kSuffix);
}

// What a file's name says, or nothing where it is not one of ours.
std::optional<StoredSnapshot> parse(std::string_view name) {
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  if (name.size() < kDigits + 2 || name[name.size() - kDigits - 1] != '.') return std::nullopt;
  const std::string_view digits = name.substr(name.size() - kDigits);
  StoredSnapshot found;
  found.cache = name.substr(0, name.size() - kDigits - 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), found.position);
  if (error != std::errc() || end != digits.data() + digits.size() || !is_name(found.cache)) {
    return std::nullopt;
  }
  return found;
}

// Calls `each` with the names of the folder's files.
template <typename Each>
void for_files(const std::string& folder, Each each) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    each(at->path().filename().string());
  }
  if (error) fail(error.value(), folder, "cannot be read");
}

void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail(errno, path, "cannot be removed");
}

// A file in the making, which is gone if it was not finished.
class Unfinished {
 public:
  explicit Unfinished(std::string path) : path_(std::move(path)) {
    file_ =
        File(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file_.is_open()) fail(errno, path_, "cannot be written");
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  void write(std::span<const std::byte> bytes) { write_and_sync(file_, bytes, path_); }
  void finish(const std::string& name) {
    if (::rename(path_.c_str(), name.c_str()) != 0) fail(errno, name, "cannot be written");
    path_ = name;
    sync_folder(fs::path(name).parent_path().string());
    path_.clear();
  }

 private:
  std::string path_;  // empty when it is finished
  File file_;
};

// A large file is brought into the mapping by threads that run ahead of whoever reads it: one page
// after another, a disk gives less than half of what it can.
class Mapped final : public SnapshotBytes {
 public:
  explicit Mapped(const std::string& path) {
    const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat there {};
    if (!file.is_open() || ::fstat(file.get(), &there) != 0) fail(errno, path, "cannot be opened");
    if (!S_ISREG(there.st_mode)) throw std::runtime_error(path + ": is not a file");
    if (there.st_size == 0) throw std::runtime_error(path + ": is empty");
    size_ = static_cast<std::size_t>(there.st_size);
    at_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (at_ == MAP_FAILED) fail(errno, path, "cannot be mapped");
    try {
      for (unsigned i = 0; i < kReaders && size_ > kPiece; ++i) {
        readers_.emplace_back([this] { read_ahead(); });
      }
    } catch (const std::system_error&) {  // no more threads: whoever needs a page waits for it
      return;
    }
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() override {
    next_ = size_;
    for (auto& reader : readers_) reader.join();
    ::munmap(at_, size_);
  }
  std::span<const std::byte> bytes() const override {
    return {static_cast<const std::byte*>(at_), size_};
  }

 private:
  static constexpr unsigned kReaders = 2;
  static constexpr std::size_t kPiece = std::size_t{8} << 20U;

  void read_ahead() noexcept {
    for (;;) {
      const std::size_t begin = next_.fetch_add(kPiece);
      if (begin >= size_) return;
      // An older system does not know it, and a page that cannot be read is the reader's to find.
      if (::madvise(static_cast<char*>(at_) + begin, std::min(kPiece, size_ - begin),
                    MADV_POPULATE_READ) != 0) {
        return;
      }
    }
  }

  void* at_ = nullptr;
  std::size_t size_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::vector<std::thread> readers_;
};

}  // namespace

FolderSnapshots::FolderSnapshots(std::string folder) : folder_(std::move(folder)) {
  make_folder(folder_);
}

std::string FolderSnapshots::path_of(const std::string& cache, Position position) const {
  return folder_ + "/" + file_name(cache, position);
}

void FolderSnapshots::put(const std::string& cache, Position position,
                          std::span<const std::byte> bytes) {
  const std::string name = file_name(cache, position) + std::string(kUnfinished);
  {
    const std::lock_guard lock(mutex_);
    if (!being_written_.insert(name).second) {
      throw std::runtime_error(folder_ + "/" + name + ": is being written already");
    }
  }
  struct Written {
    FolderSnapshots& all;
    const std::string& name;
    ~Written() {
      const std::lock_guard lock(all.mutex_);
      all.being_written_.erase(name);
    }
  } written{*this, name};
  Unfinished file(folder_ + "/" + name);
  file.write(bytes);
  file.finish(path_of(cache, position));
}

std::vector<StoredSnapshot> FolderSnapshots::list() {
  std::vector<StoredSnapshot> all;
  for_files(folder_, [&](const std::string& name) {
    if (name.ends_with(kUnfinished)) {
      if (!parse(std::string_view(name).substr(0, name.size() - kUnfinished.size()))) return;
      const std::lock_guard lock(mutex_);
      if (!being_written_.contains(name)) remove_file(folder_ + "/" + name);
      return;
    }
    auto found = parse(name);
    if (!found) return;
    struct stat there {};
    if (::stat((folder_ + "/" + name).c_str(), &there) != 0) {
      if (errno == ENOENT) return;  // removed just now
      fail(errno, folder_ + "/" + name, "cannot be used");
    }
    found->bytes = static_cast<std::uint64_t>(there.st_size);
    all.push_back(std::move(*found));
  });
  std::sort(all.begin(), all.end(), [](const StoredSnapshot& a, const StoredSnapshot& b) {
    return a.cache != b.cache ? a.cache < b.cache : a.position > b.position;
  });
  return all;
}

std::unique_ptr<SnapshotBytes> FolderSnapshots::open(const std::string& cache, Position position) {
  return std::make_unique<Mapped>(path_of(cache, position));
}

void FolderSnapshots::remove_below(const std::string& cache, Position position) {
  if (!is_name(cache)) throw std::invalid_argument("'" + cache + "' is no name of a cache's files");
  for_files(folder_, [&](const std::string& name) {
    const auto found = parse(name);
    if (found && found->cache == cache && found->position < position) {
      remove_file(folder_ + "/" + name);
    }
  });
}

}  // namespace dpcache::server
