// What stands in log.db.
#include "log/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "log/checksum.h"
#include "log/files.h"

namespace dpcache::server {
namespace {

constexpr std::int64_t kApplication = 0x64706c67;  // "dplg": file(1) and we know the file by it
constexpr std::int64_t kSchema = 1;

std::int64_t id_of(Partition partition, Position position) {
  return static_cast<std::int64_t>(Position{partition} << 56 | position);
}

Position position_of(std::int64_t id) {
  return static_cast<Position>(id) & kMaxPosition;
}

std::int64_t checksum_of(std::string_view bytes, std::int64_t id) {
  return static_cast<std::int64_t>(checksum(bytes, static_cast<std::uint64_t>(id)));
}

void make_tables(Connection& connection) {
  Transaction transaction(connection);
  connection.run(
      "CREATE TABLE entries(id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, bytes BLOB NOT "
      "NULL);"
      "CREATE TABLE trimmed(partition INTEGER PRIMARY KEY, upto INTEGER NOT NULL);"
      "CREATE TABLE state(open INTEGER NOT NULL);"
      "INSERT INTO state VALUES (0);");
  connection.run(("PRAGMA application_id = " + std::to_string(kApplication) +
                  "; PRAGMA user_version = " + std::to_string(kSchema))
                     .c_str());
  transaction.commit();
}

// Without its write-ahead log a database is whole, and lacks what was committed last. A log that
// was closed has none, and one whose server has died has one, be it empty.
void refuse_lost_entries(Connection& connection, const std::string& path, bool had_wal) {
  if (had_wal || connection.number("SELECT open FROM state") == 0) return;
  throw std::runtime_error(
      path +
      "-wal: is missing, and with it the entries that were written last "
      "(bring it back; to go on without them, make an empty file of this name)");
}

void check_kind(Connection& connection, const std::string& path) {
  const std::int64_t application = connection.number("PRAGMA application_id");
  if (application == 0 && connection.number("SELECT count(*) FROM sqlite_master") == 0) {
    make_tables(connection);
    return;
  }
  if (application != kApplication) throw std::runtime_error(path + ": is not a log of dpcache");
  const std::int64_t schema = connection.number("PRAGMA user_version");
  if (schema > kSchema) {
    throw std::runtime_error(path + ": was written by a newer dpcache (schema " +
                             std::to_string(schema) + "; this one knows " +
                             std::to_string(kSchema) + ")");
  }
}

// Brings the database into the state in which its statements can be prepared. A file that is not
// ours stays as it is.
void prepare(Connection& connection, const std::string& path, bool had_wal,
             std::uint32_t max_pages) {
  if (connection.is_read_only()) throw std::runtime_error(path + ": cannot be written");
  check_kind(connection, path);
  refuse_lost_entries(connection, path, had_wal);
  if (connection.text("PRAGMA journal_mode = WAL") != "wal") {
    throw std::runtime_error(path + ": cannot have a write-ahead log in this folder");
  }
  connection.run(
      "PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 67108864;"
      "PRAGMA cache_size = -16384; PRAGMA synchronous = FULL");
  if (max_pages != 0) {
    connection.run(("PRAGMA max_page_count = " + std::to_string(max_pages)).c_str());
  }
  try {
    connection.run("UPDATE state SET open = 1 WHERE open = 0");
    connection.checkpoint();
  } catch (const SqliteError& error) {
    if (!error.no_space()) throw;  // a full disk can still be read
  }
}

Connection& prepared(Connection& connection, const std::string& path, bool had_wal,
                     std::uint32_t max_pages) {
  prepare(connection, path, had_wal, max_pages);
  return connection;
}

}  // namespace

bool LogFile::look_for_wal(const std::string& path) {
  // SQLite's own words for a folder that it cannot write are of a file that is not there.
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    fail(errno, folder, "cannot be written");
  }
  return std::filesystem::exists(path + "-wal");
}

LogFile::LogFile(const std::string& path, std::uint32_t max_pages, const char* vfs, bool had_wal)
    : connection_(path, Connection::Make::if_missing, vfs),
      ends_(prepared(connection_, path, had_wal, max_pages),
            "SELECT (SELECT upto FROM trimmed WHERE partition = ?1),"
            " (SELECT max(id) FROM entries WHERE id BETWEEN ?2 AND ?3)"),
      insert_(connection_, "INSERT INTO entries VALUES (?1, ?2, ?3)"),
      remove_(connection_, "DELETE FROM entries WHERE id = ?1"),
      mark_trimmed_(connection_, "REPLACE INTO trimmed VALUES (?1, ?2)") {}

LogFile::~LogFile() {
  try {
    connection_.run("UPDATE state SET open = 0");
    connection_.checkpoint();
  } catch (const SqliteError&) {
    return;  // as if it had died, which loses nothing
  }
}

LogFile::Ends LogFile::ends(Partition partition) {
  ends_.bind(1, partition).bind(2, id_of(partition, 0)).bind(3, id_of(partition, kMaxPosition));
  Ends found;
  if (ends_.step()) {
    found.trimmed = static_cast<Position>(ends_.number(0));
    found.last = ends_.is_null(1) ? found.trimmed : position_of(ends_.number(1));
  }
  ends_.reset();
  return found;
}

void LogFile::begin() {
  connection_.run("PRAGMA synchronous = FULL; BEGIN IMMEDIATE");
}

bool LogFile::insert(Partition partition, Position position, std::string_view bytes) {
  const std::int64_t id = id_of(partition, position);
  try {
    insert_.bind(1, id).bind(2, checksum_of(bytes, id)).bind_blob(3, bytes).run();
  } catch (const SqliteError& error) {
    if (error.kind() == SqliteError::Kind::constraint) return false;
    throw;
  }
  return true;
}

void LogFile::commit() {
  connection_.run("COMMIT");
}

Position LogFile::trim(Partition partition, Position from, Position upto, std::size_t entries,
                       std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  // In a write-ahead log NORMAL keeps the order and does not wait. What a crash undoes here is
  // trimmed again.
  connection_.run("PRAGMA synchronous = NORMAL");
  Transaction transaction(connection_);
  Position at = from;
  for (;; ++at) {
    remove_.bind(1, id_of(partition, at)).run();
    if (at == upto || --entries == 0 || std::chrono::steady_clock::now() >= end) break;
  }
  mark_trimmed_.bind(1, partition).bind(2, static_cast<std::int64_t>(at)).run();
  transaction.commit();
  return at;
}

LogReader::LogReader(std::string path, const char* vfs)
    : path_(std::move(path)),
      connection_(path_, Connection::Make::never, vfs),
      select_(connection_,
              "SELECT id, checksum, bytes FROM entries WHERE id BETWEEN ?1 AND ?2 ORDER BY id") {
  connection_.run("PRAGMA query_only = 1");
}

std::vector<LogReader::Entry> LogReader::read(Partition partition, Position after,
                                              std::size_t max_bytes) {
  struct Reset {  // an open statement would keep the write-ahead log from being emptied
    Statement& statement;
    ~Reset() { statement.reset(); }
  } reset{select_};
  select_.bind(1, id_of(partition, after + 1)).bind(2, id_of(partition, kMaxPosition));
  std::vector<Entry> entries;
  std::size_t size = 0;
  while (size < max_bytes && select_.step()) {
    const std::int64_t id = select_.number(0);
    const Position position = position_of(id);
    const auto damaged = [&](const std::string& what) {
      return std::runtime_error(path_ + ": is damaged: partition " + std::to_string(partition) +
                                ", position " + what);
    };
    const std::string_view bytes = select_.blob(2);
    if (checksum_of(bytes, id) != select_.number(1)) {
      throw damaged(std::to_string(position) + ": the checksum is wrong");
    }
    if (!entries.empty() && position != entries.back().position + 1) {
      throw damaged(std::to_string(entries.back().position + 1) + ": the entry is missing");
    }
    entries.push_back({position, std::string(bytes)});
    size += bytes.size() + sizeof(Entry);
  }
  return entries;
}

}  // namespace dpcache::server
