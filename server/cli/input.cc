// Bytes from a file or standard input.
#include "cli/input.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/failure.h"
#include "cli/gunzip.h"
#include "cli/signals.h"

namespace dpcache::cli {
namespace {

constexpr std::size_t kRawSize = 64 * 1024;
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr int kIdleMs = 1000;

[[noreturn]] void fail(const Input& input, const std::string& what) {
  throw Failure(Exit::input, input.title() + ": " + what);
}

}  // namespace

Input::Input(std::string name) : name_(std::move(name)) {
  open();
}
Input::Input(Input&&) noexcept = default;
Input& Input::operator=(Input&&) noexcept = default;
Input::~Input() = default;

std::string Input::title() const {
  return name_ == "-" ? "standard input" : name_;
}

std::optional<std::uint64_t> Input::size() const noexcept {
  if (!is_file()) return std::nullopt;
  return static_cast<std::uint64_t>(stat_.st_size);
}

void Input::open() {
  fd_ = Descriptor(name_ == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                : ::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd_.is_open() || fstat(fd_.get(), &stat_) != 0) {
    fail(*this, "cannot be opened: " + system_words(errno));
  }
  if (S_ISDIR(stat_.st_mode)) fail(*this, "is a folder (name the files in it)");
#ifdef POSIX_FADV_SEQUENTIAL
  posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
}

std::size_t Input::read_raw(char* to, std::size_t size) {
  for (;;) {
    if (!is_file() && !wait_readable(fd_.get(), 0)) {
      if (idle_) idle_();
      while (!wait_readable(fd_.get(), kIdleMs)) {
        if (stopping()) return 0;
        if (idle_) idle_();
      }
    }
    if (stopping()) return 0;
    const auto got = ::read(fd_.get(), to, size);
    if (got >= 0) {
      consumed_ += static_cast<std::uint64_t>(got);
      return static_cast<std::size_t>(got);
    }
    if (errno != EINTR && errno != EAGAIN) {
      fail(*this, "cannot be read: " + system_words(errno));
    }
  }
}

// Reads until it is clear whether this is gzip: two bytes, or one that cannot be its first.
void Input::recognise() {
  raw_.resize(kRawSize);
  raw_begin_ = 0;
  while (raw_end_ < kGzipMagic.size()) {
    const std::string_view seen(raw_.data(), raw_end_);
    if (!kGzipMagic.starts_with(seen)) break;
    const auto got = read_raw(raw_.data() + raw_end_, raw_.size() - raw_end_);
    if (got == 0) {
      if (raw_end_ == 0) return;  // nothing yet
      break;
    }
    raw_end_ += got;
  }
  if (std::string_view(raw_.data(), raw_end_).starts_with(kGzipMagic)) {
    gunzip_ = std::make_unique<Gunzip>();
  }
  recognised_ = true;
}

std::size_t Input::unpack(char* to, std::size_t size) {
  for (;;) {
    if (raw_begin_ == raw_end_) {
      raw_begin_ = 0;
      raw_end_ = read_raw(raw_.data(), raw_.size());
      if (raw_end_ == 0) {
        if (!gunzip_->between_members() && !stopping()) {
          fail(*this, "the gzip data ends too early (the file was cut, or is still being written)");
        }
        return 0;
      }
    }
    const auto progress =
        gunzip_->unpack({raw_.data() + raw_begin_, raw_end_ - raw_begin_}, {to, size});
    raw_begin_ += progress.taken;
    if (!progress.error.empty()) fail(*this, progress.error);
    if (progress.made > 0) return progress.made;
  }
}

std::size_t Input::read_decoded(char* to, std::size_t size) {
  if (!recognised_) recognise();
  if (gunzip_) return unpack(to, size);
  if (raw_begin_ < raw_end_) {
    const auto taken = std::min(size, raw_end_ - raw_begin_);
    std::memcpy(to, raw_.data() + raw_begin_, taken);
    raw_begin_ += taken;
    return taken;
  }
  return recognised_ ? read_raw(to, size) : 0;
}

std::size_t Input::read(char* to, std::size_t size) {
  if (head_.empty()) return read_decoded(to, size);
  const auto taken = std::min(size, head_.size());
  std::memcpy(to, head_.data(), taken);
  head_.erase(0, taken);
  return taken;
}

bool Input::starts_with(std::string_view magic) {
  while (head_.size() < magic.size() && magic.starts_with(head_)) {
    const auto seen = head_.size();
    head_.resize(magic.size());
    const auto got = read_decoded(head_.data() + seen, magic.size() - seen);
    head_.resize(seen + got);
    if (got == 0) break;
  }
  return std::string_view(head_).starts_with(magic);
}

std::string_view Input::head(std::size_t size) {
  while (head_.size() < size) {
    const auto seen = head_.size();
    head_.resize(size);
    const auto got = read_decoded(head_.data() + seen, size - seen);
    head_.resize(seen + got);
    if (got == 0) break;
  }
  return std::string_view(head_).substr(0, size);
}

bool Input::is_replaced() const noexcept {
  struct stat now {};
  if (name_ == "-" || stat(name_.c_str(), &now) != 0) return false;
  return now.st_ino != stat_.st_ino || now.st_dev != stat_.st_dev ||
         static_cast<std::uint64_t>(now.st_size) < consumed_;
}

void Input::reopen() {
  Input again(name_);
  again.idle_ = std::move(idle_);
  *this = std::move(again);
}

}  // namespace dpcache::cli
