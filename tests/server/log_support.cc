// What tests of the log share.
#include "server/log_support.h"

#include <grp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dpcache::server::testing {
namespace {

namespace fs = std::filesystem;

// Runs `call` in a child process after `become`, if that succeeds there.
std::optional<std::string> after_becoming(const std::function<bool()>& become,
                                          const std::function<std::string()>& call) {
  int ends[2];
  if (::pipe(ends) != 0) return std::nullopt;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    if (!become()) ::_exit(3);
    std::string text;
    try {
      text = call();
    } catch (const std::exception& error) {
      text = std::string("thrown: ") + error.what();
    }
    const bool written =
        ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(written ? 0 : 4);
  }
  ::close(ends[1]);
  std::string text;
  char part[512];
  for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 3) return std::nullopt;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the child ended with " << status;
  return text;
}

}  // namespace

TempFolder::TempFolder() {
  std::string name = (fs::temp_directory_path() / "dpcache-log-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string entry_at(Partition partition, Position position, std::size_t size) {
  std::string bytes =
      std::to_string(partition) + ":" + std::to_string(position) + ":" + std::to_string(size) + ":";
  std::uint64_t state = (Position{partition} << 40) + position;
  while (bytes.size() < size) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    bytes.push_back(static_cast<char>(state >> 56));
  }
  return bytes;
}

Append append(Log& log, Partition partition, Position expect, std::string bytes,
              std::string* detail) {
  std::promise<std::pair<Append, std::string>> promise;
  auto result = promise.get_future();
  log.append(partition, expect, std::move(bytes), [&](Append outcome, const std::string& text) {
    promise.set_value({outcome, text});
  });
  auto [outcome, text] = result.get();
  if (detail != nullptr) *detail = text;
  return outcome;
}

Entries read_all(Log& log, Partition partition, Position after) {
  Entries all;
  log.read(partition, after, [&](Position position, std::string_view bytes) {
    all.emplace_back(position, bytes);
    return true;
  });
  return all;
}

std::string thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::string in_child(const std::function<std::string()>& call) {
  return after_becoming([] { return true; }, call).value_or("no child could be made");
}

std::optional<std::string> as_nobody(const std::function<std::string()>& call) {
  constexpr int kNobody = 65534;
  const auto become = [] {
    return ::geteuid() != 0 ||
           (::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0);
  };
  return after_becoming(become, call);
}

std::optional<std::string> on_small_disk(
    int kib, const std::function<std::string(const std::string& folder)>& call) {
  const TempFolder folder;
  const auto become = [&] {
    const int own = CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
    const std::string size = "size=" + std::to_string(kib) + "k";
    return ::unshare(own) == 0 &&
           ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, size.c_str()) == 0;
  };
  return after_becoming(become, [&] { return call(folder.path()); });
}

bool soon(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace dpcache::server::testing
