// What a slot remembers of its first item, as the JSON payload that other programs can read too.
#ifndef DPCACHE_CLI_EXAMPLE_JSON_H_
#define DPCACHE_CLI_EXAMPLE_JSON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dpcache::cli {

// More of a line than this is not kept: a memory of log lines stays small whatever the lines are.
inline constexpr std::size_t kExampleBytes = 4096;

// {"text": "...", "file": "app.log", "line": 12}; with "bytes", the length of the whole line, where
// the text was cut, and with "latin1", the bytes as characters U+0000 to U+00FF, where they are not
// UTF-8 and "text" therefore holds U+FFFD for some of them.
struct Example {
  std::string text;  // bytes as they came
  std::string file;
  std::uint64_t line = 0;              // from 1; 0: unknown
  std::optional<std::uint64_t> bytes;  // of the whole line, if the text is only its start
};

// Writes payloads for one file after the other; about 100 ns for a line of plain ASCII.
class ExampleWriter {
 public:
  void set_file(std::string_view name);
  // Valid until the next call.
  std::string_view write(std::string_view text, std::uint64_t line);

 private:
  std::string file_;  // quoted
  std::string json_;
};

// The example in a payload. From another program's payload as much as can be understood: its
// "text", else the payload as it is.
Example read_example(std::string_view payload);

// A user's own masks, name and regular expression, as they travel in a memory file's metadata.
struct OwnMask {
  std::string name;
  std::string regex;
};
std::string write_masks(const std::vector<OwnMask>& masks);
std::optional<std::vector<OwnMask>> read_masks(std::string_view json);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_EXAMPLE_JSON_H_
