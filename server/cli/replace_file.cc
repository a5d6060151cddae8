// A small file that is replaced whole or not at all.
#include "cli/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "cli/descriptor.h"
#include "cli/failure.h"
#include "cli/signals.h"

namespace dpcache::cli {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Failure(Exit::output, path + ": " + what);
}

// The file behind symbolic links, which need not exist yet.
std::filesystem::path target_of(const std::string& path) {
  std::error_code error;
  auto target = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  if (error) fail(path, "cannot be written: " + error.message());
  return target;
}

}  // namespace

void check_replaceable(const std::string& path) {
  const auto target = target_of(path);
  struct stat stat {};
  if (::stat(target.c_str(), &stat) == 0 && !S_ISREG(stat.st_mode)) {
    fail(path, "is not a regular file (name a file)");
  }
  const auto folder = target.parent_path();
  if (::stat(folder.c_str(), &stat) != 0) fail(path, "its folder does not exist (create it first)");
  if (faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    fail(path, "cannot be written in its folder: " + system_words(errno));
  }
}

void replace_file(const std::string& path, std::string_view text) {
  const auto target = target_of(path);
  const std::string temporary =
      (target.parent_path() / ("." + target.filename().string() + ".dpcache-tmp")).string();
  const auto stop = [&] {
    const int error = errno;
    unlink(temporary.c_str());
    fail(path, "cannot be written: " + system_words(error) + " (the file is as it was before)");
  };
  const Unfinished unfinished(temporary);
  unlink(temporary.c_str());  // of a run that was killed
  Descriptor fd(
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd.is_open()) stop();
  struct stat before {};
  if (stat(target.c_str(), &before) == 0 && fchmod(fd.get(), before.st_mode & 07777U) != 0) stop();
  while (!text.empty()) {
    const auto written = ::write(fd.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) stop();
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(fd.get()) != 0) stop();
  if (fd.close() != 0) stop();
  if (rename(temporary.c_str(), target.c_str()) != 0) stop();
}

}  // namespace dpcache::cli
