// What every log keeps to: the log in memory and the one on the disk, by the same tests and against
// each other.
#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>

#include "log/memory_log.h"
#include "log/sqlite_log.h"
#include "server/log_support.h"

namespace dpcache::server {
namespace {

using testing::append;
using testing::Entries;
using testing::entry_at;
using testing::read_all;

struct InMemory {
  MemoryLog log;
};
struct OnDisk {
  testing::TempFolder folder;
  SqliteLog log{folder.path()};
};

template <typename Kind>
class LogRules : public ::testing::Test {
 protected:
  Kind kind;
  Log& tested = kind.log;
};
using Kinds = ::testing::Types<InMemory, OnDisk>;
TYPED_TEST_SUITE(LogRules, Kinds, );

TYPED_TEST(LogRules, AnEmptyPartitionHasARangeThatIsEmpty) {
  const Log::Range range = this->tested.range(5);
  EXPECT_EQ(range.first, 1U);
  EXPECT_EQ(range.last, 0U);
  EXPECT_TRUE(read_all(this->tested, 5).empty());
}

TYPED_TEST(LogRules, WhatWasAppendedIsReadInOrder) {
  Entries expected;
  for (Position at = 1; at <= 20; ++at) {
    expected.emplace_back(at, entry_at(3, at, at * 100));
    ASSERT_EQ(append(this->tested, 3, at - 1, expected.back().second), Append::ok);
  }
  EXPECT_EQ(read_all(this->tested, 3), expected);
  EXPECT_EQ(read_all(this->tested, 3, 12), Entries(expected.begin() + 12, expected.end()));
  EXPECT_TRUE(read_all(this->tested, 3, 20).empty());
  EXPECT_TRUE(read_all(this->tested, 3, 200).empty());
  EXPECT_TRUE(read_all(this->tested, 2).empty());
  EXPECT_TRUE(read_all(this->tested, 4).empty());
  EXPECT_EQ(this->tested.range(3).last, 20U);
}

TYPED_TEST(LogRules, AnEntryMayBeEmptyOrLarge) {
  const std::string zeros(3 << 20, '\0');
  ASSERT_EQ(append(this->tested, 0, 0, ""), Append::ok);
  ASSERT_EQ(append(this->tested, 0, 1, zeros), Append::ok);
  ASSERT_EQ(append(this->tested, 0, 2, ""), Append::ok);
  EXPECT_EQ(read_all(this->tested, 0), (Entries{{1, ""}, {2, zeros}, {3, ""}}));
}

TYPED_TEST(LogRules, ASinkCanEndTheReading) {
  for (Position at = 0; at < 5; ++at) ASSERT_EQ(append(this->tested, 63, at, "x"), Append::ok);
  int count = 0;
  this->tested.read(63, 0, [&](Position, std::string_view) { return ++count < 3; });
  EXPECT_EQ(count, 3);
}

TYPED_TEST(LogRules, ASinkMayReadAndAppend) {
  ASSERT_EQ(append(this->tested, 1, 0, "a"), Append::ok);
  std::size_t inner = 0;
  this->tested.read(1, 0, [&](Position at, std::string_view) {
    EXPECT_EQ(append(this->tested, 1, at, "b"), Append::ok);
    inner = read_all(this->tested, 1).size();
    return false;
  });
  EXPECT_EQ(inner, 2U);
}

TYPED_TEST(LogRules, AWrongPositionConflictsAndSoDoesAllBehindItUntilReopen) {
  ASSERT_EQ(append(this->tested, 1, 0, "a"), Append::ok);
  EXPECT_EQ(append(this->tested, 1, 0, "again"), Append::conflict);
  EXPECT_EQ(append(this->tested, 1, 1, "right, but behind a failure"), Append::conflict);
  EXPECT_EQ(append(this->tested, 2, 0, "another partition"), Append::ok);
  EXPECT_EQ(this->tested.reopen(1), 1U);
  EXPECT_EQ(append(this->tested, 1, 2, "a gap"), Append::conflict);
  EXPECT_EQ(this->tested.reopen(1), 1U);
  EXPECT_EQ(append(this->tested, 1, 1, "b"), Append::ok);
  EXPECT_EQ(read_all(this->tested, 1), (Entries{{1, "a"}, {2, "b"}}));
}

TYPED_TEST(LogRules, ReopenWaitsForWhatIsUnderWay) {
  std::atomic<int> done{0};
  for (Position at = 0; at < 100; ++at) {
    this->tested.append(9, at, entry_at(9, at + 1, 500),
                        [&](Append, const std::string&) { ++done; });
  }
  EXPECT_EQ(this->tested.reopen(9), 100U);
  EXPECT_EQ(done, 100);
}

TYPED_TEST(LogRules, WhatIsTrimmedIsGoneAndTheLastPositionStays) {
  for (Position at = 1; at <= 9; ++at) {
    ASSERT_EQ(append(this->tested, 7, at - 1, entry_at(7, at, 50)), Append::ok);
  }
  this->tested.trim(7, 4);
  this->tested.trim(7, 2);  // is already
  EXPECT_EQ(this->tested.range(7).first, 5U);
  const Entries left = read_all(this->tested, 7);
  ASSERT_EQ(left.size(), 5U);
  EXPECT_EQ(left.front().first, 5U);
  this->tested.trim(7, 1000);
  EXPECT_EQ(this->tested.range(7).first, 10U);
  EXPECT_EQ(this->tested.range(7).last, 9U);
  EXPECT_TRUE(read_all(this->tested, 7).empty());
  EXPECT_EQ(this->tested.reopen(7), 9U);
  EXPECT_EQ(append(this->tested, 7, 9, "next"), Append::ok);
  EXPECT_EQ(read_all(this->tested, 7), (Entries{{10, "next"}}));
}

TYPED_TEST(LogRules, APartitionThatDoesNotExistIsRefused) {
  Log& log = this->tested;
  EXPECT_THROW(log.append(kPartitions, 0, "", nullptr), std::invalid_argument);
  EXPECT_THROW(log.range(kPartitions), std::invalid_argument);
  EXPECT_THROW(log.reopen(kPartitions), std::invalid_argument);
  EXPECT_THROW(log.trim(kPartitions, 1), std::invalid_argument);
  EXPECT_THROW(read_all(log, kPartitions), std::invalid_argument);
}

TYPED_TEST(LogRules, ManyThreadsAppendTogetherAndEachIsToldInOrder) {
  constexpr Partition kThreads = 8;
  constexpr Position kEach = 300;
  std::vector<std::vector<Position>> told(kThreads);
  std::vector<std::thread> threads;
  for (Partition mine = 0; mine < kThreads; ++mine) {
    threads.emplace_back([&, mine] {
      for (Position at = 1; at <= kEach; ++at) {
        this->tested.append(mine, at - 1, entry_at(mine, at, 200),
                            [&told, mine, at](Append outcome, const std::string&) {
                              if (outcome == Append::ok) told[mine].push_back(at);
                            });
        if (at % 50 == 0) read_all(this->tested, mine, at / 2);
      }
      EXPECT_EQ(this->tested.reopen(mine), kEach);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (Partition partition = 0; partition < kThreads; ++partition) {
    ASSERT_EQ(told[partition].size(), kEach);
    for (Position at = 1; at <= kEach; ++at) EXPECT_EQ(told[partition][at - 1], at);
    const Entries all = read_all(this->tested, partition);
    ASSERT_EQ(all.size(), kEach);
    for (Position at = 1; at <= kEach; ++at) {
      EXPECT_EQ(all[at - 1].second, entry_at(partition, at, 200));
    }
  }
}

TYPED_TEST(LogRules, OfThreadsThatRaceForOnePositionOneWins) {
  constexpr int kThreads = 6;
  for (Position at = 0; at < 20; ++at) {
    std::atomic<int> won{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        if (append(this->tested, 11, at, "x") == Append::ok) ++won;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(won, 1);
    EXPECT_EQ(this->tested.reopen(11), at + 1);
  }
}

// One step at random on both; what they answer must be the same.
class Pair {
 public:
  explicit Pair(unsigned seed) : random_(seed) { restart(); }

  void step() {
    const auto partition = static_cast<Partition>(below(4) * 21);
    const Log::Range range = model_.range(partition);
    switch (below(12)) {
      case 0:
        return restart();
      case 1:
        return trim(partition, range.first + below(6));
      case 2:
        return reopen(partition);
      case 3:
        return burst(partition, range.last, below(30));
      case 4:
        return burst(partition, below(10), 2);  // mostly a conflict
      default:
        return burst(partition, range.last, 1);
    }
  }
  void compare() {
    for (Partition partition = 0; partition < kPartitions; ++partition) {
      const Log::Range expected = model_.range(partition);
      EXPECT_EQ(disk_->range(partition).first, expected.first);
      EXPECT_EQ(disk_->range(partition).last, expected.last);
      const Position after = below(20);
      EXPECT_EQ(read_all(*disk_, partition, after), read_all(model_, partition, after));
    }
  }

 private:
  Position below(Position end) { return random_() % end; }
  void restart() {  // closes no failure in the model, so that both are opened
    if (disk_) wait_for_trims();
    disk_.reset();
    disk_ = std::make_unique<SqliteLog>(folder_.path());
    for (Partition partition = 0; partition < kPartitions; ++partition) model_.reopen(partition);
  }
  void wait_for_trims() {
    EXPECT_TRUE(testing::soon([&] { return disk_->statistics().trimmed == to_trim_; }));
    to_trim_ = 0;
  }
  void trim(Partition partition, Position upto) {
    const Position before = model_.range(partition).first;
    model_.trim(partition, upto);
    disk_->trim(partition, upto);
    to_trim_ += model_.range(partition).first - before;
  }
  void reopen(Partition partition) {
    EXPECT_EQ(disk_->reopen(partition), model_.reopen(partition));
  }
  void burst(Partition partition, Position expect, Position count) {
    EXPECT_EQ(outcomes(*disk_, partition, expect, count),
              outcomes(model_, partition, expect, count));
  }
  static std::vector<Append> outcomes(Log& log, Partition partition, Position expect,
                                      Position count) {
    std::vector<Append> all;
    for (Position at = expect; at < expect + count; ++at) {
      log.append(partition, at, entry_at(partition, at + 1, at * 37 % 5000),
                 [&](Append outcome, const std::string&) { all.push_back(outcome); });
    }
    // Something behind them that is always answered: an append that conflicts in its own partition.
    append(log, 50, 1000, "");
    return all;
  }

  std::mt19937 random_;
  testing::TempFolder folder_;
  MemoryLog model_;
  std::unique_ptr<SqliteLog> disk_;
  std::uint64_t to_trim_ = 0;
};

TEST(LogModel, TheLogOnTheDiskDoesWhatTheOneInMemoryDoes) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    Pair pair(seed);
    for (int i = 0; i < 150 && !::testing::Test::HasFailure(); ++i) {
      pair.step();
      if (i % 10 == 0) pair.compare();
    }
    pair.compare();
  }
}

TEST(MemoryLog, FailsAsAsked) {
  MemoryLog log;
  using Lost = MemoryLog::Lost;
  ASSERT_EQ(append(log, 0, 0, "a"), Append::ok);
  log.fail_next(0, Append::full);
  EXPECT_EQ(append(log, 0, 1, "b"), Append::full);
  EXPECT_EQ(append(log, 0, 1, "b"), Append::conflict);
  EXPECT_EQ(log.reopen(0), 1U);
  log.fail_next(0, Append::unknown, Lost::no);
  EXPECT_EQ(append(log, 0, 1, "b"), Append::unknown);
  EXPECT_EQ(log.reopen(0), 2U);
  log.fail_next(0, Append::unknown, Lost::yes);
  EXPECT_EQ(append(log, 0, 2, "c"), Append::unknown);
  EXPECT_EQ(log.reopen(0), 2U);
  EXPECT_EQ(append(log, 0, 2, "c"), Append::ok);
  log.damage(0, 2);
  EXPECT_NE(testing::thrown_by([&] { read_all(log, 0); }).find("position 2"), std::string::npos);
}

TEST(MemoryLog, HoldsAppendsUntilTheyAreReleased) {
  MemoryLog log;
  std::atomic<int> done{0};
  log.hold();
  for (Position at = 0; at < 3; ++at) {
    log.append(0, at, "x", [&](Append, const std::string&) { ++done; });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(done, 0);
  EXPECT_EQ(log.waiting(), 3U);
  log.release();
  EXPECT_EQ(log.reopen(0), 3U);
  EXPECT_EQ(done, 3);
}

TEST(MemoryLog, CompletesWhatIsHeldBeforeItGoes) {
  int done = 0;
  {
    MemoryLog log;
    log.hold();
    log.append(0, 0, "x", [&](Append, const std::string&) { ++done; });
  }
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace dpcache::server
