// Two texts' facts against each other. What both have at the beginning and at the end is left
// aside; of the rest each guard looks at the words that only one of them has (extra).
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "numerics.h"
#include "text/guard_cells.h"

namespace dpcache::text {
namespace {

// More words than this replaced are another way to say it, not another thing.
constexpr std::size_t kMostReplaced = 4;
constexpr std::uint64_t kIndexBits = kWordBits;
constexpr std::uint64_t kIndexMask = (1U << kIndexBits) - 1;
constexpr std::uint64_t kEdge = 1;  // the hash of what stands before the first and behind the last

constexpr std::uint8_t kExtra = 1;
constexpr std::uint8_t kLone = 2;      // once in the middle of each text
constexpr std::uint8_t kOpposed = 4;   // has an opposite among the other's extra words
constexpr std::uint8_t kStrictly = 8;  // one that a negation does not take back
constexpr std::uint8_t kAgreed = 16;   // has one of its own side among the other's extra words

struct Side {
  Cells cells;
  std::size_t begin = 0;  // the middle: what differs
  std::size_t end = 0;
  std::size_t sorted_count = 0;
  std::array<std::uint8_t, kMaxGuardWords> marks;    // of the words in the middle
  std::array<std::uint16_t, kMaxGuardWords> twin;    // of a lone word: its place in the other text
  std::array<std::uint64_t, kMaxGuardWords> sorted;  // hashes in the middle, with their index
  std::array<std::uint64_t, kMaxPoles> poles;        // of extra words, by key

  bool is(std::size_t i, std::uint64_t flags) const { return (cells.words[i] & flags) != 0; }
  bool marked(std::size_t i, std::uint8_t mark) const {
    return i >= begin && i < end && (marks[i] & mark) != 0;
  }
  std::uint64_t hash(std::size_t i) const { return word_hash(cells.words[i]); }
  std::size_t size() const { return cells.words.size(); }
  // Stands for a thing, an act or a quality.
  bool content(std::size_t i) const {
    return !is(i, kInFunction | kInNumber | kInDenial | kInCode | kInWeak);
  }
};

class Comparison {
 public:
  Comparison(GuardSet on, FindingSink* sink) : on_(on), sink_(sink) {}

  GuardSet run(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
    a_.cells = open_cells(a);
    b_.cells = open_cells(b);
    if (a_.cells.language != b_.cells.language) {
      on_.remove(Guard::scope);
      return on_;
    }
    if (on_.has(Guard::number)) numbers();
    trim();
    if (a_.begin == a_.end && b_.begin == b_.end) return found_;
    extras();
    reworded_ = others(a_) > kMostReplaced && others(b_) > kMostReplaced;
    if (on_.has(Guard::antonym) || on_.has(Guard::negation) || on_.has(Guard::replaced)) {
      opposites(a_, b_);
      opposites(b_, a_);
    }
    if (on_.has(Guard::antonym) || on_.has(Guard::negation)) denials();
    if (on_.has(Guard::identifier)) identifiers();
    if (on_.has(Guard::entity)) entities();
    if (on_.has(Guard::replaced)) replacements();
    if (on_.has(Guard::order)) order();
    return found_;
  }

 private:
  void speak(Guard guard, std::size_t a, std::size_t b) {
    if (!on_.has(guard)) return;
    found_.add(guard);
    if (sink_ != nullptr) sink_->found({guard, a, b});
  }
  // With the words of `one` and `other`, whichever of them is the first text.
  void speak(Guard guard, const Side& one, std::size_t own, std::size_t others) {
    if (&one == &a_) {
      speak(guard, own, others);
    } else {
      speak(guard, others, own);
    }
  }

  // --- Numbers: the same values, and units that do not contradict each other

  struct Left {  // what has no partner
    std::size_t sure = 0;
    std::size_t guesses = 0;
    std::size_t word = kNoWord;
    void add(std::uint64_t number) {
      (number_guess(number) ? guesses : sure) += 1;
      if (word == kNoWord || !number_guess(number)) word = number_word(number);
    }
  };

  void numbers() {
    const std::span<const std::uint64_t> x = a_.cells.numbers;
    const std::span<const std::uint64_t> y = b_.cells.numbers;
    if (x.empty() && y.empty()) return;
    std::copy(x.begin(), x.end(), a_.sorted.begin());
    std::copy(y.begin(), y.end(), b_.sorted.begin());
    // By value, then unit.
    std::sort(a_.sorted.begin(), a_.sorted.begin() + static_cast<std::ptrdiff_t>(x.size()));
    std::sort(b_.sorted.begin(), b_.sorted.begin() + static_cast<std::ptrdiff_t>(y.size()));
    Left left_a;
    Left left_b;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < x.size() || j < y.size()) {
      const std::uint64_t none = ~std::uint64_t{0};
      const std::uint64_t value = std::min(i < x.size() ? number_value(a_.sorted[i]) : none,
                                           j < y.size() ? number_value(b_.sorted[j]) : none);
      const std::size_t from_i = i;
      const std::size_t from_j = j;
      while (i < x.size() && number_value(a_.sorted[i]) == value) ++i;
      while (j < y.size() && number_value(b_.sorted[j]) == value) ++j;
      units({a_.sorted.data() + from_i, i - from_i}, {b_.sorted.data() + from_j, j - from_j},
            left_a, left_b);
    }
    const bool sure = left_a.sure + left_b.sure > 0;
    if (sure || (left_a.guesses > 0 && left_b.guesses > 0)) {
      speak(Guard::number, left_a.word, left_b.word);
    }
  }

  // Numbers of one value, sorted by unit: those with no unit go with any.
  static void units(std::span<const std::uint64_t> x, std::span<const std::uint64_t> y,
                    Left& left_x, Left& left_y) {
    std::size_t bare_x = 0;
    std::size_t bare_y = 0;
    while (bare_x < x.size() && number_unit(x[bare_x]) == 0) ++bare_x;
    while (bare_y < y.size() && number_unit(y[bare_y]) == 0) ++bare_y;
    const std::size_t both = std::min(bare_x, bare_y);
    std::size_t free_x = bare_x - both;
    std::size_t free_y = bare_y - both;
    std::size_t i = bare_x;
    std::size_t j = bare_y;
    while (i < x.size() || j < y.size()) {
      const unsigned unit_x = i < x.size() ? number_unit(x[i]) : ~0U;
      const unsigned unit_y = j < y.size() ? number_unit(y[j]) : ~0U;
      if (unit_x == unit_y) {
        ++i;
        ++j;
      } else if (unit_x < unit_y) {
        if (free_y > 0) {
          --free_y;
        } else {
          left_x.add(x[i]);
        }
        ++i;
      } else {
        if (free_x > 0) {
          --free_x;
        } else {
          left_y.add(y[j]);
        }
        ++j;
      }
    }
    for (; free_x > 0; --free_x) left_x.add(x[bare_x - free_x]);
    for (; free_y > 0; --free_y) left_y.add(y[bare_y - free_y]);
  }

  // --- What differs

  void trim() {
    const std::size_t most = std::min(a_.size(), b_.size());
    std::size_t head = 0;
    while (head < most && a_.hash(head) == b_.hash(head)) ++head;
    std::size_t tail = 0;
    while (tail < most - head && a_.hash(a_.size() - 1 - tail) == b_.hash(b_.size() - 1 - tail)) {
      ++tail;
    }
    a_.begin = b_.begin = head;
    a_.end = a_.size() - tail;
    b_.end = b_.size() - tail;
  }

  static void sort_middle(Side& side) {
    side.sorted_count = side.end - side.begin;
    for (std::size_t i = side.begin; i < side.end; ++i) {
      side.marks[i] = 0;
      side.sorted[i - side.begin] = side.hash(i) << kIndexBits | i;
    }
    std::sort(side.sorted.begin(),
              side.sorted.begin() + static_cast<std::ptrdiff_t>(side.sorted_count));
  }

  void extras() {
    sort_middle(a_);
    sort_middle(b_);
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a_.sorted_count || j < b_.sorted_count) {
      const std::uint64_t none = ~std::uint64_t{0};
      const std::uint64_t x = i < a_.sorted_count ? a_.sorted[i] >> kIndexBits : none;
      const std::uint64_t y = j < b_.sorted_count ? b_.sorted[j] >> kIndexBits : none;
      const std::uint64_t hash = std::min(x, y);
      const std::size_t from_i = i;
      const std::size_t from_j = j;
      while (i < a_.sorted_count && a_.sorted[i] >> kIndexBits == hash) ++i;
      while (j < b_.sorted_count && b_.sorted[j] >> kIndexBits == hash) ++j;
      const std::size_t both = std::min(i - from_i, j - from_j);
      for (std::size_t k = from_i + both; k < i; ++k) a_.marks[index(a_, k)] = kExtra;
      for (std::size_t k = from_j + both; k < j; ++k) b_.marks[index(b_, k)] = kExtra;
      if (i - from_i == 1 && j - from_j == 1) {
        const std::size_t here = index(a_, from_i);
        const std::size_t there = index(b_, from_j);
        a_.marks[here] = b_.marks[there] = kLone;
        a_.twin[here] = static_cast<std::uint16_t>(there);
        b_.twin[there] = static_cast<std::uint16_t>(here);
      }
    }
  }

  // Extra words that stand for something.
  static std::size_t others(const Side& side) {
    std::size_t count = 0;
    for (std::size_t i = side.begin; i < side.end; ++i) {
      if (side.marked(i, kExtra) && side.content(i)) ++count;
    }
    return count;
  }

  static std::size_t index(const Side& side, std::size_t sorted) {
    return static_cast<std::size_t>(side.sorted[sorted] & kIndexMask);
  }

  // --- Opposites: marks the extra words of `side` that stand against one of `other`

  // In another wording small words (to, from, most) stand for nothing.
  std::size_t extra_poles(Side& side) const {
    std::size_t count = 0;
    for (const std::uint64_t pole : side.cells.poles) {
      const std::size_t word = pole_word(pole);
      if (!side.marked(word, kExtra) || (reworded_ && side.is(word, kInFunction))) continue;
      side.poles[count++] = pole;
    }
    std::sort(side.poles.begin(), side.poles.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }

  void opposites(Side& side, Side& other) {
    if (side.cells.poles.empty()) return;
    const std::size_t count = extra_poles(side);
    const std::size_t others = extra_poles(other);
    std::size_t j = 0;
    for (std::size_t i = 0; i < count;) {
      const std::uint64_t key = pole_key(side.poles[i]);
      while (j < others && pole_key(other.poles[j]) < key) ++j;
      std::uint64_t groups = 0;  // that the other text has
      for (std::size_t k = j; k < others && pole_key(other.poles[k]) == key; ++k) {
        if (pole_groups(other.poles[k]) != 0) {
          groups |= std::uint64_t{1} << pole_group(other.poles[k]);
        }
      }
      for (; i < count && pole_key(side.poles[i]) == key; ++i) {
        const std::uint64_t pole = side.poles[i];
        const std::size_t word = pole_word(pole);
        if (pole_groups(pole) == 0) {
          denied(side, word, key, other);
          continue;
        }
        const std::uint64_t own = std::uint64_t{1} << pole_group(pole);
        if ((groups & ~own) != 0) mark(side, word, pole_groups(pole) == 2 ? kOpposed : kStrictly);
        if ((groups & own) != 0) mark(side, word, kAgreed);
      }
    }
  }

  // The word denies another by its form; marks both if the other text has that.
  void denied(Side& side, std::size_t word, std::uint64_t key, Side& other) {
    const std::uint64_t* const end = other.sorted.data() + other.sorted_count;
    const std::uint64_t* at = std::lower_bound(
        static_cast<const std::uint64_t*>(other.sorted.data()), end, key,
        [](std::uint64_t one, std::uint64_t wanted) { return key_of_word(one) < wanted; });
    for (; at != end && key_of_word(*at) == key; ++at) {
      const auto found = static_cast<std::size_t>(*at & kIndexMask);
      if (!other.marked(found, kExtra)) continue;
      mark(side, word, kOpposed);
      mark(other, found, kOpposed);
      return;
    }
  }

  static void mark(Side& side, std::size_t word, std::uint8_t with) {
    if (with == kStrictly) with = kOpposed | kStrictly;
    side.marks[word] = static_cast<std::uint8_t>(side.marks[word] | with);
  }

  // --- Negation: as many denials on both sides, or an opposite for each that is missing

  struct Count {
    std::size_t denials = 0;
    std::size_t soft = 0;
    std::size_t opposed = 0;
    std::size_t limits = 0;
    std::size_t denial = kNoWord;  // the first word of each
    std::size_t opposite = kNoWord;
    bool strict = false;
  };

  static Count count(const Side& side) {
    Count count;
    for (std::size_t i = 0; i < side.size(); ++i) {
      if (side.marked(i, kOpposed)) {
        ++count.opposed;
        count.strict = count.strict || side.marked(i, kStrictly);
        if (count.opposite == kNoWord) count.opposite = i;
      } else if (side.is(i, kInLimit)) {
        ++count.limits;
        if (count.denial == kNoWord) count.denial = i;
      } else if (side.is(i, kInDenial)) {
        if (side.marked(i, kAgreed)) continue;
        ++count.denials;
        if (count.denial == kNoWord ||
            (side.marked(i, kExtra) && !side.marked(count.denial, kExtra))) {
          count.denial = i;
        }
      } else if (side.is(i, kInSoft) && side.marked(i, kExtra)) {
        ++count.soft;
      }
    }
    return count;
  }

  void denials() {
    const Count x = count(a_);
    const Count y = count(b_);
    const std::size_t more = std::max(x.denials, y.denials) - std::min(x.denials, y.denials);
    const std::size_t opposed = std::min(x.opposed, y.opposed);
    const bool strict = x.strict || y.strict;
    if (opposed > 0 && (strict || more != opposed)) {
      speak(Guard::antonym, x.opposite, y.opposite);
    }
    if (x.limits != y.limits) {
      const bool mine = x.limits > y.limits;
      speak(Guard::negation, mine ? x.denial : kNoWord, mine ? kNoWord : y.denial);
    }
    if (more == 0 && x.denials > 0) moved_denials();
    if (more == 0 || (opposed > 0 && more == opposed && !strict)) return;
    const std::size_t soft = x.denials > y.denials ? y.soft : x.soft;
    if (soft >= more) return;
    const bool first = x.denials > y.denials;
    speak(Guard::negation, first ? x.denial : kNoWord, first ? kNoWord : y.denial);
  }

  // Whether the other text has the word too.
  static bool shared(const Side& side, std::size_t i) {
    return i < side.begin || i >= side.end || side.marked(i, kLone);
  }

  // What a denial is of: the next word that stands for something.
  static std::size_t denied_by(const Side& side, std::size_t i) {
    while (++i < side.size() && !side.is(i, kInFirst)) {
      if (side.content(i) || side.is(i, kInNumber)) return i;
    }
    return kNoWord;
  }

  // Not on Friday but on Saturday, on Friday and not on Saturday: the same words, another denied.
  void moved_denials() {
    for (std::size_t i = a_.begin; i < a_.end; ++i) {
      if (!a_.marked(i, kLone) || !a_.is(i, kInDenial)) continue;
      const std::size_t x = denied_by(a_, i);
      const std::size_t y = denied_by(b_, a_.twin[i]);
      if (x == kNoWord || y == kNoWord || a_.hash(x) == b_.hash(y)) continue;
      if (shared(a_, x) && shared(b_, y)) {
        speak(Guard::negation, x, y);
        return;
      }
    }
  }

  // --- Names

  static std::size_t first_extra(const Side& side, std::uint64_t flags) {
    for (std::size_t i = side.begin; i < side.end; ++i) {
      if (side.marked(i, kExtra) && side.is(i, flags)) return i;
    }
    return kNoWord;
  }

  void identifiers() {
    const std::size_t code_a = first_extra(a_, kInCode);
    const std::size_t code_b = first_extra(b_, kInCode);
    const std::size_t any_a = first_extra(a_, kInCode | kInWeak);
    const std::size_t any_b = first_extra(b_, kInCode | kInWeak);
    if (code_a != kNoWord || code_b != kNoWord || (any_a != kNoWord && any_b != kNoWord)) {
      speak(Guard::identifier, code_a == kNoWord ? any_a : code_a,
            code_b == kNoWord ? any_b : code_b);
    }
  }

  // Whether extra words of `other` that follow each other begin with the letters of the word: USA,
  // United States of America.
  static bool spelled_out(std::uint64_t word, const Side& other) {
    for (std::size_t i = other.begin; i < other.end; ++i) {
      std::uint64_t hash = 0xCBF29CE484222325ULL;
      std::size_t letters = 0;
      for (std::size_t j = i; j < other.end && letters < 6; ++j) {
        if (other.is(j, kInFunction) && letters > 0) continue;
        const char letter = word_letter(other.cells.words[j]);
        if (letter == 0) break;
        hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
        if (++letters < 2) continue;
        if ((mix64(hash) | 1U) >> kWordBits == word_hash(word)) return true;
      }
    }
    return false;
  }

  static std::size_t first_name(const Side& side, const Side& other) {
    std::size_t looked = 0;
    for (std::size_t i = side.begin; i < side.end; ++i) {
      if (!side.marked(i, kExtra) || !side.is(i, kInName | kInWeak)) continue;
      // Few are looked at, so that the time stays linear.
      if (side.is(i, kInUpper) && looked++ < 4 && spelled_out(side.cells.words[i], other)) continue;
      return i;
    }
    return kNoWord;
  }

  void entities() {
    const std::size_t x = first_name(a_, b_);
    const std::size_t y = first_name(b_, a_);
    if (x == kNoWord || y == kNoWord) return;
    // iPhone and Pixel; two code names are for identifier.
    if (a_.is(x, kInWeak) && b_.is(y, kInWeak)) return;
    speak(Guard::entity, x, y);
  }

  // --- Frames: what stands around a word

  // The word before i or behind it that is no article. kNoWord: there is none.
  static std::size_t beside(const Side& side, std::size_t i, int step) {
    while (true) {
      if (step < 0 ? i == 0 : i + 1 >= side.size()) return kNoWord;
      i = step < 0 ? i - 1 : i + 1;
      if (!side.is(i, kInArticle)) return i;
    }
  }
  // The same, past the other words of a thing that has been replaced.
  static std::size_t around(const Side& side, std::size_t i, int step) {
    do {
      i = beside(side, i, step);
    } while (i != kNoWord && side.marked(i, kExtra) && side.content(i));
    return i;
  }
  static std::uint64_t hash_beside(const Side& side, std::size_t i) {
    return i == kNoWord ? kEdge : side.hash(i);
  }

  struct Framed {
    std::size_t word = 0;
    std::uint64_t before = 0;
    std::uint64_t behind = 0;
    bool met = false;
  };
  struct Frames {
    std::array<Framed, kMostReplaced> all;
    std::size_t count = 0;
    std::size_t others = 0;  // extra words that carry no thing
    bool many = false;
    // Extra words that have no partner.
    std::size_t open() const {
      return others + static_cast<std::size_t>(std::count_if(
                          all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count),
                          [](const Framed& one) { return !one.met; }));
    }
  };

  static void frames(const Side& side, Frames& frames) {
    for (std::size_t i = side.begin; i < side.end; ++i) {
      if (!side.marked(i, kExtra)) continue;
      if (!side.content(i)) {
        if (!side.is(i, kInArticle | kInNumber | kInTied)) ++frames.others;
        continue;
      }
      if (frames.count == kMostReplaced) {
        frames.many = true;
        return;
      }
      frames.all[frames.count++] = {i, hash_beside(side, around(side, i, -1)),
                                    hash_beside(side, around(side, i, 1)), false};
    }
  }

  // Whether two words stand on one side of some pair of opposites: big and large.
  bool alike(std::size_t x, std::size_t y) const {
    for (const std::uint64_t p : a_.cells.poles) {
      if (pole_word(p) != x || pole_groups(p) == 0) continue;
      for (const std::uint64_t q : b_.cells.poles) {
        if (pole_word(q) == y && pole_key(p) == pole_key(q) && pole_group(p) == pole_group(q) &&
            pole_groups(q) != 0) {
          return true;
        }
      }
    }
    return false;
  }

  static bool after_article(const Side& side, std::size_t i) {
    return i > 0 && side.is(i - 1, kInArticle);
  }

  // Acts have too many names for their difference to mean anything.
  bool acts(std::size_t x, std::size_t y) const {
    if (after_article(a_, x) || after_article(b_, y)) return false;
    return (a_.is(x, kInVerb) && b_.is(y, kInVerb)) || (a_.is(x, kInForm) && b_.is(y, kInForm));
  }

  void replacements() {
    Frames x;
    Frames y;
    frames(a_, x);
    frames(b_, y);
    if (x.many || y.many || x.count == 0 || y.count == 0) return;
    std::size_t hit_a = kNoWord;
    std::size_t hit_b = kNoWord;
    for (std::size_t i = 0; i < x.count; ++i) {
      for (std::size_t j = 0; j < y.count; ++j) {
        Framed& one = x.all[i];
        Framed& other = y.all[j];
        if (other.met || one.before != other.before || one.behind != other.behind) continue;
        one.met = other.met = true;
        const bool names = a_.is(one.word, kInName) && b_.is(other.word, kInName);
        const bool opposed = a_.marked(one.word, kOpposed) || b_.marked(other.word, kOpposed);
        if (!names && !opposed && !acts(one.word, other.word) && !alike(one.word, other.word) &&
            hit_a == kNoWord) {
          hit_a = one.word;
          hit_b = other.word;
        }
        break;
      }
    }
    // Words elsewhere that differ on both sides are another way to say it.
    if (hit_a != kNoWord && std::min(x.open(), y.open()) == 0) {
      speak(Guard::replaced, hit_a, hit_b);
    }
  }

  // --- Order: two words have changed places if each stands behind what the other stood behind, or
  // in front of it

  // The place in B of the word at i of A (kNoWord: the edge).
  std::size_t twin(std::size_t i) const {
    if (i == kNoWord) return kNoWord;
    if (i < a_.begin) return i;
    if (i >= a_.end) return i - a_.end + b_.end;
    return a_.twin[i];
  }
  bool has_twin(std::size_t i) const {
    return i == kNoWord || i < a_.begin || i >= a_.end || a_.marked(i, kLone);
  }

  static bool in_list(const Side& side, std::size_t i) {
    return i != kNoWord && side.is(i, kInSymmetric);
  }

  bool changed_places(std::size_t i, int step) {
    const std::size_t j = a_.twin[i];
    const std::size_t before = beside(a_, i, step);
    const std::size_t other = beside(b_, j, step);
    if (hash_beside(a_, before) == hash_beside(b_, other)) return false;
    if (!has_twin(before) || in_list(a_, before) || in_list(b_, other)) return false;
    // Who stands there in B?
    const std::size_t place = twin(before);
    std::size_t y = kNoWord;
    if (place == kNoWord) {
      const std::size_t edge = step < 0 ? 0 : b_.size() - 1;
      y = b_.is(edge, kInArticle) ? beside(b_, edge, -step) : edge;
    } else {
      y = beside(b_, place, -step);
    }
    if (y == kNoWord || y == j || !b_.marked(y, kLone) || !movable(b_, y)) return false;
    const std::size_t x = b_.twin[y];
    const std::size_t left = beside(a_, x, step);
    if (hash_beside(a_, left) != hash_beside(b_, other) || in_list(a_, left)) return false;
    // Lists may be in any order.
    if (comma(a_, i, step) || comma(a_, x, step) || comma(b_, j, step) || comma(b_, y, step)) {
      return false;
    }
    speak(Guard::order, i, j);
    return true;
  }

  static bool digits(const Side& side, std::size_t i) {
    return side.is(i, kInNumber) && !side.is(i, kInForm) && word_letter(side.cells.words[i]) == 0;
  }
  // The parts of a date may stand in any order.
  static bool movable(const Side& side, std::size_t i) {
    if (side.is(i, kInNumber)) return !side.is(i, kInForm);
    return side.content(i) || side.is(i, kInCode | kInWeak);
  }
  static bool comma(const Side& side, std::size_t i, int step) {
    const std::size_t at = step < 0 ? i : i + 1;
    return at < side.size() && at > 0 && side.is(at, kInComma);
  }

  void order() {
    for (std::size_t i = a_.begin; i < a_.end; ++i) {
      if (!a_.marked(i, kLone) || !movable(a_, i)) continue;
      if (changed_places(i, -1) || changed_places(i, 1)) return;
      // 3/5 and 5/3
      if (i + 1 < a_.end && digits(a_, i) && digits(a_, i + 1) && a_.marked(i + 1, kLone) &&
          a_.twin[i + 1] + 1U == a_.twin[i] && digits(b_, a_.twin[i]) &&
          digits(b_, a_.twin[i + 1])) {
        speak(Guard::order, i, a_.twin[i]);
        return;
      }
    }
  }

  Side a_;
  Side b_;
  GuardSet on_;
  GuardSet found_;
  FindingSink* sink_;
  bool reworded_ = false;  // most words differ on both sides
};

}  // namespace

GuardSet compare_cells(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                       GuardSet on, FindingSink* sink) noexcept {
  return Comparison(on, sink).run(a, b);
}

}  // namespace dpcache::text
