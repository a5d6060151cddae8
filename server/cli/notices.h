// Words to the user on standard error, other than errors.
#ifndef DPCACHE_CLI_NOTICES_H_
#define DPCACHE_CLI_NOTICES_H_

#include <unistd.h>

#include <string>

#include "cli/terminal.h"

namespace dpcache::cli {

// One line; lost if standard error is, which is no reason to fail.
inline void say(const std::string& text) {
  const auto line = printable(text) + '\n';
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_NOTICES_H_
