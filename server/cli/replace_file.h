// A file that is replaced whole or not at all.
#ifndef DPCACHE_CLI_REPLACE_FILE_H_
#define DPCACHE_CLI_REPLACE_FILE_H_

#include <string>
#include <string_view>

#include "cli/descriptor.h"
#include "cli/signals.h"

namespace dpcache::cli {

// Whether `path` could be written, asked before long work. Throws Failure(output).
void check_replaceable(const std::string& path);
// A file that comes to stand in the place of another when it is whole: it is written beside it,
// forced to the disk and renamed over it. Mode stays as it was; a symbolic link stays a link.
class ReplacedFile {
 public:
  // Throws Failure(output), as the others do, with the file as it was.
  explicit ReplacedFile(const std::string& path);
  ~ReplacedFile();
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;

  void write(std::string_view bytes);
  // Overwrites what was written first. Before commit().
  void rewrite_start(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void stop() const;

  std::string path_;
  std::string target_;
  std::string temporary_;
  Unfinished unfinished_;
  Descriptor fd_;
};

// Writes `text` beside the file, forces it to the disk and renames it over the file. Mode stays as
// it was; a symbolic link stays a link. Throws Failure(output), with the file as it was.
void replace_file(const std::string& path, std::string_view text);

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_REPLACE_FILE_H_
