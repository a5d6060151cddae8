// Being stopped. The handler touches only atomics, a pipe and system calls.
#include "cli/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace dpcache::cli {
namespace {

std::atomic<int> first_signal{0};
std::array<int, 2> wake_pipe{-1, -1};                // readable once a signal came
std::array<std::atomic<const char*>, 4> unfinished;  // paths to remove

static_assert(std::atomic<const char*>::is_always_lock_free);

void on_signal(int signal) {
  const int error = errno;
  int none = 0;
  if (first_signal.compare_exchange_strong(none, signal)) {
    [[maybe_unused]] const auto written = write(wake_pipe[1], "", 1);
    errno = error;
    return;
  }
  if (signal == SIGHUP) return;  // the kernel and the shell both send it when a terminal closes
  for (const auto& path : unfinished) {
    if (const char* name = path.load()) unlink(name);
  }
  die_by(signal);
}

}  // namespace

void install_signal_handlers() {
  if (pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) std::abort();
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
  sigaction(SIGXFSZ, &ignore, nullptr);
  // Without SA_RESTART, so that a wait ends. Each handler keeps the others out.
  struct sigaction stop {};
  stop.sa_handler = on_signal;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&stop.sa_mask, signal);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaction(signal, &stop, nullptr);
  }
}

int stop_signal() noexcept {
  return first_signal.load(std::memory_order_relaxed);
}

bool wait_readable(int fd, int timeout_ms) {
  std::array<pollfd, 2> waits{{{wake_pipe[0], POLLIN, 0}, {fd, POLLIN, 0}}};
  if (poll(waits.data(), waits.size(), timeout_ms) <= 0) return false;
  return waits[0].revents == 0 && waits[1].revents != 0;
}

void die_by(int signal) {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  raise(signal);
  _exit(128 + signal);
}

Unfinished::Unfinished(std::string path) : path_(std::move(path)) {
  for (auto& place : unfinished) {
    const char* none = nullptr;
    if (place.compare_exchange_strong(none, path_.c_str())) return;
  }
}

Unfinished::~Unfinished() {
  for (auto& place : unfinished) {
    const char* mine = path_.c_str();
    place.compare_exchange_strong(mine, nullptr);
  }
}

}  // namespace dpcache::cli
