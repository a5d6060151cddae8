// The log of one machine: a database file of SQLite, written by one thread.
#ifndef DPCACHE_SERVER_LOG_SQLITE_LOG_H_
#define DPCACHE_SERVER_LOG_SQLITE_LOG_H_

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "log/log.h"
#include "log/log_file.h"

namespace dpcache::server {

struct SqliteLogOptions {
  std::size_t batch_bytes = 8 << 20;  // of the entries of one commit, about
  std::uint32_t max_pages = 0;        // of log.db, 4 KiB each; 0: as many as the disk has
  const char* vfs = nullptr;          // SQLite's file layer: a test may bring its own
};

// Counted since the log was opened.
struct SqliteLogStatistics {
  // Upper bounds of the buckets of `commit_seconds`, but for the last bucket, which has none.
  static constexpr std::array<double, 10> kBounds = {.0005, .001, .0025, .005, .01,
                                                     .025,  .05,  .1,    .25,  1};
  std::uint64_t appends = 0;  // that are on the disk
  std::uint64_t bytes = 0;    // of those
  std::uint64_t failed = 0;   // appends that ended in anything but ok
  std::uint64_t commits = 0;  // that succeeded
  std::array<std::uint64_t, kBounds.size() + 1> commit_seconds{};  // how long those took, each once
  double commit_seconds_sum = 0;
  std::uint64_t trimmed = 0;      // entries that were removed
  std::uint64_t trim_errors = 0;  // trims that were given up
  std::size_t queue = 0;          // appends that wait, now
  std::size_t queue_bytes = 0;
};

class SqliteLog final : public Log {
 public:
  static constexpr std::size_t kMaxEntry = 512 << 20;  // bytes

  // Opens, or makes, log.db in a folder, which this process alone must use (DataLock).
  // std::runtime_error: it cannot be read or written, is damaged, is not a log, was written by a
  // newer dpcache, or its write-ahead log is missing. A partition that cannot be read does not keep
  // the others from opening: what is asked of it throws, and appends to it are conflicts.
  explicit SqliteLog(const std::string& folder, SqliteLogOptions options = {});
  // Completes what was appended; what is left to trim must be asked for again.
  ~SqliteLog() override;

  // std::invalid_argument: no such partition, or an entry of more than kMaxEntry. `done` must not
  // throw, and keeps all further commits waiting while it runs.
  void append(Partition partition, Position expect, std::string bytes, Done done) override;
  // Not to be called from a Done, for which it would wait.
  Position reopen(Partition partition) override;
  // Reads in pieces of about 1 MiB and hands them over between reads, so that a slow sink holds up
  // nobody. Where `after` lies before the first entry, it begins at the first.
  void read(Partition partition, Position after, const Sink& sink) override;
  Range range(Partition partition) override;
  // Takes effect at once for range() and read(), until a crash. The space is given back to further
  // entries by and by; log.db does not get smaller.
  void trim(Partition partition, Position upto) override;

  SqliteLogStatistics statistics() const;

 private:
  struct Reopened {
    Position last;
    std::string error;  // empty: there is none
  };
  struct Task {
    Partition partition;
    Position expect;
    std::string bytes;
    Done done;
    std::promise<Reopened>* reopened;  // set: this is a reopen()
  };
  struct Lane {
    // The writer's own.
    Position next = 1;
    bool failed = false;
    Position removed = 0;  // by trimming
    // Guarded by mutex_.
    Range range;
    std::string broken;  // why it cannot be read, if it cannot
    bool trim_failed = false;
  };
  struct Batch;

  Lane& lane(Partition partition);
  void load(Partition partition);
  void work();
  std::vector<Task> take();
  void write(std::vector<Task>& tasks);
  void store(Batch& batch);
  void publish(const Batch& batch, std::chrono::steady_clock::duration time);
  void reopen_now(Task& task);
  bool trim_some(std::size_t entries);

  const SqliteLogOptions options_;
  std::array<Lane, kPartitions> lanes_;
  LogFile file_;
  LogReader reader_;
  std::mutex reading_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> queue_;
  SqliteLogStatistics statistics_;
  bool trimming_ = false;  // there may be something to trim
  bool ending_ = false;

  bool unsettled_ = false;  // the writer's own: a commit has failed, and none has succeeded since
  Partition last_trimmed_ = 0;
  std::thread writer_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_LOG_SQLITE_LOG_H_
