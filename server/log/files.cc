// Files and folders that must be there after a crash.
#include "log/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace dpcache::server {

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void fail(int error, const std::string& path, const std::string& what) {
  throw std::system_error(error, std::generic_category(), path + ": " + what);
}

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0) {
    if (errno != EEXIST) fail(errno, path, "cannot be made");
    struct stat there {};
    if (::stat(path.c_str(), &there) != 0) fail(errno, path, "cannot be used");
    if (!S_ISDIR(there.st_mode)) fail(ENOTDIR, path, "cannot be used");
    return;
  }
  const auto parent = std::filesystem::absolute(path + "/").parent_path().parent_path();
  sync_folder(parent.string());
}

void sync_folder(const std::string& path) {
  const File folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) fail(errno, path, "cannot be opened");
  if (::fsync(folder.get()) != 0) fail(errno, path, "cannot be brought to the disk");
}

void write_and_sync(const File& file, std::span<const std::byte> bytes, const std::string& path) {
  constexpr std::size_t kMost = 1 << 30;  // Linux writes at most 2 GiB in one call
  while (!bytes.empty()) {
    const auto written = ::write(file.get(), bytes.data(), std::min(bytes.size(), kMost));
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      fail(errno, path, "cannot be written");
    }
  }
  if (::fsync(file.get()) != 0) fail(errno, path, "cannot be brought to the disk");
}

}  // namespace dpcache::server
