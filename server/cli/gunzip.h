// Unpacks gzip as it comes, member after member.
#ifndef DPCACHE_CLI_GUNZIP_H_
#define DPCACHE_CLI_GUNZIP_H_

#include <zlib.h>

#include <cstddef>
#include <span>
#include <string>

namespace dpcache::cli {

class Gunzip {
 public:
  Gunzip();  // throws std::bad_alloc
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  struct Progress {
    std::size_t taken = 0;  // bytes of `from` that were used
    std::size_t made = 0;   // bytes written to `to`
    std::string error;      // empty, or what is wrong with the bytes
  };
  // Unpacks what is there. Zeros between and behind members are skipped, as tape drives add them.
  Progress unpack(std::span<const char> from, std::span<char> to);
  // Whether the file may end here.
  bool between_members() const noexcept { return between_; }

 private:
  z_stream stream_{};
  bool between_ = true;
  bool any_ = false;  // a member was unpacked
};

}  // namespace dpcache::cli

#endif  // DPCACHE_CLI_GUNZIP_H_
