// How a command ends: the exit codes, and the exceptions that carry bad news to main.
#ifndef DPCACHE_CLI_FAILURE_H_
#define DPCACHE_CLI_FAILURE_H_

#include <cstring>
#include <stdexcept>
#include <string>

namespace dpcache::cli {

// Documented in dpcache(1): scripts rely on them.
enum class Exit : int {
  ok = 0,
  negative = 1,   // the answer is no: query met something unknown, verify found damage
  usage = 2,      // the command line cannot be carried out
  input = 3,      // an input file is missing, unreadable or not what was expected
  memory = 4,     // the memory file cannot be read, written or used with these settings
  output = 5,     // standard output cannot be written
  resources = 6,  // out of memory, or a fault of this program
};

// A message of one line, "subject: what (what to do)"; main puts the program's name before it.
class Failure : public std::runtime_error {
 public:
  Failure(Exit code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Exit code() const noexcept { return code_; }

 private:
  Exit code_;
};

// Whoever read standard output has gone. Not an error of ours: the command ends quietly.
class ClosedPipe : public std::exception {};

// The system's words for `error`, an errno.
inline std::string system_words(int error) {
  return std::strerror(error);
}

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_FAILURE_H_
