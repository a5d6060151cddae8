// Paths of files and URLs, without the punctuation of the sentence around them.
#ifndef DPCACHE_SRC_TEXT_MASK_PATH_H_
#define DPCACHE_SRC_TEXT_MASK_PATH_H_

#include <cstddef>
#include <string_view>

#include "text/mask_reader.h"

namespace dpcache::text {

// Each function returns the end of the path that begins at `at`, or 0. It runs over the path's
// bytes once.
template <class Text>
class PathMask {
 public:
  explicit PathMask(const MaskReader<Text>& reader) : reader_(reader) {}

  // scheme://host/x, C:\x. A word ends at `end`, where a colon stands.
  std::size_t url_or_drive(std::size_t at, std::size_t end) const {
    if (end - at == 1 && reader_.is(at, kLetter) &&
        (reader_[end + 1] == '\\' || reader_[end + 1] == '/') && reader_[end + 2] != '/') {
      return trimmed(end + 2, path_run(end + 2));
    }
    if (!reader_.is(at, kLetter) || reader_[end + 1] != '/' || reader_[end + 2] != '/') return 0;
    std::size_t stop = end + 3;
    while (reader_.is(stop, kInUrl)) ++stop;
    return trimmed(end + 3, stop);
  }

  // `slash` is the first slash of a path, e.g. of /x, ./x, ~/x.
  std::size_t posix_path(std::size_t slash) const {
    if (!reader_.is(slash + 1, kInPath) || reader_[slash + 1] == '/') return 0;
    return trimmed(slash + 1, path_run(slash + 1));
  }

  // \x\y, \\host\x: a second backslash tells a path from an escape.
  std::size_t backslash_path(std::size_t at) const {
    const std::size_t end = path_run(at + 1);
    std::size_t second = at + 1;
    while (second < end && reader_[second] != '\\') ++second;
    if (second == end) return 0;
    const std::size_t stop = trimmed(at + 1, end);
    return stop > second + 1 ? stop : 0;
  }

 private:
  std::size_t path_run(std::size_t at) const {
    while (reader_.is(at, kInPath) || reader_[at] == '\\') ++at;
    return at;
  }

  // The end of a path without the punctuation of the sentence around it; 0 if nothing is left.
  std::size_t trimmed(std::size_t begin, std::size_t end) const {
    constexpr std::string_view kTrailing = ".,;:!?)]}";
    while (end > begin && kTrailing.find(static_cast<char>(reader_[end - 1])) != kTrailing.npos) {
      --end;
    }
    return end > begin ? end : 0;
  }

  const MaskReader<Text>& reader_;
};

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_MASK_PATH_H_
