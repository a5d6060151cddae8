// Being stopped: the first signal asks the command to finish what it has, a second one ends it.
#ifndef DPCACHE_CLI_SIGNALS_H_
#define DPCACHE_CLI_SIGNALS_H_

#include <string>

namespace dpcache::cli {

// From here on SIGINT, SIGTERM and SIGHUP (unless they were ignored, as under nohup) only set a
// flag the first time. A second one removes the files of Unfinished and ends the process at once,
// but for SIGHUP, which comes twice by itself when a terminal closes.
// SIGPIPE and SIGXFSZ are ignored: the write that meets them reports an error instead.
void install_signal_handlers();

// The signal that asked to stop, or 0.
int stop_signal() noexcept;
inline bool stopping() noexcept {
  return stop_signal() != 0;
}

// Waits until `fd` can be read, for at most `timeout_ms`; false if it cannot or a signal came. With
// fd -1 it only waits. A signal that comes before the call is not missed.
bool wait_readable(int fd, int timeout_ms);

// Ends the process by `signal`, as if it had never been caught, so that a shell sees why.
[[noreturn]] void die_by(int signal);

// A file that must not outlive the process half written: a second signal removes it.
class Unfinished {
 public:
  explicit Unfinished(std::string path);
  ~Unfinished();
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

 private:
  std::string path_;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_SIGNALS_H_
