// A file descriptor that closes itself.
#ifndef DPCACHE_CLI_DESCRIPTOR_H_
#define DPCACHE_CLI_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace dpcache::cli {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const noexcept { return fd_; }
  bool is_open() const noexcept { return fd_ >= 0; }
  // The result of close(2), for those who must know that what they wrote has arrived.
  int close() noexcept { return fd_ >= 0 ? ::close(std::exchange(fd_, -1)) : 0; }

 private:
  int fd_ = -1;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_DESCRIPTOR_H_
