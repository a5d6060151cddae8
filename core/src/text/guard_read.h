// From a text to what the guards look at: words with what they are, numbers with units, names.
//
// A text is cut at blanks and brackets. A piece is a flag, a path, an address or another code name
// (identifier), or it is taken apart into words and numbers: node-7 and node 7 are alike. Then what
// belongs together becomes one: phrases of the table (no longer; turn ... off), number words
// (twenty-five), a number and its unit, a date.
#ifndef DPCACHE_SRC_TEXT_GUARD_READ_H_
#define DPCACHE_SRC_TEXT_GUARD_READ_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dpcache/guards.h"
#include "text/guard_table.h"

namespace dpcache::text {

// What a token is, beside what its entry says.
inline constexpr std::uint32_t kDropped = 1U << 0U;  // has become part of another
inline constexpr std::uint32_t kCapital = 1U << 1U;  // begins with a capital letter
inline constexpr std::uint32_t kUpper = 1U << 2U;    // has capital letters only, two at least
inline constexpr std::uint32_t kQuoted = 1U << 3U;
inline constexpr std::uint32_t kName = 1U << 4U;
inline constexpr std::uint32_t kNumber = 1U << 5U;
inline constexpr std::uint32_t kDigits = 1U << 6U;  // a number in digits
inline constexpr std::uint32_t kCode = 1U << 7U;    // an identifier that matters by itself
inline constexpr std::uint32_t kWeak = 1U << 8U;    // one that matters only against another one
inline constexpr std::uint32_t kComma = 1U << 9U;   // stands behind a comma, a colon, a bracket
inline constexpr std::uint32_t kFirst = 1U << 10U;  // begins a sentence
inline constexpr std::uint32_t kGlued = 1U << 11U;  // no blank in front of it
inline constexpr std::uint32_t kDenies = 1U << 12U;
inline constexpr std::uint32_t kYields = 1U << 13U;  // soft
inline constexpr std::uint32_t kVerb = 1U << 14U;    // stands where a verb does
inline constexpr std::uint32_t kForm = 1U
                                       << 15U;  // ends with -ing or -ed; a number: part of a date
inline constexpr std::uint32_t kGuess = 1U << 16U;  // a number only against another one
inline constexpr std::uint32_t kBelow = 1U << 17U;  // negative
inline constexpr std::uint32_t kParts = 1U << 19U;  // a version of three parts or more
inline constexpr std::uint32_t kTied = 1U << 20U;   // a unit that has become part of a number

struct GuardToken {
  std::uint64_t id;
  std::uint64_t digits;  // of a number: hash of its digits without zeros at both ends
  const Entry* entry;
  std::uint32_t begin;  // bytes of Reading::text
  std::uint32_t end;
  std::uint32_t flags;
  std::int16_t exponent;  // of a number: digits times ten to this
  std::uint16_t unit;
  std::uint32_t value;  // small whole numbers, else kNoValue
  char letter;          // the first one, small; else 0
};
inline constexpr std::uint32_t kNoValue = 0xFFFFFFFF;

// 28 KiB; the tokens are not cleared.
struct Reading {
  std::string own;        // the plain form of a text that is not ASCII
  std::string_view text;  // what begin and end count in
  std::size_t count = 0;
  std::array<GuardToken, kMaxGuardWords> tokens;
};

// Makes the token the number `value`, as its digits would.
void set_value(GuardToken& token, std::uint64_t value) noexcept;

void read_guarded(std::string_view text, const GuardTable& table, Reading& reading);

// The cells of GuardFacts (guard_cells.h).
std::vector<std::uint64_t> pack(Reading& reading, const GuardTable& table);

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_GUARD_READ_H_
