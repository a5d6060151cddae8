// SQLite's connections and statements.
#include "log/sqlite.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>

namespace dpcache::server {
namespace {

constexpr int kPatienceMs = 5000;  // with another process that has the database locked

SqliteError::Kind kind_of(int code) {
  using Kind = SqliteError::Kind;
  switch (code & 0xff) {
    case SQLITE_FULL:
      return Kind::full;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Kind::damaged;
    case SQLITE_CONSTRAINT:
      return Kind::constraint;
    default:
      return Kind::other;
  }
}

}  // namespace

bool SqliteError::no_space() const noexcept {
  return kind_ == Kind::full || system_error_ == ENOSPC || system_error_ == EDQUOT;
}

Connection::Connection(const std::string& path, Make make, const char* vfs) : path_(path) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (make == Make::if_missing ? SQLITE_OPEN_CREATE : 0);
  const int code = sqlite3_open_v2(path.c_str(), &handle_, flags, vfs);
  if (code == SQLITE_OK) {
    sqlite3_busy_timeout(handle_, kPatienceMs);
    return;
  }
  try {
    fail(code);
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Connection::~Connection() {
  sqlite3_close(handle_);
}

void Connection::fail(int code) const {
  const bool by_system = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
  const int system_error = by_system && handle_ != nullptr ? sqlite3_system_errno(handle_) : 0;
  std::string what = path_ + ": " + sqlite3_errstr(code);
  if (handle_ != nullptr && std::strcmp(sqlite3_errmsg(handle_), sqlite3_errstr(code)) != 0) {
    what += std::string(": ") + sqlite3_errmsg(handle_);
  }
  if (system_error != 0) what += std::string(": ") + std::strerror(system_error);
  throw SqliteError(kind_of(code), system_error, what + " (" + std::to_string(code) + ")");
}

void Connection::run(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::int64_t Connection::number(const char* sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.number(0) : 0;
}

std::string Connection::text(const char* sql) {
  Statement statement(*this, sql);
  return statement.step() ? std::string(statement.blob(0)) : std::string();
}

void Connection::roll_back() noexcept {
  if (sqlite3_get_autocommit(handle_) != 0) return;
  sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

bool Connection::is_read_only() const noexcept {
  return sqlite3_db_readonly(handle_, "main") == 1;
}

void Connection::checkpoint() {
  const int code =
      sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

Statement::Statement(Connection& connection, const char* sql) : connection_(connection) {
  const int code =
      sqlite3_prepare_v3(connection.handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &handle_, nullptr);
  if (code != SQLITE_OK) connection_.fail(code);
}

Statement::~Statement() {
  sqlite3_finalize(handle_);
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  const int code = sqlite3_bind_int64(handle_, parameter, value);
  if (code != SQLITE_OK) connection_.fail(code);
  return *this;
}

Statement& Statement::bind_blob(int parameter, std::string_view bytes) {
  const char* at = bytes.data() == nullptr ? "" : bytes.data();  // nullptr would be SQL's NULL
  const int code = sqlite3_bind_blob64(handle_, parameter, at, bytes.size(), SQLITE_STATIC);
  if (code != SQLITE_OK) connection_.fail(code);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  reset();
  connection_.fail(code);
}

void Statement::reset() noexcept {
  sqlite3_reset(handle_);
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(handle_, column);
}

std::string_view Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}

}  // namespace dpcache::server
