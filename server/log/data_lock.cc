// The lock on a data folder: flock(2) on a file that says which process holds it.
#include "log/data_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace dpcache::server {
namespace {

// A server writes and removes files here. In a folder full of other things it was not meant to.
void refuse_foreign(const std::string& folder) {
  namespace fs = std::filesystem;
  if (fs::exists(folder + "/lock") || fs::exists(folder + "/log.db")) return;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.front() == '.' || name == "lost+found") continue;  // an empty volume's
    throw std::runtime_error(folder + ": is not a data folder of dpcache, as it holds " + name +
                             " (name an empty folder or a new one)");
  }
}

std::string holder(const File& file) {
  std::array<char, 32> text{};
  const auto size = ::pread(file.get(), text.data(), text.size(), 0);
  std::string_view pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  pid = pid.substr(0, pid.find_first_not_of("0123456789"));
  return pid.empty() ? "another process" : "process " + std::string(pid);
}

}  // namespace

DataLock::DataLock(const std::string& folder) {
  make_folder(folder);
  refuse_foreign(folder);
  const std::string path = folder + "/lock";
  file_ = File(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file_.is_open()) fail(errno, path, "cannot be opened for writing");
  while (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) fail(errno, path, "cannot be locked");
    throw std::runtime_error(folder + ": is in use by " + holder(file_) +
                             " (stop it, or name another folder)");
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  // Without a free block for it the lock holds all the same.
  if (::ftruncate(file_.get(), 0) != 0 ||
      (::pwrite(file_.get(), pid.data(), pid.size(), 0) < 0 && errno != ENOSPC)) {
    fail(errno, path, "cannot be written");
  }
}

DataLock::~DataLock() {
  // The file stays: to remove it would be to let two servers lock two files of one name.
  if (::ftruncate(file_.get(), 0) != 0) return;
}

}  // namespace dpcache::server
