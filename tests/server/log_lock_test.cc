// The lock on a data folder: one server, and never in somebody else's folder.
#include <unistd.h>

#include <memory>
#include <stdexcept>

#include "log/data_lock.h"
#include "server/log_support.h"

namespace dpcache::server {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;
using testing::thrown_by;

std::string refusal(const std::string& folder) {
  return thrown_by([&] { const DataLock lock(folder); });
}

TEST(DataLock, MakesTheFolderForItsOwnerOnly) {
  const TempFolder outer;
  const DataLock lock(outer / "data");
  EXPECT_EQ(fs::status(outer / "data").permissions(), fs::perms::owner_all);
}

TEST(DataLock, ASecondServerIsToldWhichProcessHasTheFolder) {
  const TempFolder folder;
  auto lock = std::make_unique<DataLock>(folder.path());
  const std::string expected = folder.path() + ": is in use by process " +
                               std::to_string(::getpid()) + " (stop it, or name another folder)";
  EXPECT_EQ(refusal(folder.path()), expected);
  EXPECT_EQ(testing::in_child([&] { return refusal(folder.path()); }), expected);
  EXPECT_EQ(refusal(folder.path()), expected) << "a refusal does not release it";
  lock.reset();
  EXPECT_EQ(refusal(folder.path()), "nothing was thrown");
}

TEST(DataLock, EndsWithItsProcess) {
  const TempFolder folder;
  testing::in_child([&] {
    const auto* leaked = new DataLock(folder.path());
    return std::string(leaked != nullptr ? "" : "x");
  });
  EXPECT_EQ(refusal(folder.path()), "nothing was thrown");
}

TEST(DataLock, AFolderOfOtherThingsIsRefused) {
  const TempFolder folder;
  std::ofstream(folder / "thesis.txt").close();
  EXPECT_EQ(refusal(folder.path()),
            folder.path() +
                ": is not a data folder of dpcache, as it holds thesis.txt (name an "
                "empty folder or a new one)");
  EXPECT_FALSE(fs::exists(folder / "lock"));
  std::ofstream(folder / "log.db").close();  // ours, whose lock was removed
  EXPECT_EQ(refusal(folder.path()), "nothing was thrown");
}

TEST(DataLock, AnEmptyVolumeIsTaken) {
  const TempFolder folder;
  fs::create_directory(folder / "lost+found");
  std::ofstream(folder / ".keep").close();
  EXPECT_EQ(refusal(folder.path()), "nothing was thrown");
}

TEST(DataLock, AFolderThatCannotBeWrittenIsAClearError) {
  const TempFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec |
                                     fs::perms::others_read | fs::perms::others_exec);
  const auto error = testing::as_nobody([&] { return refusal(folder.path()); });
  fs::permissions(folder.path(), fs::perms::owner_all);
  if (!error) GTEST_SKIP() << "this user cannot become another";
  EXPECT_EQ(*error, (folder / "lock") + ": cannot be opened for writing: Permission denied");
}

TEST(DataLock, AFolderThatIsNotOneOrHasNoParentIsAClearError) {
  const TempFolder folder;
  std::ofstream(folder / "file").close();
  EXPECT_EQ(refusal(folder / "file"), (folder / "file") + ": cannot be used: Not a directory");
  EXPECT_EQ(refusal(folder / "none/deeper"),
            (folder / "none/deeper") + ": cannot be made: No such file or directory");
}

}  // namespace
}  // namespace dpcache::server
