// Reads files that grow; follow.h says how.
#include "cli/follow.h"

#include <utility>
#include <vector>

#include "cli/lines.h"
#include "cli/signals.h"

namespace dpcache::cli {
namespace {

constexpr int kPollMs = 100;  // how often growing files are looked at

struct Followed {
  LineReader lines;
  std::string name;
  std::uint64_t number = 0;

  void drain(const Following& following) {
    for (std::string_view line; !stopping() && lines.next(line);) {
      following.take(line, name, ++number);
    }
  }
};

}  // namespace

void follow_files(Sources& sources, const Following& following) {
  std::vector<Followed> files;
  for (std::size_t at = 0; at < sources.size(); ++at) {
    auto input = sources.open(at);
    input.on_idle(following.idle);
    files.push_back({LineReader(std::move(input)), sources.name(at)});
  }
  while (!stopping()) {
    for (auto& file : files) {
      const bool replaced = file.lines.input().is_replaced();
      file.drain(following);  // also what was written just before it was replaced
      if (!replaced || stopping()) continue;
      if (const auto rest = file.lines.take_rest(); !rest.empty()) {
        following.take(rest, file.name, ++file.number);
      }
      file.lines.input().reopen();
      file.number = 0;
      file.drain(following);
    }
    following.idle();
    wait_readable(-1, kPollMs);
  }
}

}  // namespace dpcache::cli
