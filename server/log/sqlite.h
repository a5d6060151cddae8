// SQLite's connections and statements, closed by themselves, with exceptions for errors. Nothing
// else but sqlite.cc sees SQLite's own header.
#ifndef DPCACHE_SERVER_LOG_SQLITE_H_
#define DPCACHE_SERVER_LOG_SQLITE_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace dpcache::server {

class SqliteError : public std::runtime_error {
 public:
  enum class Kind : std::uint8_t {
    full,        // no space, and nothing was written
    damaged,     // this is no database, or a damaged one
    constraint,  // a key is there already
    other,
  };
  SqliteError(Kind kind, int system_error, const std::string& what)
      : std::runtime_error(what), kind_(kind), system_error_(system_error) {}
  Kind kind() const noexcept { return kind_; }
  // The disk has no space; something may have been written all the same.
  bool no_space() const noexcept;

 private:
  Kind kind_;
  int system_error_;  // an errno, 0 if there was none
};

// Thread rule of both classes: one thread at a time for a connection and its statements.
class Connection {
 public:
  enum class Make : std::uint8_t { never, if_missing };
  // `vfs`: the name of SQLite's file layer, or nullptr.
  Connection(const std::string& path, Make make, const char* vfs);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void run(const char* sql);
  std::int64_t number(const char* sql);  // the first column of the first row
  std::string text(const char* sql);
  void roll_back() noexcept;  // what is not committed, if there is any
  bool is_read_only() const noexcept;
  // Brings all that is committed into the database file and empties the write-ahead log.
  void checkpoint();

 private:
  friend class Statement;
  [[noreturn]] void fail(int code) const;

  std::string path_;
  sqlite3* handle_ = nullptr;
};

class Statement {
 public:
  Statement(Connection& connection, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int parameter, std::int64_t value);           // parameters count from 1
  Statement& bind_blob(int parameter, std::string_view bytes);  // which must live until reset()
  bool step();                                                  // false: no more rows
  void reset() noexcept;
  void run();                               // step() to the end and reset()
  std::int64_t number(int column) const;    // columns count from 0
  std::string_view blob(int column) const;  // valid until the next step()
  bool is_null(int column) const;

 private:
  Connection& connection_;
  sqlite3_stmt* handle_ = nullptr;
};

// What becomes undone unless it is committed.
class Transaction {
 public:
  explicit Transaction(Connection& connection) : connection_(connection) {
    connection_.run("BEGIN IMMEDIATE");
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() { connection_.roll_back(); }
  void commit() { connection_.run("COMMIT"); }

 private:
  Connection& connection_;
};

}  // namespace dpcache::server

#endif  // DPCACHE_SERVER_LOG_SQLITE_H_
