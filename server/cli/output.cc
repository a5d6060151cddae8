// Standard output.
#include "cli/output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "cli/failure.h"

namespace dpcache::cli {
namespace {

[[noreturn]] void fail(int error) {
  if (error == EPIPE) throw ClosedPipe();
  throw Failure(Exit::output, "standard output cannot be written: " + system_words(error));
}

}  // namespace

void Output::flush() {
  std::string_view left = buffer_;
  while (!left.empty()) {
    const auto written = ::write(STDOUT_FILENO, left.data(), left.size());
    if (written >= 0) {
      left.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // somebody made it non-blocking
      pollfd wait{STDOUT_FILENO, POLLOUT, 0};
      poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      const int error = errno;
      buffer_.clear();
      fail(error);
    }
  }
  buffer_.clear();
  if (buffer_.capacity() > 4 * kFull) {  // a very long line went by
    buffer_.shrink_to_fit();
    buffer_.reserve(kFull + 4096);
  }
}

void Output::check_reader() {
  pollfd state{STDOUT_FILENO, 0, 0};
  if (poll(&state, 1, 0) > 0 && (state.revents & POLLERR) != 0) throw ClosedPipe();
}

void Output::close() {
  flush();
  // Network file systems report a full disk only here. A descriptor that was never open is not
  // news.
  if (::close(STDOUT_FILENO) != 0 && errno != EBADF) fail(errno);
}

}  // namespace dpcache::cli
