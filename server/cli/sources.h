// The files that a command reads: all are tried before the first one is read.
#ifndef DPCACHE_CLI_SOURCES_H_
#define DPCACHE_CLI_SOURCES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/input.h"

namespace dpcache::cli {

enum class Content : std::uint8_t { text, vectors };

// A missing file, a folder or a mixture of text and vectors is found before any work is done.
// Regular files are closed again until their turn comes, so that there may be more of them than
// descriptors.
class Sources {
 public:
  // Throws Failure(input). Waits for the first bytes of pipes.
  explicit Sources(const std::vector<std::string>& names);

  std::size_t size() const noexcept { return sources_.size(); }
  Content content() const noexcept { return content_; }
  const std::string& name(std::size_t at) const { return sources_[at].name; }
  bool all_files() const noexcept;
  // Bytes in all of them, if all are files.
  std::optional<std::uint64_t> bytes() const noexcept;
  // Opens one; once each.
  Input open(std::size_t at);

 private:
  struct Source {
    std::string name;
    std::optional<Input> kept;  // a pipe
    std::optional<std::uint64_t> size;
  };
  std::vector<Source> sources_;
  Content content_ = Content::text;
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_SOURCES_H_
