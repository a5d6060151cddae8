// What distinct prints, as data: one row an item, one assignment a line.
#ifndef DPCACHE_CLI_ROWS_H_
#define DPCACHE_CLI_ROWS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/example_json.h"
#include "cli/options.h"
#include "cli/output.h"
#include "dpcache/event.h"

namespace dpcache::cli {

// A distinct item.
struct Row {
  SlotId slot = 0;
  std::uint64_t count = 0;       // items absorbed, by all runs
  std::uint64_t seen = 0;        // by this run
  bool fresh = false;            // opened by this run
  std::optional<float> novelty;  // when it was opened, if by this run
  Example first;                 // the first item
  std::int64_t first_time = 0;   // milliseconds since 1970
  std::int64_t last_time = 0;
};

// A line and the slot that took it.
struct Assignment {
  const Decision* decision = nullptr;
  std::string_view file;
  std::uint64_t line = 0;
  std::string_view bytes;  // as they came, without the newline
};

enum class Locate : bool { line, file_and_line };

// How rows look. One object for a run; nothing reaches the output before `finish` that need not.
class Printer {
 public:
  virtual ~Printer() = default;
  virtual void row(const Row& row) = 0;
  virtual void assignment(const Assignment& assignment) = 0;
  // The rows are complete.
  virtual void finish() {}
};

// Tab-separated, or a table if standard output is a terminal.
std::unique_ptr<Printer> text_printer(Output& output, Locate locate, Stream stream);
// JSON Lines. `text` of a row has at most kExampleBytes.
std::unique_ptr<Printer> json_printer(Output& output);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_ROWS_H_
