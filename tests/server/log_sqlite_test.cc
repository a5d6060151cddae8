// The log on the disk: what survives, what is noticed, and what happens when the disk refuses.
#include <sqlite3.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "log/sqlite_log.h"
#include "server/log_support.h"

namespace dpcache::server {
namespace {

namespace fs = std::filesystem;
using testing::append;
using testing::Entries;
using testing::entry_at;
using testing::read_all;
using testing::TempFolder;
using testing::thrown_by;

class SqliteLogTest : public ::testing::Test {
 protected:
  std::string path() const { return home / "log.db"; }
  std::unique_ptr<SqliteLog> open(SqliteLogOptions options = {}) const {
    return std::make_unique<SqliteLog>(home.path(), options);
  }
  // Appends entries first … last of 1 KB.
  static void fill(Log& log, Partition partition, Position first, Position last) {
    for (Position at = first; at <= last; ++at) {
      log.append(partition, at - 1, entry_at(partition, at, 1000),
                 [](Append outcome, const auto&) { EXPECT_EQ(outcome, Append::ok); });
    }
    ASSERT_EQ(log.reopen(partition), last);
  }
  static Entries filled(Partition partition, Position first, Position last) {
    Entries all;
    for (Position at = first; at <= last; ++at) all.emplace_back(at, entry_at(partition, at, 1000));
    return all;
  }
  // Changes the database behind the log's back.
  void run_sql(const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    sqlite3_busy_timeout(database, 5000);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  static std::string id(Partition partition, Position position) {
    return std::to_string((Position{partition} << 56) + position);
  }
  // The folder as it would be found if the process died now.
  void copy_to(const TempFolder& other) const {
    for (const char* name : {"log.db", "log.db-wal"}) {
      if (fs::exists(home / name)) fs::copy_file(home / name, other / name);
    }
  }

  TempFolder home;
};

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\n  lacks: " << part;
}

TEST_F(SqliteLogTest, EverythingIsThereAfterClosing) {
  {
    const auto log = open();
    fill(*log, 0, 1, 30);
    fill(*log, 63, 1, 10);
  }
  EXPECT_FALSE(fs::exists(path() + "-wal")) << "a closed log is one file";
  const auto log = open();
  EXPECT_EQ(read_all(*log, 0), filled(0, 1, 30));
  EXPECT_EQ(read_all(*log, 63), filled(63, 1, 10));
  EXPECT_EQ(append(*log, 63, 10, "next"), Append::ok);
}

TEST_F(SqliteLogTest, ClosingCompletesWhatWasAppended) {
  int done = 0;
  {
    const auto log = open();
    for (Position at = 0; at < 500; ++at) {
      log->append(2, at, entry_at(2, at + 1, 1000), [&](Append outcome, const auto&) {
        EXPECT_EQ(outcome, Append::ok);
        ++done;
      });
    }
  }
  EXPECT_EQ(done, 500);
  EXPECT_EQ(read_all(*open(), 2), filled(2, 1, 500));
}

TEST_F(SqliteLogTest, EverythingIsThereAfterTheProcessDied) {
  const auto log = open();
  fill(*log, 4, 1, 100);
  const TempFolder other;
  copy_to(other);
  SqliteLog found(other.path());
  EXPECT_EQ(read_all(found, 4), filled(4, 1, 100));
}

TEST_F(SqliteLogTest, TheLastPositionSurvivesTrimmingAll) {
  {
    const auto log = open();
    fill(*log, 5, 1, 3000);
    log->trim(5, 3000);
    ASSERT_TRUE(testing::soon([&] { return log->statistics().trimmed == 3000; }));
  }
  const auto log = open();
  EXPECT_EQ(log->range(5).first, 3001U);
  EXPECT_EQ(log->range(5).last, 3000U);
  fill(*log, 5, 3001, 3001);
}

TEST_F(SqliteLogTest, SpaceThatWasTrimmedIsUsedAgain) {
  const auto log = open();
  for (Position round = 0; round < 20; ++round) {
    fill(*log, 1, round * 200 + 1, round * 200 + 200);
    log->trim(1, round * 200 + 150);
  }
  ASSERT_TRUE(testing::soon([&] { return log->statistics().trimmed == 3950; }));
  EXPECT_LT(fs::file_size(path()), 1.5e6) << "of 4 MB that went through it";
  EXPECT_EQ(read_all(*log, 1), filled(1, 3951, 4000));
}

TEST_F(SqliteLogTest, AReaderSeesWhatIsWrittenMeanwhileInOrder) {
  const auto log = open();
  std::thread writer([&] { fill(*log, 8, 1, 1500); });
  Position seen = 0;
  while (seen < 1500) {
    log->read(8, seen, [&](Position at, std::string_view bytes) {
      EXPECT_EQ(at, seen + 1);
      EXPECT_EQ(bytes, entry_at(8, at, 1000));
      seen = at;
      return true;
    });
  }
  writer.join();
}

TEST_F(SqliteLogTest, WhatIsTrimmedWhileItIsReadIsNoSilentGap) {
  const auto log = open();
  fill(*log, 8, 1, 3000);  // three pieces
  const std::string error = thrown_by([&] {
    log->read(8, 0, [&](Position at, std::string_view) {
      if (at == 1) {
        log->trim(8, 2900);
        EXPECT_TRUE(testing::soon([&] { return log->statistics().trimmed == 2900; }));
      }
      return true;
    });
  });
  expect_in(error, "has been trimmed while it was read");
}

TEST_F(SqliteLogTest, CountsWhatItDoes) {
  const auto log = open();
  fill(*log, 0, 1, 50);
  EXPECT_EQ(append(*log, 0, 7, "x"), Append::conflict);
  const SqliteLogStatistics found = log->statistics();
  EXPECT_EQ(found.appends, 50U);
  EXPECT_EQ(found.bytes, 50'000U);
  EXPECT_EQ(found.failed, 1U);
  EXPECT_EQ(found.queue, 0U);
  EXPECT_EQ(found.queue_bytes, 0U);
  EXPECT_GE(found.commits, 1U);
  EXPECT_LE(found.commits, 50U);
  EXPECT_EQ(std::accumulate(found.commit_seconds.begin(), found.commit_seconds.end(), 0U),
            found.commits);
  EXPECT_GT(found.commit_seconds_sum, 0);
}

TEST_F(SqliteLogTest, AppendsThatWaitAreCommittedTogetherUpToALimit) {
  const auto log = open({.batch_bytes = 10'000});
  std::promise<void> go;
  log->append(1, 0, "", [&](Append, const auto&) { go.get_future().wait(); });
  ASSERT_TRUE(testing::soon([&] { return log->statistics().commits == 1; }));
  for (Position at = 1; at <= 100; ++at) {
    log->append(1, at, entry_at(1, at + 1, 1000), [](Append, const auto&) {});
  }
  EXPECT_EQ(log->statistics().queue, 100U);
  EXPECT_EQ(log->statistics().queue_bytes, 100'000U);
  go.set_value();
  EXPECT_EQ(log->reopen(1), 101U);
  EXPECT_EQ(log->statistics().commits, 11U);
}

TEST_F(SqliteLogTest, AnEntryThatIsTooLargeIsRefused) {
  const auto log = open();
  EXPECT_THROW(log->append(0, 0, std::string(SqliteLog::kMaxEntry + 1, 'x'), nullptr),
               std::invalid_argument);
}

// Damage.

TEST_F(SqliteLogTest, AChangedByteIsNoticedAndOtherPartitionsGoOn) {
  const auto log = open();
  fill(*log, 3, 1, 10);
  fill(*log, 4, 1, 10);
  run_sql("UPDATE entries SET bytes = CAST(substr(bytes, 1, 999) || 'x' AS BLOB) WHERE id = " +
          id(3, 7));
  const std::string error = thrown_by([&] { read_all(*log, 3); });
  expect_in(error, "partition 3, position 7: the checksum is wrong");
  expect_in(error, path());
  EXPECT_EQ(read_all(*log, 4), filled(4, 1, 10));
  EXPECT_EQ(read_all(*log, 3, 7), filled(3, 8, 10));
}

TEST_F(SqliteLogTest, AnEntryInTheWrongPlaceIsNoticed) {
  const auto log = open();
  fill(*log, 3, 1, 3);
  run_sql("UPDATE entries SET bytes = (SELECT bytes FROM entries WHERE id = " + id(3, 1) +
          "), checksum = (SELECT checksum FROM entries WHERE id = " + id(3, 1) +
          ") WHERE id = " + id(3, 2));
  expect_in(thrown_by([&] { read_all(*log, 3); }), "position 2: the checksum is wrong");
}

TEST_F(SqliteLogTest, AMissingEntryIsNoticedWhereverItWas) {
  for (const Position gone : {1, 5, 9}) {
    auto log = open();
    const auto partition = static_cast<Partition>(gone);
    fill(*log, partition, 1, 9);
    run_sql("DELETE FROM entries WHERE id = " + id(partition, gone));
    const std::string error = thrown_by([&] { read_all(*log, partition); });
    expect_in(error, "position " + std::to_string(gone));
    expect_in(error, "the entry is missing");
  }
  // A log that was opened since knows nothing of a last entry, but of all others.
  const auto log = open();
  for (const Partition partition : {1U, 5U}) {
    expect_in(thrown_by([&] { read_all(*log, partition); }), "the entry is missing");
  }
}

TEST_F(SqliteLogTest, ACutDatabaseIsNoLog) {
  { fill(*open(), 0, 1, 200); }
  fs::resize_file(path(), fs::file_size(path()) / 2);
  expect_in(thrown_by([&] { open(); }), path() + ": database disk image is malformed");
  fs::resize_file(path(), 50);
  expect_in(thrown_by([&] { open(); }), path() + ": database disk image is malformed");
  std::ofstream(path()) << std::string(5000, 'x');
  expect_in(thrown_by([&] { open(); }), path() + ": file is not a database");
}

TEST_F(SqliteLogTest, DamagedPagesAreNoticedAndNeverReadAsEntries) {
  { fill(*open(), 0, 1, 200); }
  const auto size = fs::file_size(path());
  for (std::uintmax_t at = 5 * 4096; at < size; at += 9 * 4096) {
    const TempFolder other;
    fs::copy_file(path(), other / "log.db");
    std::fstream file(other / "log.db", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file << std::string(4096, '\x5a');
    file.close();
    const std::string error = thrown_by([&] {
      SqliteLog log(other.path());
      EXPECT_NE(read_all(log, 0), filled(0, 1, 200));
    });
    EXPECT_NE(error, "nothing was thrown") << at;
  }
}

TEST_F(SqliteLogTest, AMissingWriteAheadLogIsNoticed) {
  const auto log = open();
  fill(*log, 0, 1, 20);
  const TempFolder other;
  fs::copy_file(path(), other / "log.db");
  for (int i = 0; i < 2; ++i) {  // having been told, it does not forget
    expect_in(thrown_by([&] { SqliteLog again(other.path()); }), "log.db-wal: is missing");
  }
  std::ofstream(other / "log.db-wal").close();  // what the message says
  SqliteLog without(other.path());
  EXPECT_TRUE(read_all(without, 0).empty());
}

TEST_F(SqliteLogTest, ACutWriteAheadLogLosesTheEndAndNothingElse) {
  const auto log = open();
  fill(*log, 0, 1, 100);
  fill(*log, 0, 101, 101);
  const TempFolder other;
  copy_to(other);
  fs::resize_file(other / "log.db-wal", fs::file_size(other / "log.db-wal") - 1000);
  SqliteLog found(other.path());
  const Position last = found.range(0).last;
  EXPECT_LT(last, 101U);
  EXPECT_EQ(read_all(found, 0), filled(0, 1, last));
}

TEST_F(SqliteLogTest, ANewerOrForeignDatabaseIsRefusedAndLeftAsItIs) {
  { fill(*open(), 0, 1, 1); }
  run_sql("PRAGMA user_version = 2");
  expect_in(thrown_by([&] { open(); }),
            "was written by a newer dpcache (schema 2; this one knows 1)");
  fs::remove(path());
  run_sql("CREATE TABLE recipes(name)");
  expect_in(thrown_by([&] { open(); }), path() + ": is not a log of dpcache");
  run_sql("INSERT INTO recipes VALUES ('soup')");
  EXPECT_FALSE(fs::exists(path() + "-wal"));
}

// A disk that refuses.

TEST_F(SqliteLogTest, AFullLogSaysSoAndCanBeReadAndTrimmed) {
  auto log = open({.max_pages = 100});
  Position last = 0;
  std::string detail;
  Append outcome = Append::ok;
  while (outcome == Append::ok && last < 1000) {
    outcome = append(*log, 6, last, entry_at(6, last + 1, 1000), &detail);
    if (outcome == Append::ok) ++last;
  }
  EXPECT_EQ(outcome, Append::full);
  expect_in(detail, "full");
  EXPECT_EQ(append(*log, 6, last, "behind it"), Append::conflict);
  EXPECT_EQ(read_all(*log, 6), filled(6, 1, last));
  EXPECT_EQ(log->reopen(6), last);
  log = nullptr;
  log = open({.max_pages = 100});  // opens, full as it is
  EXPECT_EQ(append(*log, 6, last, entry_at(6, last + 1, 5000)), Append::full);
  log->trim(6, last / 2);
  ASSERT_TRUE(testing::soon([&] { return log->statistics().trimmed == last / 2; }));
  EXPECT_EQ(log->reopen(6), last);
  fill(*log, 6, last + 1, last + 5);
  EXPECT_EQ(read_all(*log, 6), filled(6, last / 2 + 1, last + 5));
}

TEST_F(SqliteLogTest, AFullDiskSaysSoAndLosesNothing) {
  const auto result = testing::on_small_disk(1024, [](const std::string& folder) {
    Position last = 0;
    {
      SqliteLog log(folder);
      Append outcome = Append::ok;
      while (outcome == Append::ok && last < 3000) {
        outcome = append(log, 6, last, entry_at(6, last + 1, 1000));
        if (outcome == Append::ok) ++last;
      }
      if (outcome != Append::full) return std::string("was never full");
      if (read_all(log, 6) != filled(6, 1, last)) return std::string("cannot be read");
      if (log.reopen(6) != last) return std::string("has another end");
    }
    SqliteLog log(folder);
    if (read_all(log, 6) != filled(6, 1, last)) return std::string("cannot be read again");
    return std::string("well");
  });
  if (!result) GTEST_SKIP() << "this system mounts no file system for a test";
  EXPECT_EQ(*result, "well");
}

// SQLite's own file layer, whose write-ahead log fails to reach the disk when told to.
std::atomic<int> failing_syncs{0};
sqlite3_io_methods failing_methods;
int (*real_sync)(sqlite3_file*, int) = nullptr;

class FailingDisk {
 public:
  FailingDisk() {
    static const bool kRegistered = [] {
      static sqlite3_vfs vfs = *sqlite3_vfs_find(nullptr);
      vfs.zName = "failing";
      vfs.xOpen = [](sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
        sqlite3_vfs* real = sqlite3_vfs_find(nullptr);
        const int code = real->xOpen(real, name, file, flags, out);
        if (code != SQLITE_OK || (flags & SQLITE_OPEN_WAL) == 0) return code;
        if (real_sync == nullptr) {
          failing_methods = *file->pMethods;
          real_sync = failing_methods.xSync;
          failing_methods.xSync = [](sqlite3_file* to, int how) {
            if (failing_syncs > 0 && failing_syncs-- > 0) return SQLITE_IOERR_FSYNC;
            return real_sync(to, how);
          };
        }
        file->pMethods = &failing_methods;
        return code;
      };
      return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
    }();
    EXPECT_TRUE(kRegistered);
    failing_syncs = 0;
  }
};

TEST_F(SqliteLogTest, ACommitThatDoesNotReachTheDiskIsUnknownUntilReopenSettlesIt) {
  const FailingDisk disk;
  const auto log = open({.vfs = "failing"});
  fill(*log, 0, 1, 3);
  fill(*log, 1, 1, 3);
  failing_syncs = 1;
  std::string detail;
  EXPECT_EQ(append(*log, 0, 3, "lost?", &detail), Append::unknown);
  expect_in(detail, "disk I/O error");
  EXPECT_EQ(append(*log, 0, 3, "behind it"), Append::conflict);
  EXPECT_EQ(log->reopen(0), 3U);
  // What a crash would leave is what reopen() has said.
  const TempFolder other;
  copy_to(other);
  SqliteLog found(other.path());
  EXPECT_EQ(read_all(found, 0), filled(0, 1, 3));
  EXPECT_EQ(read_all(found, 1), filled(1, 1, 3));
  fill(*log, 0, 4, 6);
  EXPECT_EQ(read_all(*log, 0), filled(0, 1, 6));
}

TEST_F(SqliteLogTest, WithoutReopenTheEntryMayComeBackWhichIsWhyItIsUnknown) {
  const FailingDisk disk;
  const auto log = open({.vfs = "failing"});
  fill(*log, 0, 1, 3);
  failing_syncs = 1;
  EXPECT_EQ(append(*log, 0, 3, entry_at(0, 4, 1000)), Append::unknown);
  const TempFolder other;
  copy_to(other);
  SqliteLog found(other.path());
  EXPECT_EQ(read_all(found, 0), filled(0, 1, 4));
}

TEST_F(SqliteLogTest, AnotherPartitionsCommitSettlesItToo) {
  const FailingDisk disk;
  const auto log = open({.vfs = "failing"});
  failing_syncs = 1;
  EXPECT_EQ(append(*log, 0, 0, "lost?"), Append::unknown);
  fill(*log, 1, 1, 1);
  const TempFolder other;
  copy_to(other);
  SqliteLog found(other.path());
  EXPECT_TRUE(read_all(found, 0).empty());
  EXPECT_EQ(log->reopen(0), 0U);
}

TEST_F(SqliteLogTest, ReopenThrowsWhileTheDiskStillFails) {
  const FailingDisk disk;
  const auto log = open({.vfs = "failing"});
  fill(*log, 0, 1, 1);
  failing_syncs = 2;
  EXPECT_EQ(append(*log, 0, 1, "lost?"), Append::unknown);
  expect_in(thrown_by([&] { log->reopen(0); }), "disk I/O error");
  EXPECT_EQ(append(*log, 0, 1, "x"), Append::conflict);
  EXPECT_EQ(log->reopen(0), 1U);
  EXPECT_EQ(append(*log, 0, 1, "x"), Append::ok);
}

TEST_F(SqliteLogTest, AFolderThatCannotBeWrittenIsAClearError) {
  fs::permissions(home.path(), fs::perms::owner_read | fs::perms::owner_exec |
                                   fs::perms::others_read | fs::perms::others_exec);
  const auto fresh = testing::as_nobody([&] { return thrown_by([&] { open(); }); });
  fs::permissions(home.path(), fs::perms::all);
  if (!fresh) GTEST_SKIP() << "this user cannot become another";
  EXPECT_EQ(*fresh, home.path() + ": cannot be written: Permission denied");

  { fill(*open(), 0, 1, 1); }
  fs::permissions(path(), fs::perms::owner_read | fs::perms::others_read);
  const auto existing = testing::as_nobody([&] { return thrown_by([&] { open(); }); });
  fs::permissions(path(), fs::perms::owner_all);
  ASSERT_TRUE(existing);
  expect_in(*existing, path() + ": cannot be written");
}

TEST_F(SqliteLogTest, AFolderThatDoesNotExistIsAClearError) {
  EXPECT_EQ(thrown_by([&] { SqliteLog log(home / "none"); }),
            (home / "none") + ": cannot be written: No such file or directory");
}

}  // namespace
}  // namespace dpcache::server
