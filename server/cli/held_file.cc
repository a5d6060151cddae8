// A file that one writer holds.
//
// The lock is a file of its own, since the memory is replaced and a lock would go with the old one.
// The identity, which is in the bytes, catches those who do not take the lock.
#include "cli/held_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace dpcache::cli {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Failure(Exit::memory, path + ": " + what);
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The file behind symbolic links, which need not exist yet.
std::string resolve(const std::string& path) {
  std::string target = path;
  for (int links = 0; links < 40; ++links) {
    std::array<char, 4096> link{};
    const auto size = readlink(target.c_str(), link.data(), link.size());
    if (size < 0) return target;
    const std::string next(link.data(), static_cast<std::size_t>(size));
    target = next.starts_with('/') ? next : folder_of(target) + '/' + next;
  }
  fail(path, system_words(ELOOP));
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

std::vector<std::byte> read_whole(int fd, std::uint64_t size, const std::string& path) {
  std::vector<std::byte> bytes(size);
  std::span<std::byte> left(bytes);
  while (!left.empty()) {
    const auto got = ::read(fd, left.data(), left.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "cannot be read: " + system_words(errno));
    if (got == 0) fail(path, "became shorter while it was read (try again)");
    left = left.subspan(static_cast<std::size_t>(got));
  }
  return bytes;
}

}  // namespace

FileBytes read_file_whole(const std::string& path) {
  // O_NONBLOCK: a pipe with this name must not hold us up.
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  FileBytes file;
  if (!fd.is_open() || fstat(fd.get(), &file.stat) != 0) {
    fail(path, "cannot be opened: " + system_words(errno));
  }
  if (!S_ISREG(file.stat.st_mode)) fail(path, "is not a regular file (name a memory file)");
  const auto size = static_cast<std::uint64_t>(file.stat.st_size);
  if (size == 0) {
    throw Damaged(path + ": is empty, so it is not a memory (remove it to begin a new one)");
  }
  file.bytes = read_whole(fd.get(), size, path);
  return file;
}

HeldFile::HeldFile(std::string path, Identify identify)
    : path_(std::move(path)), identify_(std::move(identify)) {
  target_ = resolve(path_);
  folder_ = folder_of(target_);
  const auto name = target_.substr(target_.rfind('/') + 1);
  if (name.empty()) fail(path_, "is a folder (name a memory file)");
  lock_path_ = folder_ + "/." + name + ".dpcache-lock";
  temporary_path_ = folder_ + "/." + name + ".dpcache-tmp";
  struct stat stat {};
  if (::stat(target_.c_str(), &stat) == 0) {
    if (S_ISDIR(stat.st_mode)) fail(path_, "is a folder (name a memory file)");
    if (!S_ISREG(stat.st_mode)) fail(path_, "is not a regular file (name a memory file)");
    if (faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0) {
      fail(path_, "cannot be saved: " + system_words(errno));
    }
  }
  lock();
  try {
    unlink(temporary_path_.c_str());
    read();
  } catch (...) {
    unlink(lock_path_.c_str());
    throw;
  }
}

HeldFile::~HeldFile() {
  if (lock_.is_open()) unlink(lock_path_.c_str());
}

// Whoever gives up the lock removes its file; so a lock counts only if the file still has the name
// when it is held.
void HeldFile::lock() {
  for (;;) {
    lock_ = Descriptor(open(lock_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!lock_.is_open()) {
      if (errno == ENOENT) fail(path_, "its folder does not exist (create it first)");
      fail(path_, "cannot be saved in its folder: " + system_words(errno));
    }
    if (flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      lock_ = Descriptor();
      if (error == EWOULDBLOCK)
        fail(path_, "is in use by another process (try again when it has ended)");
      fail(path_, "cannot be locked: " + system_words(error));
    }
    struct stat held {};
    struct stat named {};
    if (fstat(lock_.get(), &held) == 0 && stat(lock_path_.c_str(), &named) == 0 &&
        held.st_ino == named.st_ino && held.st_dev == named.st_dev) {
      lock_file_.emplace(lock_path_);
      return;
    }
  }
}

void HeldFile::read() {
  struct stat stat {};
  if (::stat(target_.c_str(), &stat) != 0) {
    if (errno == ENOENT) return;
    fail(path_, "cannot be opened: " + system_words(errno));
  }
  FileBytes file;
  try {
    file = read_file_whole(target_);
  } catch (const Failure& failure) {
    // The message begins with the path; say it as the user wrote it.
    throw Failure(failure.code(), path_ + (failure.what() + target_.size()));
  }
  seen_ = file.stat;
  bytes_ = file.bytes.size();
  content_ = std::move(file.bytes);
}

void HeldFile::check_unchanged() const {
  struct stat now {};
  if (stat(target_.c_str(), &now) != 0) {
    if (errno == ENOENT) return;  // taken away: nobody's items are lost
    fail(path_, "cannot be read: " + system_words(errno));
  }
  if (seen_ && same_file(now, *seen_)) return;
  if (seen_) {
    try {
      if (identify_(read_file_whole(target_).bytes) == identity_) return;
    } catch (const Failure&) {  // not ours to overwrite
    }
  }
  fail(path_,
       "was changed by another program meanwhile and stays as that left it; this run is not "
       "saved (run it again)");
}

void HeldFile::save(std::span<const std::byte> bytes, const Identity& identity) {
  write(bytes);
  identity_ = identity;
  bytes_ = bytes.size();
}

void HeldFile::write(std::span<const std::byte> bytes) {
  struct Remover {
    const char* path;
    ~Remover() {
      if (path != nullptr) unlink(path);
    }
  };
  const auto stop = [this] {
    const int error = errno;
    fail(path_, "cannot be saved: " + system_words(error) + " (the file is as it was before)");
  };
  const Unfinished unfinished(temporary_path_);
  Descriptor fd(
      open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd.is_open()) stop();
  Remover remover{temporary_path_.c_str()};
  // Whoever may read the old file may read the new one, and nobody else.
  if (seen_) {
    if (fchown(fd.get(), seen_->st_uid, seen_->st_gid) != 0) {  // only root can give files away
      [[maybe_unused]] const int group = fchown(fd.get(), static_cast<uid_t>(-1), seen_->st_gid);
    }
    if (fchmod(fd.get(), seen_->st_mode & 07777U) != 0) stop();
  }
  std::span<const std::byte> left(bytes);
  while (!left.empty()) {
    const auto written = ::write(fd.get(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) stop();
    left = left.subspan(static_cast<std::size_t>(written));
  }
  if (fsync(fd.get()) != 0) stop();
  struct stat written {};
  if (fstat(fd.get(), &written) != 0) stop();
  if (fd.close() != 0) stop();
  if (rename(temporary_path_.c_str(), target_.c_str()) != 0) stop();
  remover.path = nullptr;
  seen_ = written;
  // The new name must reach the disk too. Some file systems cannot, and do it by themselves.
  const Descriptor folder(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open() && fsync(folder.get()) != 0 && errno != EINVAL && errno != ENOTSUP) {
    fail(path_, "was saved, but its folder cannot be forced to the disk: " + system_words(errno));
  }
}

}  // namespace dpcache::cli
