// A file that is replaced whole or not at all.
#include "cli/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "cli/failure.h"

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

std::string temporary_of(const std::string& target) {
  const std::filesystem::path path(target);
  return (path.parent_path() / ("." + path.filename().string() + ".dpcache-tmp")).string();
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

ReplacedFile::ReplacedFile(const std::string& path)
    : path_(path),
      target_(target_of(path).string()),
      temporary_(temporary_of(target_)),
      unfinished_(temporary_) {
  unlink(temporary_.c_str());  // of a run that was killed
  fd_ = Descriptor(
      open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd_.is_open()) stop();
  struct stat before {};
  if (stat(target_.c_str(), &before) == 0 && fchmod(fd_.get(), before.st_mode & 07777U) != 0) {
    stop();
  }
}

ReplacedFile::~ReplacedFile() {
  if (fd_.is_open()) unlink(temporary_.c_str());
}

void ReplacedFile::stop() const {
  const int error = errno;
  unlink(temporary_.c_str());
  fail(path_, "cannot be written: " + system_words(error) + " (the file is as it was before)");
}

void ReplacedFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) stop();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void ReplacedFile::rewrite_start(std::string_view bytes) {
  if (lseek(fd_.get(), 0, SEEK_SET) != 0) stop();
  write(bytes);
}

void ReplacedFile::commit() {
  if (fsync(fd_.get()) != 0) stop();
  if (fd_.close() != 0) stop();
  if (rename(temporary_.c_str(), target_.c_str()) != 0) stop();
}

void replace_file(const std::string& path, std::string_view text) {
  ReplacedFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace dpcache::cli
