// Standard output: buffered, with every error noticed.
#ifndef DPCACHE_CLI_OUTPUT_H_
#define DPCACHE_CLI_OUTPUT_H_

#include <concepts>
#include <string>
#include <string_view>

namespace dpcache::cli {

// Throws ClosedPipe if nobody reads any more, else Failure(output), with nothing more written
// after.
class Output {
 public:
  Output() { buffer_.reserve(kFull + 4096); }

  void add(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= kFull) flush();
  }
  void add(char c) { buffer_.push_back(c); }
  void add(std::unsigned_integral auto number) { buffer_.append(std::to_string(number)); }
  // Writes what has been added.
  void flush();
  // Throws ClosedPipe if the reader has gone, though nothing is being written.
  static void check_reader();
  // Flushes and makes sure that it has arrived; call it before success is claimed.
  void close();

 private:
  static constexpr std::size_t kFull = 64 * 1024;
  std::string buffer_;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_OUTPUT_H_
