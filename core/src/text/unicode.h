// Classes of characters, and canonical decomposition (NFD).
#ifndef DPCACHE_SRC_TEXT_UNICODE_H_
#define DPCACHE_SRC_TEXT_UNICODE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace dpcache::text {

// Whether every byte is below 0x80.
bool is_ascii(std::string_view text) noexcept;

// Whether the character is White_Space and not ASCII.
bool is_wide_blank(char32_t code) noexcept;

// Whether the character is of a script that is written without blanks between words, so that each
// character stands for a word: Han and kana.
bool is_unspaced(char32_t code) noexcept;

// The text as valid UTF-8 in canonical decomposition (NFD). Linear time. The result has at most
// three times the bytes; a run of combining marks that is out of order is copied while it is
// sorted.
std::string decomposed(std::string_view text);

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_UNICODE_H_
