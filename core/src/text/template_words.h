// The words that templates treat in a way of their own.
#ifndef DPCACHE_SRC_TEXT_TEMPLATE_WORDS_H_
#define DPCACHE_SRC_TEXT_TEMPLATE_WORDS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace dpcache::text {

// A hash of a token's bytes. Little-endian, so the same everywhere.
inline std::uint64_t token_hash(std::string_view bytes) noexcept {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ULL;
  std::uint64_t hash = (bytes.size() + 1) * 0xD6E8FEB86659FD93ULL;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  const auto take = [&hash](std::uint64_t part) {
    hash = (hash ^ part) * kMultiplier;
    hash ^= hash >> 29U;
  };
  for (; left > 8; left -= 8, at += 8) {
    std::uint64_t part = 0;
    std::memcpy(&part, at, 8);
    take(part);
  }
  std::uint64_t part = 0;
  if (left == 8) {
    std::memcpy(&part, at, 8);
  } else {
    for (std::size_t i = 0; i < left; ++i) {
      part |= std::uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
    }
  }
  take(part);
  take(hash >> 32U);
  return hash;
}

// What is known of a word.
inline constexpr unsigned kStateWord = 1;   // a state or an outcome; a verb: never a parameter
inline constexpr unsigned kNamingWord = 2;  // the word behind it is a name: "user alice"
inline constexpr unsigned kUnitWord = 4;    // belongs to the number in front of it
inline constexpr unsigned kValueWord = 8;   // stands for a value: true, null
inline constexpr unsigned kTextKey = 16;    // as a key it holds a sentence: msg="..."
inline constexpr unsigned kCodeWord = 32;   // a number behind it is a code: status 404
inline constexpr unsigned kSmallWord = 64;  // not, in, off: grammar, never a parameter

inline constexpr unsigned kPredicate = 128;  // fixed even where a name is expected: "user unknown"
inline constexpr unsigned kLevelWord = 256;  // how grave a line is: "fatal: overflow"

// The bits of the word with this hash, as it is written, in capitals or capitalised. O(1).
unsigned word_bits(std::uint64_t hash) noexcept;

// Whether a word must never become a parameter: of the list, or a verb by its end (-ed, -ing).
bool is_fixed_word(std::string_view word, std::uint64_t hash) noexcept;

// The same for a word where a name is expected: people and hosts are called "info" and "update".
bool is_fixed_after_name(std::string_view word, std::uint64_t hash) noexcept;

// The same for a run of characters that are written without blanks: whether one of the words that
// name states stands in it and overlaps [begin, end).
bool has_fixed_part(std::string_view run, std::size_t begin, std::size_t end) noexcept;
// Whether a run ends with a word behind which a name comes.
bool names_what_follows(std::string_view run) noexcept;

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_TEMPLATE_WORDS_H_
