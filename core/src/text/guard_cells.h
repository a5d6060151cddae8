// How facts stand in their cells of 64 bits: two for the head, then words in the order of the text,
// poles and numbers.
#ifndef DPCACHE_SRC_TEXT_GUARD_CELLS_H_
#define DPCACHE_SRC_TEXT_GUARD_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dpcache/guards.h"

namespace dpcache {

// Opens what GuardFacts keeps to itself.
class GuardFactsAccess {
 public:
  static std::vector<std::uint64_t>& cells(GuardFacts& facts) { return facts.cells_; }
};

}  // namespace dpcache

namespace dpcache::text {

inline constexpr std::uint64_t kFactsVersion = 1;
inline constexpr std::size_t kHeadCells = 2;  // version and counts; the language's id
inline constexpr std::size_t kMaxPoles = 2 * kMaxGuardWords;

// A word: its hash's first 43 bits, and what it is.
inline constexpr unsigned kWordBits = 21;
inline constexpr std::uint64_t kInFunction = 1U << 0U;
inline constexpr std::uint64_t kInArticle = 1U << 1U;
inline constexpr std::uint64_t kInDenial = 1U << 2U;
inline constexpr std::uint64_t kInSoft = 1U << 3U;
inline constexpr std::uint64_t kInSymmetric = 1U << 4U;
inline constexpr std::uint64_t kInName = 1U << 5U;
inline constexpr std::uint64_t kInNumber = 1U << 6U;
inline constexpr std::uint64_t kInCode = 1U << 7U;
inline constexpr std::uint64_t kInWeak = 1U << 8U;
inline constexpr std::uint64_t kInVerb = 1U << 9U;
inline constexpr std::uint64_t kInComma = 1U << 10U;
inline constexpr std::uint64_t kInLimit = 1U << 11U;
inline constexpr std::uint64_t kInForm = 1U << 12U;
inline constexpr std::uint64_t kInUpper = 1U << 13U;
inline constexpr std::uint64_t kInTied = 1U << 14U;  // the unit of a number
inline constexpr std::uint64_t kInFirst = 1U << 15U;
inline constexpr unsigned kLetterShift = 16;  // its first letter from 1, five bits

constexpr std::uint64_t word_hash(std::uint64_t cell) noexcept {
  return cell >> kWordBits;
}
// The first letter as an ASCII letter; 0: none.
constexpr char word_letter(std::uint64_t cell) noexcept {
  const auto letter = static_cast<unsigned>(cell >> kLetterShift & 31U);
  return letter == 0 ? '\0' : static_cast<char>('a' + letter - 1);
}

// A pole: 40 bits of its key, ten of its word, six of its group, six of the groups (0: the word
// denies the word with this hash: unable, able).
constexpr std::uint64_t pole_cell(std::uint64_t key, std::size_t word, unsigned group,
                                  unsigned groups) noexcept {
  return key >> 24U << 24U | std::uint64_t{word} << 12U | std::uint64_t{group} << 6U | groups;
}
constexpr std::uint64_t pole_key(std::uint64_t cell) noexcept {
  return cell >> 24U;
}
constexpr std::size_t pole_word(std::uint64_t cell) noexcept {
  return cell >> 12U & 0x3FFU;
}
constexpr unsigned pole_group(std::uint64_t cell) noexcept {
  return cell >> 6U & 63U;
}
constexpr unsigned pole_groups(std::uint64_t cell) noexcept {
  return cell & 63U;
}
// A word's hash as a pole's key.
constexpr std::uint64_t key_of_word(std::uint64_t cell) noexcept {
  return cell >> 24U;
}

// A number: 41 bits of its value, 12 of its unit, ten of its word, one if it is a guess.
constexpr std::uint64_t number_cell(std::uint64_t value, unsigned unit, std::size_t word,
                                    unsigned guess) noexcept {
  return value >> 23U << 23U | std::uint64_t{unit} << 11U | std::uint64_t{word} << 1U | guess;
}
constexpr std::uint64_t number_value(std::uint64_t cell) noexcept {
  return cell >> 23U;
}
constexpr unsigned number_unit(std::uint64_t cell) noexcept {
  return cell >> 11U & 0xFFFU;
}
constexpr std::size_t number_word(std::uint64_t cell) noexcept {
  return cell >> 1U & 0x3FFU;
}
constexpr bool number_guess(std::uint64_t cell) noexcept {
  return (cell & 1U) != 0;
}

static_assert(kMaxGuardWords <= 1024, "a word's index has ten bits");

struct Cells {
  std::uint64_t language = 0;
  std::span<const std::uint64_t> words;
  std::span<const std::uint64_t> poles;    // by word
  std::span<const std::uint64_t> numbers;  // by word
};

constexpr std::uint64_t head_cell(std::size_t words, std::size_t poles,
                                  std::size_t numbers) noexcept {
  return kFactsVersion << 48U | std::uint64_t{words} << 32U | std::uint64_t{poles} << 16U | numbers;
}

// Of cells that are not empty and have been checked.
inline Cells open_cells(std::span<const std::uint64_t> cells) noexcept {
  const auto words = static_cast<std::size_t>(cells[0] >> 32U & 0xFFFFU);
  const auto poles = static_cast<std::size_t>(cells[0] >> 16U & 0xFFFFU);
  Cells open;
  open.language = cells[1];
  open.words = cells.subspan(kHeadCells, words);
  open.poles = cells.subspan(kHeadCells + words, poles);
  open.numbers = cells.subspan(kHeadCells + words + poles);
  return open;
}

// What two texts have against each other: words of either, by index (kNoWord: none).
inline constexpr std::size_t kNoWord = kMaxGuardWords;
struct Finding {
  Guard guard = Guard::number;
  std::size_t a = kNoWord;
  std::size_t b = kNoWord;
};

class FindingSink {
 public:
  FindingSink() = default;
  FindingSink(const FindingSink&) = delete;
  FindingSink& operator=(const FindingSink&) = delete;
  virtual void found(const Finding& finding) = 0;

 protected:
  ~FindingSink() = default;
};

// Neither is empty. `sink` may be null.
GuardSet compare_cells(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                       GuardSet on, FindingSink* sink) noexcept;

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_GUARD_CELLS_H_
