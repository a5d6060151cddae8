// UTF-8, read with every fault as U+FFFD, and written.
#ifndef DPCACHE_SRC_UTF8_H_
#define DPCACHE_SRC_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace dpcache {

inline constexpr char32_t kReplacement = 0xFFFD;

struct CodePoint {
  char32_t value = kReplacement;
  std::size_t size = 1;  // in bytes, at least 1
  bool valid = false;    // false: a fault, which reads as U+FFFD
};

// The character at `at` (< text.size()). Bytes that are not UTF-8 give U+FFFD, one for each maximal
// subpart of an ill-formed sequence, as the WHATWG decoder does.
CodePoint read_utf8(std::string_view text, std::size_t at) noexcept;

// Appends the UTF-8 form.
void append_utf8(char32_t code, std::string& out);

}  // namespace dpcache

#endif  // DPCACHE_SRC_UTF8_H_
