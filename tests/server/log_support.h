// What tests of the log share: folders that go away, appends that wait, and processes of other
// users.
#ifndef DPCACHE_TESTS_SERVER_LOG_SUPPORT_H_
#define DPCACHE_TESTS_SERVER_LOG_SUPPORT_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "log/log.h"

namespace dpcache::server::testing {

class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// The bytes that tests write at a place: what is read there must be the same.
std::string entry_at(Partition partition, Position position, std::size_t size);

// Appends, waits, and says what became of it.
Append append(Log& log, Partition partition, Position expect, std::string bytes,
              std::string* detail = nullptr);

using Entries = std::vector<std::pair<Position, std::string>>;
Entries read_all(Log& log, Partition partition, Position after = 0);

// The text of what `call` throws, or "nothing was thrown".
std::string thrown_by(const std::function<void()>& call);

// Runs `call` in a child process and returns what it returned.
std::string in_child(const std::function<std::string()>& call);
// The same, or nothing where this system does not let the child be what it is to be. As somebody
// who is not root:
std::optional<std::string> as_nobody(const std::function<std::string()>& call);
// With a folder on a file system of its own, of so many KiB:
std::optional<std::string> on_small_disk(
    int kib, const std::function<std::string(const std::string& folder)>& call);

// Waits for what comes soon; false if it does not.
bool soon(const std::function<bool()>& holds);

}  // namespace dpcache::server::testing

#endif  // DPCACHE_TESTS_SERVER_LOG_SUPPORT_H_
