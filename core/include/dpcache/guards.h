// Guards for text: what says that two texts must not be taken for one, however alike their vectors.
#ifndef DPCACHE_GUARDS_H_
#define DPCACHE_GUARDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpcache/error.h"

namespace dpcache {

// Why two texts must not merge. A decision names the guards by to_string.
enum class Guard : std::uint8_t {
  number,      // another number, unit, date, time of day or version: 5 km and 5 miles
  negation,    // one of them denies what the other says: not, n't, without, no longer
  antonym,     // a word and its opposite: on and off, able and unable, import and export
  identifier,  // another flag, path, address, host or code name
  entity,      // another name: capitalised or quoted
  replaced,    // one word stands in the place of another, all around it equal: branch and repo
  order,       // two words have changed places: from A to B and from B to A
  scope,       // another tenant, namespace or filter: the caller's own comparison, never a text's
};
inline constexpr std::size_t kGuards = 8;
inline constexpr std::array<std::string_view, kGuards> kGuardNames = {
    "number", "negation", "antonym", "identifier", "entity", "replaced", "order", "scope"};

// The guard's name; static storage.
constexpr std::string_view to_string(Guard guard) noexcept {
  return kGuardNames[static_cast<std::size_t>(guard)];
}

// A set of guards: those that are on, or those that spoke.
class GuardSet {
 public:
  constexpr GuardSet() = default;  // none
  static constexpr GuardSet all() noexcept { return GuardSet((1U << kGuards) - 1); }
  // "number,negation": names separated by commas; or "all", or "none". bad_config: another name.
  static Result<GuardSet> parse(std::string_view names);
  // From bits(). Bits that are no guard are dropped.
  static constexpr GuardSet of_bits(std::uint32_t bits) noexcept {
    return GuardSet(bits & all().bits_);
  }

  constexpr bool has(Guard guard) const noexcept { return (bits_ & bit(guard)) != 0; }
  constexpr bool empty() const noexcept { return bits_ == 0; }
  constexpr void add(Guard guard) noexcept { bits_ |= bit(guard); }
  constexpr void remove(Guard guard) noexcept { bits_ &= ~bit(guard); }
  constexpr GuardSet operator&(GuardSet other) const noexcept {
    return GuardSet(bits_ & other.bits_);
  }
  constexpr bool operator==(const GuardSet&) const = default;
  // Bit i stands for the i-th name; what a file or a wire may keep.
  constexpr std::uint32_t bits() const noexcept { return bits_; }
  // As parse reads it, in the order of kGuardNames; "none" if it is empty.
  std::string names() const;
  std::vector<std::string_view> list() const;

 private:
  explicit constexpr GuardSet(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t bit(Guard guard) noexcept {
    return 1U << static_cast<unsigned>(guard);
  }
  std::uint32_t bits_ = 0;
};

// What is read of a text: so many words of so many bytes. What follows is not compared.
inline constexpr std::size_t kMaxGuardWords = 512;
inline constexpr std::size_t kMaxGuardBytes = 16384;

namespace text {
class GuardTable;
}

// The words of a language: cues of negation, opposites, numbers, units, and the small words that
// carry no thing of their own. A plain text, one rule a line; docs/guards.md has its form. Cheap to
// copy. Thread rule: const calls may run together.
class GuardLanguage {
 public:
  GuardLanguage();  // knows no words: numbers, names and identifiers are all that it sees
  // The language that is built in. Made when first asked for.
  static const GuardLanguage& english();
  // The built-in table as text, to begin one's own with.
  static std::string_view english_table();
  // bad_config: a line that is none of the rules; index and pointer ("/line/12") name it. Linear.
  static Result<GuardLanguage> parse(std::string_view table);

  // A hash of the rules: facts of one language compare with facts of the same.
  std::uint64_t id() const noexcept;
  const text::GuardTable& table() const noexcept { return *table_; }

 private:
  explicit GuardLanguage(std::shared_ptr<const text::GuardTable> table)
      : table_(std::move(table)) {}
  std::shared_ptr<const text::GuardTable> table_;
};

// What the guards know of a text: hashes of its words, its numbers, names and cues. A slot keeps
// these instead of the text. About 8 bytes a word, a number and an opposite, and 16.
class GuardFacts {
 public:
  GuardFacts() = default;  // of nothing: no guard speaks, whatever the other text

  bool empty() const noexcept { return cells_.empty(); }
  // What a file may keep. Another version of this library may read another table into a text: it
  // refuses these cells then, and the facts must be taken anew.
  std::span<const std::uint64_t> cells() const noexcept { return cells_; }
  // bad_snapshot: not what cells() gave, or facts of another version.
  static Result<GuardFacts> from_cells(std::span<const std::uint64_t> cells);
  bool operator==(const GuardFacts&) const = default;

 private:
  friend class GuardFactsAccess;
  std::vector<std::uint64_t> cells_;
};

// Takes the facts of a text: NFC and NFD give the same, letters count alike whatever their case,
// bytes that are not UTF-8 are read as U+FFFD. Linear in what is read. One allocation for ASCII;
// other text is copied first, at most kMaxGuardBytes of it. 45 KiB of stack.
GuardFacts guard_facts(std::string_view text,
                       const GuardLanguage& language = GuardLanguage::english());

// The guards out of `on` that speak against merging two texts. Symmetric; none for a text and
// itself, and none where one of them is empty(). What both texts have in common does not matter:
// the same sentence behind both changes nothing (but for what is not read, and that a text whose
// every word has a capital has no names). Facts of two languages
// cannot be compared: every guard that is on speaks, but for scope, which a text knows nothing of.
// O(n log n) in the words that differ; allocates nothing. 30 KiB of stack.
GuardSet guards_between(const GuardFacts& a, const GuardFacts& b,
                        GuardSet on = GuardSet::all()) noexcept;

// The same from the texts, with what was found: for people.
struct GuardFinding {
  Guard guard = Guard::number;
  std::string a;  // the words at fault of either text; empty: it has none
  std::string b;
};
std::vector<GuardFinding> explain_guards(std::string_view a, std::string_view b,
                                         GuardSet on = GuardSet::all(),
                                         const GuardLanguage& language = GuardLanguage::english());

}  // namespace dpcache

#endif  // DPCACHE_GUARDS_H_
