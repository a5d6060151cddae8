// Files and folders that must be there after a crash. Errors are std::system_error with a sentence
// that begins with the path.
#ifndef DPCACHE_SERVER_LOG_FILES_H_
#define DPCACHE_SERVER_LOG_FILES_H_

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace dpcache::server {

// A file descriptor that closes itself.
class File {
 public:
  File() = default;
  explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File();

  int get() const noexcept { return descriptor_; }
  bool is_open() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

// Throws "PATH: WHAT: the system's words for `error`".
[[noreturn]] void fail(int error, const std::string& path, const std::string& what);

// Makes a folder of mode 0700 unless it is there; its parent must be.
void make_folder(const std::string& path);
// When it returns, what was made, renamed or removed in the folder is on the disk.
void sync_folder(const std::string& path);
// Writes all bytes and waits for the disk; `path` is for the message.
void write_and_sync(const File& file, std::span<const std::byte> bytes, const std::string& path);

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_LOG_FILES_H_
