// The rules of a language for the guards: from a table of lines to a look-up by hash.
//
// A word is looked up as it is written, then by its stem, then without -er and -est. What is found
// has an id: that of the first word of a line `same`, else its own. Equal ids are equal words. A
// phrase is looked up by the ids of its words, one after the other.
#ifndef DPCACHE_SRC_TEXT_GUARD_TABLE_H_
#define DPCACHE_SRC_TEXT_GUARD_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dpcache/error.h"
#include "numerics.h"

namespace dpcache::text {

// What a word is. One may be several.
inline constexpr std::uint32_t kFunction = 1U << 0U;   // carries no thing of its own
inline constexpr std::uint32_t kArticle = 1U << 1U;    // passed over where a frame is compared
inline constexpr std::uint32_t kCue = 1U << 2U;        // denies
inline constexpr std::uint32_t kSoft = 1U << 3U;       // may stand for a cue: stopped, unable
inline constexpr std::uint32_t kSymmetric = 1U << 4U;  // what it joins may change places
inline constexpr std::uint32_t kSubject = 1U << 5U;    // a verb follows
inline constexpr std::uint32_t kParticle = 1U << 6U;   // may stand apart from its verb
inline constexpr std::uint32_t kStarts = 1U << 7U;     // a phrase may begin here
inline constexpr std::uint32_t kPlain = 1U << 8U;      // a phrase whose cue denies nothing
inline constexpr std::uint32_t kValue = 1U << 9U;      // has a number
inline constexpr std::uint32_t kScale = 1U << 10U;     // a power of ten that multiplies
inline constexpr std::uint32_t kPerhaps = 1U << 11U;   // is a number only against another one
inline constexpr std::uint32_t kUnit = 1U << 12U;
inline constexpr std::uint32_t kDay = 1U << 13U;
inline constexpr std::uint32_t kMonth = 1U << 14U;
inline constexpr std::uint32_t kMaybe = 1U << 15U;    // a month only beside a number: may
inline constexpr std::uint32_t kAnswer = 1U << 16U;   // denies nothing in front of a comma: no
inline constexpr std::uint32_t kCeasing = 1U << 17U;  // denies in front of -ing: stop
inline constexpr std::uint32_t kLimit = 1U << 18U;    // makes less of what is said: only, almost
inline constexpr std::uint32_t kKnown = 1U << 19U;    // stands in the table

inline constexpr std::size_t kMaxWord = 64;  // bytes; a longer word has no stem and no entry

// A side of a pair of opposites.
struct Pole {
  std::uint64_t key = 0;
  std::uint8_t group = 0;
  std::uint8_t groups = 2;  // with two, not the one is the other
};

struct Entry {
  std::uint64_t key = 0;  // 0: a free place
  std::uint64_t id = 0;
  std::uint32_t flags = 0;
  std::uint32_t value = 0;  // of kValue; the power of ten of kScale; the index of kDay, kMonth
  std::uint16_t unit = 0;   // from 1
  std::int16_t exponent = 0;
  std::uint32_t poles = 0;  // the first of them
  std::uint32_t pole_count = 0;
};

// Units that a time of day has.
inline constexpr std::uint16_t kUnitAm = 1;
inline constexpr std::uint16_t kUnitPm = 2;
inline constexpr std::uint16_t kUnitDay = 3;
inline constexpr std::uint16_t kUnitMonth = 4;

constexpr std::uint64_t hash_of(std::string_view bytes) noexcept {  // FNV-1a, then mixed
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return mix64(hash) | 1U;  // never 0
}
constexpr std::uint64_t joined(std::uint64_t first, std::uint64_t second) noexcept {
  return mix64(first * 0x9E3779B97F4A7C15ULL + second) | 1U;
}

// The stem of a word in small letters, written over it; its length. Endings of English.
std::size_t stem(char* word, std::size_t size) noexcept;

class GuardTable {
 public:
  // Of one look-up.
  struct Found {
    std::uint64_t id = 0;
    const Entry* entry = nullptr;  // null: none, id is the stem's
  };
  // A form with a marked start, such as un-.
  struct Prefix {
    std::array<char, 8> letters{};
    std::uint8_t size = 0;
    std::uint8_t least = 3;  // letters that must follow
    std::uint8_t group = 0;  // of `pair`
    std::uint64_t pair = 0;  // 0: denies what follows
  };

  GuardTable() = default;
  // One line after the other. bad_config.
  static Result<GuardTable> parse(std::string_view table);

  // `word` in small letters, not changed.
  Found find(std::string_view word) const noexcept;
  const Entry* find_id(std::uint64_t key) const noexcept;
  std::span<const Pole> poles(const Entry& entry) const noexcept {
    return {poles_.data() + entry.poles, entry.pole_count};
  }
  std::span<const Prefix> prefixes(char first) const noexcept;
  std::span<const Prefix> endings() const noexcept { return endings_; }
  bool english() const noexcept { return english_; }
  std::uint64_t id() const noexcept { return id_; }

 private:
  friend class TableReader;
  std::uint64_t stem_id(std::string_view word) const noexcept;

  std::vector<Entry> entries_;  // a power of two of places
  std::size_t used_ = 0;
  std::vector<Pole> poles_;
  std::vector<Prefix> prefixes_;  // by first letter
  std::array<std::uint16_t, 27> prefix_begin_{};
  std::vector<Prefix> endings_;
  bool english_ = false;
  std::uint64_t id_ = 0;
};

// The built-in table's text.
std::string_view english_guard_table() noexcept;

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_GUARD_TABLE_H_
