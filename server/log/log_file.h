// What stands in log.db: the tables, and the statements on them.
//
//   entries   id (partition · 2^56 + position), checksum (XXH3 of bytes, seeded with id), bytes
//   trimmed   partition, upto: entries up to here have been removed
//   state     one row; open: 1 while a server has the log, or has died with it
#ifndef DPCACHE_SERVER_LOG_LOG_FILE_H_
#define DPCACHE_SERVER_LOG_LOG_FILE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "log/log.h"
#include "log/sqlite.h"

namespace dpcache::server {

inline constexpr Position kMaxPosition = (Position{1} << 56) - 1;

// The connection that writes. One thread at a time. Errors are SqliteError.
class LogFile {
 public:
  // Opens, or makes, the database. std::runtime_error: it is not a log, was written by a newer
  // program, cannot be written, is damaged, or has lost its write-ahead log.
  LogFile(const std::string& path, std::uint32_t max_pages, const char* vfs)
      : LogFile(path, max_pages, vfs, look_for_wal(path)) {}
  // Marks the log as closed and brings all of it into one file.
  ~LogFile();

  struct Ends {
    Position trimmed = 0;  // all up to here are removed
    Position last = 0;
  };
  Ends ends(Partition partition);

  void begin();
  // False: there is an entry at this position, and the transaction goes on without this one.
  bool insert(Partition partition, Position position, std::string_view bytes);
  void commit();  // when it returns, it is on the disk
  void roll_back() noexcept { connection_.roll_back(); }

  // Removes entries from `from` on, at most up to `upto`, at most `entries` and for about `time`;
  // returns the last position that it removed. Does not wait for the disk.
  Position trim(Partition partition, Position from, Position upto, std::size_t entries,
                std::chrono::milliseconds time);
  // After a commit that failed: makes sure that nothing of it comes back after a crash.
  void settle() { connection_.checkpoint(); }

 private:
  LogFile(const std::string& path, std::uint32_t max_pages, const char* vfs, bool had_wal);
  static bool look_for_wal(const std::string& path);

  Connection connection_;
  Statement ends_, insert_, remove_, mark_trimmed_;
};

// A connection that reads. One thread at a time.
class LogReader {
 public:
  LogReader(std::string path, const char* vfs);

  struct Entry {
    Position position;
    std::string bytes;
  };
  // Entries behind `after`, in order, up to about `max_bytes`; none: there are no more. Their
  // checksums are right and there is no gap between them. std::runtime_error: the log is damaged.
  std::vector<Entry> read(Partition partition, Position after, std::size_t max_bytes);

 private:
  std::string path_;
  Connection connection_;
  Statement select_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_LOG_LOG_FILE_H_
