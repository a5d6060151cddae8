// Snapshots in a folder: whole or not there, and nothing else is touched.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <span>
#include <stdexcept>
#include <system_error>

#include "log/folder_snapshots.h"
#include "server/log_support.h"

namespace dpcache::server {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;
using testing::thrown_by;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string content(Snapshots& snapshots, const std::string& cache, Position position) {
  const auto open = snapshots.open(cache, position);
  const auto bytes = open->bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

class FolderSnapshotsTest : public ::testing::Test {
 protected:
  TempFolder home;
  FolderSnapshots store{home.path()};
};

TEST_F(FolderSnapshotsTest, AreListedByCacheTheNewestFirst) {
  store.put("b", 3, bytes_of("three"));
  store.put("b", 20, bytes_of("twenty"));
  store.put("a-1", ~Position{0}, bytes_of("most"));
  const auto all = store.list();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].cache, "a-1");
  EXPECT_EQ(all[0].position, ~Position{0});
  EXPECT_EQ(all[1].position, 20U);
  EXPECT_EQ(all[1].bytes, 6U);
  EXPECT_EQ(all[2].position, 3U);
  EXPECT_EQ(content(store, "b", 20), "twenty");
  EXPECT_TRUE(fs::exists(home / "b.00000000000000000020.dpcache"));
}

TEST_F(FolderSnapshotsTest, OneThatIsPutAgainIsReplacedAndTheOpenOneStays) {
  store.put("a", 1, bytes_of("old"));
  const auto open = store.open("a", 1);
  store.put("a", 1, bytes_of("newer"));
  EXPECT_EQ(content(store, "a", 1), "newer");
  EXPECT_EQ(std::memcmp(open->bytes().data(), "old", 3), 0);
  EXPECT_EQ(files_in(home.path()), 1U);
}

TEST_F(FolderSnapshotsTest, AnOpenOneOutlivesItsRemoval) {
  store.put("a", 1, bytes_of("one"));
  const auto open = store.open("a", 1);
  store.remove_below("a", 2);
  EXPECT_TRUE(store.list().empty());
  EXPECT_EQ(std::memcmp(open->bytes().data(), "one", 3), 0);
}

TEST_F(FolderSnapshotsTest, RemovesThoseBelowAndOfThisCacheOnly) {
  for (const Position at : {1, 2, 3}) store.put("a", at, bytes_of("x"));
  store.put("a-b", 1, bytes_of("x"));
  store.remove_below("a", 3);
  const auto all = store.list();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].position, 3U);
  EXPECT_EQ(all[1].cache, "a-b");
}

TEST_F(FolderSnapshotsTest, HalfWrittenOnesAreRemovedAndOtherFilesStay) {
  std::ofstream(home / "a.00000000000000000007.dpcache.tmp") << "half";
  for (const char* name : {"notes.txt", "a.7.dpcache", "A.00000000000000000007.dpcache",
                           "a.99999999999999999999.dpcache", "b.tmp", ".dpcache"}) {
    std::ofstream(home / name) << "x";
  }
  EXPECT_TRUE(store.list().empty());
  EXPECT_EQ(files_in(home.path()), 6U);
}

TEST_F(FolderSnapshotsTest, NamesThatCouldLeaveTheFolderAreRefused) {
  for (const std::string name : {"", "../a", "a/b", "A", "a.b", "a b", "ä"}) {
    EXPECT_THROW(store.put(name, 1, bytes_of("x")), std::invalid_argument) << name;
    EXPECT_THROW(store.open(name, 1), std::invalid_argument) << name;
    EXPECT_THROW(store.remove_below(name, 1), std::invalid_argument) << name;
  }
  EXPECT_THROW(store.put(std::string(201, 'a'), 1, bytes_of("x")), std::invalid_argument);
  store.put(std::string(200, 'a'), 1, bytes_of("x"));
}

TEST_F(FolderSnapshotsTest, OneThatIsNotThereOrEmptyOrNoFileIsAClearError) {
  const std::string path = home / "a.00000000000000000001.dpcache";
  EXPECT_EQ(thrown_by([&] { store.open("a", 1); }),
            path + ": cannot be opened: No such file or directory");
  std::ofstream{path}.close();
  EXPECT_EQ(thrown_by([&] { store.open("a", 1); }), path + ": is empty");
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_EQ(thrown_by([&] { store.open("a", 1); }), path + ": is not a file");
}

TEST_F(FolderSnapshotsTest, ListingLeavesAloneWhatIsBeingWritten) {
  const std::string large(8 << 20, 'x');
  std::atomic<bool> ending{false};
  std::thread lister([&] {
    while (!ending) store.list();
  });
  for (Position at = 1; at <= 5; ++at) store.put("a", at, bytes_of(large));
  ending = true;
  lister.join();
  EXPECT_EQ(store.list().size(), 5U);
}

TEST_F(FolderSnapshotsTest, AFailedWriteLeavesNothing) {
  const auto error = testing::in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    return thrown_by([&] { store.put("a", 2, bytes_of(std::string(10000, 'x'))); });
  });
  EXPECT_EQ(error,
            (home / "a.00000000000000000002.dpcache.tmp") + ": cannot be written: File too large");
  EXPECT_EQ(files_in(home.path()), 0U);
}

TEST_F(FolderSnapshotsTest, AFullDiskIsAnErrorWithItsCodeAndTheOldOneStays) {
  const auto result = testing::on_small_disk(1024, [](const std::string& folder) {
    FolderSnapshots snapshots(folder);
    snapshots.put("a", 1, bytes_of("old"));
    try {
      snapshots.put("a", 2, bytes_of(std::string(2 << 20, 'x')));
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::no_space_on_device) return std::string(error.what());
      if (files_in(folder) != 1) return std::string("something is left");
      return content(snapshots, "a", 1);
    }
    return std::string("nothing was thrown");
  });
  if (!result) GTEST_SKIP() << "this system mounts no file system for a test";
  EXPECT_EQ(*result, "old");
}

TEST_F(FolderSnapshotsTest, AFolderThatIsAFileOrHasNoParentIsAClearError) {
  std::ofstream(home / "file").close();
  EXPECT_EQ(thrown_by([&] { FolderSnapshots there(home / "file"); }),
            (home / "file") + ": cannot be used: Not a directory");
  EXPECT_EQ(thrown_by([&] { FolderSnapshots there(home / "none/deeper"); }),
            (home / "none/deeper") + ": cannot be made: No such file or directory");
}

}  // namespace
}  // namespace dpcache::server
