// Appends to a log until it is killed, and says which entries it was promised: a program for the
// crash test, which gives it a folder. Each promise is a partition and a position, 16 bytes, on
// standard output.
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>

#include "log/sqlite_log.h"
#include "server/log_support.h"
#include "server/log_writer.h"

namespace dpcache::server {
namespace {

// Keeps one more append under way in its partition for each that is done.
class Writer {
 public:
  Writer(Log& log, Partition partition) : log_(log), partition_(partition) {
    next_ = log.range(partition).last;
    for (int i = 0; i < 16; ++i) append();
  }

 private:
  void append() {  // called from two threads, and positions must be queued in order
    const std::lock_guard lock(mutex_);
    const Position at = ++next_;
    log_.append(
        partition_, at - 1, testing::crash_entry(partition_, at),
        [this, at](Append outcome, const std::string& detail) { done(at, outcome, detail); });
  }
  void done(Position at, Append outcome, const std::string& detail) {
    if (outcome != Append::ok) {
      std::fprintf(stderr, "position %llu: %s\n", static_cast<unsigned long long>(at),
                   detail.c_str());
      ::_exit(1);
    }
    const std::array<std::uint64_t, 2> promise{partition_, at};
    if (::write(STDOUT_FILENO, promise.data(), sizeof promise) != sizeof promise) ::_exit(1);
    if (at % 500 == 0) log_.trim(partition_, at - 400);
    append();
  }

  Log& log_;
  const Partition partition_;
  std::mutex mutex_;
  Position next_ = 0;
};

}  // namespace
}  // namespace dpcache::server

int main(int count, char** arguments) {
  using namespace dpcache::server;
  if (count != 2) return 2;
  try {
    SqliteLog log(arguments[1]);
    Writer first(log, 0), second(log, 1), third(log, 40), last(log, 63);
    std::this_thread::sleep_for(std::chrono::seconds(60));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  ::_exit(1);
}
