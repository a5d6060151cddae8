// Bytes from a file or standard input, unpacked if they are gzip.
#ifndef DPCACHE_CLI_INPUT_H_
#define DPCACHE_CLI_INPUT_H_

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/descriptor.h"

namespace dpcache::cli {

class Gunzip;

// Recognises gzip by its first bytes, on standard input too; members may follow each other. Memory:
// 64 KiB, and 40 KiB for gzip. Every function throws Failure(input) if the file fails.
class Input {
 public:
  // Opens the file; "-" is standard input. A folder is refused.
  explicit Input(std::string name);
  Input(Input&&) noexcept;
  Input& operator=(Input&&) noexcept;
  ~Input();

  // Up to `size` > 0 bytes. 0: the end for now (a growing file can have more later), or a signal
  // came while waiting.
  std::size_t read(char* to, std::size_t size);
  // Whether the content begins with `magic`; reads no further than needed to tell.
  bool starts_with(std::string_view magic);
  // The first bytes, `size` of them or as many as there are. They are still to be read.
  std::string_view head(std::size_t size);

  // Called before each wait for bytes that are not there yet, and every second of it.
  void on_idle(std::function<void()> idle) { idle_ = std::move(idle); }

  const std::string& name() const noexcept { return name_; }  // as given, for output
  std::string title() const;                                  // for messages
  bool is_file() const noexcept { return S_ISREG(stat_.st_mode); }
  bool is_gzip() const noexcept { return gunzip_ != nullptr; }
  // Bytes in the file and bytes taken from it, packed if it is; the size is unknown for a pipe.
  std::optional<std::uint64_t> size() const noexcept;
  std::uint64_t consumed() const noexcept { return consumed_; }

  // For a growing file: whether its name now stands for another file, or it was cut short.
  bool is_replaced() const noexcept;
  // Begins again, at the start of the file that has the name now.
  void reopen();

 private:
  void open();
  std::size_t read_raw(char* to, std::size_t size);
  std::size_t read_decoded(char* to, std::size_t size);
  void recognise();
  std::size_t unpack(char* to, std::size_t size);

  std::string name_;
  Descriptor fd_;
  struct stat stat_ {};
  std::uint64_t consumed_ = 0;
  bool recognised_ = false;
  std::vector<char> raw_;  // bytes read from the file and not yet unpacked: [raw_begin_, raw_end_)
  std::size_t raw_begin_ = 0;
  std::size_t raw_end_ = 0;
  std::string head_;  // unpacked by starts_with, not yet handed out
  std::unique_ptr<Gunzip> gunzip_;
  std::function<void()> idle_;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_INPUT_H_
