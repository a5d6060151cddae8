// Reads files that grow, as tail -F does: on and on, into the next file when a log is rotated.
#ifndef DPCACHE_CLI_FOLLOW_H_
#define DPCACHE_CLI_FOLLOW_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cli/sources.h"

namespace dpcache::cli {

// What a reader of lines does: with each line, numbered from 1 in its file; and while there are
// none, ten times a second.
struct Following {
  std::function<void(std::string_view line, const std::string& file, std::uint64_t number)> take;
  std::function<void()> idle;
};

// All sources must be files. Returns when a signal says so. Throws what `following` throws, and
// Failure(input) if a file fails.
void follow_files(Sources& sources, const Following& following);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_FOLLOW_H_
