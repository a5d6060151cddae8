// Lines out of an input, of any length, without copying them.
#ifndef DPCACHE_CLI_LINES_H_
#define DPCACHE_CLI_LINES_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "cli/input.h"

namespace dpcache::cli {

// Memory: 256 KiB, and up to three times the longest line while that line is at hand.
class LineReader {
 public:
  explicit LineReader(Input input);

  // The next line that ends in a newline, without it; valid until the next call. False at the end
  // for now. Throws Failure(input) for a line of kMaxLine bytes or more.
  bool next(std::string_view& line);
  // The same, for input that does not grow: what stands behind the last newline is a line too.
  // After a signal it is not, as it may be half a line.
  bool next_or_last(std::string_view& line);
  // What stands behind the last newline: a last line without one, or a line still being written.
  std::string_view take_rest();

  std::uint64_t bytes() const noexcept { return bytes_; }  // of the lines so far, unpacked
  Input& input() noexcept { return input_; }
  const Input& input() const noexcept { return input_; }

  static constexpr std::size_t kMaxLine = std::size_t{1} << 30;

 private:
  void make_room();

  Input input_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_;
  std::size_t begin_ = 0;    // of the line that is being looked for
  std::size_t scanned_ = 0;  // no newline in [begin_, scanned_)
  std::size_t end_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_LINES_H_
