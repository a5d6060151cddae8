// A process that writes the log is killed at a random moment, again and again: all that it was
// promised is there, in order, once, and as it was written. DPCACHE_LONG=1: 100 times instead
// of 10.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>

#include "log/sqlite_log.h"
#include "server/log_support.h"
#include "server/log_writer.h"

namespace dpcache::server {
namespace {

constexpr std::array<Partition, 4> kWritten = {0, 1, 40, 63};

// Runs the writer, kills it a while after its first promise, and notes the last of each partition.
void write_and_kill(const std::string& folder, std::chrono::microseconds life,
                    std::map<Partition, Position>& promised) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execl(DPCACHE_LOG_WRITER, DPCACHE_LOG_WRITER, folder.c_str(), nullptr);
    ::_exit(127);
  }
  ASSERT_GT(child, 0);
  ::close(ends[1]);
  std::thread killer;
  std::array<std::uint64_t, 2> promise{};
  std::size_t count = 0;
  while (::read(ends[0], promise.data(), sizeof promise) == sizeof promise) {
    if (count++ == 0) {
      killer = std::thread([child, life] {
        std::this_thread::sleep_for(life);
        ::kill(child, SIGKILL);
      });
    }
    Position& last = promised[static_cast<Partition>(promise[0])];
    EXPECT_EQ(promise[1], last == 0 ? promise[1] : last + 1) << "promises come in order";
    last = promise[1];
  }
  ::close(ends[0]);
  if (killer.joinable()) killer.join();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself, with " << status;
  EXPECT_GT(count, 0U);
}

TEST(LogCrash, WhatWasPromisedIsThereAfterEachKill) {
  const int rounds = std::getenv("DPCACHE_LONG") != nullptr ? 100 : 10;
  const testing::TempFolder folder;
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    const std::chrono::microseconds life(random() % 200'000);
    SCOPED_TRACE("round " + std::to_string(round) + ", killed after " +
                 std::to_string(life.count()) + " us");
    std::map<Partition, Position> promised;
    write_and_kill(folder.path(), life, promised);
    SqliteLog log(folder.path());
    for (const Partition partition : kWritten) {
      const Log::Range range = log.range(partition);
      EXPECT_GE(range.last, promised[partition]);
      Position next = range.first;
      log.read(partition, 0, [&](Position at, std::string_view bytes) {
        EXPECT_EQ(at, next);
        EXPECT_EQ(bytes, testing::crash_entry(partition, at));
        next = at + 1;
        return true;
      });
      EXPECT_EQ(next, range.last + 1);
    }
  }
}

}  // namespace
}  // namespace dpcache::server
