// What belongs together becomes one; then each word's part in the text is told.
#include "text/guard_read.h"

#include <algorithm>

#include "text/guard_plain.h"
#include "text/guard_scan.h"
#include "text/unicode.h"

namespace dpcache::text {
namespace {

constexpr std::size_t kGap = 4;        // words between a verb and its particle
constexpr std::size_t kCuesApart = 3;  // words; cues that are nearer take each other back

std::uint32_t entry_flags(const GuardToken& token) {
  return token.entry == nullptr ? 0 : token.entry->flags;
}

class Combiner {
 public:
  Combiner(const GuardTable& table, Reading& reading)
      : table_(table), tokens_(reading.tokens), count_(reading.count), reading_(reading) {}

  void combine() {
    for (std::size_t i = 0; i < count_; ++i) phrase(i);
    compact();
    for (std::size_t i = 0; i < count_; ++i) {
      if ((tokens_[i].flags & kNumber) == 0) spelled(i);
      if ((tokens_[i].flags & kNumber) != 0) dimension(i);
    }
    compact();
    for (std::size_t i = 0; i < count_; ++i) {
      calendar(i);
      roman(i);
    }
    cues();
    names();
    verbs();
    reading_.count = count_;
  }

 private:
  bool is(std::size_t i, std::uint32_t flags) const {
    return i < count_ && (tokens_[i].flags & flags) != 0;
  }
  bool known(std::size_t i, std::uint32_t flags) const {
    return i < count_ && (entry_flags(tokens_[i]) & flags) != 0;
  }
  // Whether a comma or the end of a sentence stands in front of token i, or it is none.
  bool parted(std::size_t i) const { return i >= count_ || is(i, kComma | kFirst); }

  void compact() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if ((tokens_[i].flags & kDropped) != 0) continue;
      if (kept != i) tokens_[kept] = tokens_[i];
      ++kept;
    }
    count_ = kept;
  }

  void fuse(std::size_t i, std::size_t last, const Entry& entry) {
    tokens_[i].id = entry.id;
    tokens_[i].entry = &entry;
    tokens_[i].end = tokens_[last].end;
    tokens_[i].flags &= ~(kForm | kCapital | kUpper);
  }

  void phrase(std::size_t i) {
    if (is(i, kDropped) || !known(i, kStarts)) return;
    std::size_t j = i + 1;
    if (j >= count_ || is(j, kDropped)) return;
    const Entry* two = parted(j) ? nullptr : table_.find_id(joined(tokens_[i].id, tokens_[j].id));
    if (two != nullptr && (two->flags & kStarts) != 0 && !parted(j + 1)) {
      const Entry* three = table_.find_id(joined(two->key, tokens_[j + 1].id));
      if (three != nullptr && (three->flags & kKnown) != 0) {
        fuse(i, j + 1, *three);
        tokens_[j].flags |= kDropped;
        tokens_[j + 1].flags |= kDropped;
        return;
      }
    }
    if (two != nullptr && (two->flags & kKnown) != 0) {
      fuse(i, j, *two);
      tokens_[j].flags |= kDropped;
      return;
    }
    if (is(j, kFirst)) return;
    for (++j; j <= i + 1 + kGap && !is(j, kFirst); ++j) {
      // Not a preposition: put milk on my list.
      if (!known(j, kParticle) || is(j, kDropped)) continue;
      if (!parted(j + 1) && (!known(j + 1, kFunction) || known(j + 1, kArticle))) continue;
      const Entry* apart = table_.find_id(joined(tokens_[i].id, tokens_[j].id));
      if (apart == nullptr || (apart->flags & kKnown) == 0) continue;
      const std::uint32_t end = tokens_[i].end;
      fuse(i, j, *apart);
      tokens_[i].end = end;
      tokens_[j].flags |= kDropped;
      return;
    }
  }

  // A number in words that begins at i.
  void spelled(std::size_t i) {
    if (is(i, kDropped) || !known(i, kValue | kScale)) return;
    std::uint64_t total = 0;
    std::uint64_t current = 0;
    std::size_t last = i;
    bool guess = true;
    bool tens = false;    // a value from 20 to 90 stands last
    bool scaled = false;  // hundred or more stands last
    bool begun = false;
    for (std::size_t j = i; j < count_; ++j) {
      if (j > i && is(j, kComma | kFirst)) break;
      const Entry* entry = tokens_[j].entry;
      if (entry == nullptr) break;
      if ((entry->flags & kValue) != 0) {
        if (begun && !scaled && !(tens && entry->value > 0 && entry->value < 10)) break;
        current += entry->value;
        guess = guess && (entry->flags & kPerhaps) != 0;
        tens = entry->value >= 20 && entry->value < 100 && entry->value % 10 == 0;
        scaled = false;
      } else if ((entry->flags & kScale) != 0) {
        if (entry->value > 12 || total + current > 1000000) break;
        std::uint64_t scale = 1;
        for (std::uint32_t n = 0; n < entry->value; ++n) scale *= 10;
        if (scale == 100) {
          current = std::max<std::uint64_t>(current, 1) * scale;
        } else {
          total += std::max<std::uint64_t>(current, 1) * scale;
          current = 0;
        }
        guess = false;
        scaled = true;
        tens = false;
      } else if (scaled && (entry->flags & kSymmetric) != 0 && known(j + 1, kValue)) {
        continue;  // two hundred and five
      } else {
        break;
      }
      begun = true;
      last = j;
    }
    GuardToken& token = tokens_[i];
    token.flags |= kNumber;
    if (guess) token.flags |= kGuess;
    token.flags &= ~kBelow;
    set_value(token, total + current);
    token.end = tokens_[last].end;
    for (std::size_t j = i + 1; j <= last; ++j) tokens_[j].flags |= kDropped;
  }

  // A number's scale and unit: those behind it, or a currency in front.
  void dimension(std::size_t i) {
    GuardToken& token = tokens_[i];
    if (is(i, kDropped)) return;
    std::size_t next = i + 1;
    while (next < count_ && is(next, kDropped)) ++next;
    if (is(i, kDigits) && known(next, kScale) && !is(next, kComma | kFirst)) {
      token.exponent =
          static_cast<std::int16_t>(token.exponent + static_cast<int>(tokens_[next].entry->value));
      token.value = kNoValue;
      token.end = tokens_[next].end;
      tokens_[next++].flags |= kDropped;
    }
    if (token.unit != 0) return;
    // Ordinals and single words have no unit: one second is, the second is not.
    if (known(next, kUnit) && !is(next, kComma | kFirst) && (!is(i, kGuess) || known(i, kValue))) {
      take_unit(i, next);
      token.end = tokens_[next].end;
      return;
    }
    if (i > 0 && known(i - 1, kUnit) && !is(i - 1, kTied | kNumber) &&
        (is(i, kGlued) || tokens_[i - 1].end - tokens_[i - 1].begin <= 3) &&
        tokens_[i - 1].entry->exponent == 0) {
      take_unit(i, i - 1);
      token.begin = tokens_[i - 1].begin;
    }
  }

  void take_unit(std::size_t i, std::size_t from) {
    GuardToken& unit = tokens_[from];
    if (unit.entry->unit == kUnitAm || unit.entry->unit == kUnitPm) {
      // Of the hour, not of the minutes behind it.
      while (i > 0 && is(i, kForm) && is(i - 1, kForm) &&
             tokens_[i - 1].begin == tokens_[i].begin) {
        --i;
      }
    } else {
      tokens_[i].exponent = static_cast<std::int16_t>(tokens_[i].exponent + unit.entry->exponent);
    }
    tokens_[i].unit = unit.entry->unit;
    unit.flags |= kTied;
    unit.id = joined(hash_of("unit"), std::uint64_t{unit.entry->unit} * 64 + 32 +
                                          static_cast<std::uint64_t>(unit.entry->exponent));
  }

  // Days and months as numbers.
  void calendar(std::size_t i) {
    const std::uint32_t flags = entry_flags(tokens_[i]);
    if ((flags & (kDay | kMonth)) == 0 || is(i, kNumber)) return;
    if ((flags & kMaybe) != 0 && !is(i + 1, kDigits) && !(i > 0 && is(i - 1, kNumber))) return;
    GuardToken& token = tokens_[i];
    if ((flags & kDay) != 0) {
      token.digits = mix64(hash_of("day") + token.entry->value);
      token.unit = kUnitDay;
    } else {
      set_value(token, token.entry->value);
      token.unit = kUnitMonth;
    }
    token.flags |= kNumber | kForm;
  }

  // World War II: capitals that are digits of Rome, behind a name.
  void roman(std::size_t i) {
    GuardToken& token = tokens_[i];
    const std::size_t size = token.end - token.begin;
    if (i == 0 || size > 5 || is(i, kFirst | kNumber) || !is(i, kCapital) ||
        (size > 1 && !is(i, kUpper)) || !is(i - 1, kCapital) || known(i - 1, kFunction)) {
      return;
    }
    std::uint32_t value = 0;
    std::uint32_t before = 0;
    for (std::size_t at = token.end; at > token.begin; --at) {
      const char c = reading_.text[at - 1];
      const std::uint32_t digit = c == 'I' ? 1 : c == 'V' ? 5 : c == 'X' ? 10 : 0;
      if (digit == 0) return;
      value = digit < before ? value - digit : value + digit;
      before = std::max(before, digit);
    }
    // X and V are names too, and I is mostly nobody's number: I am, I was.
    if (size == 1 && (reading_.text[token.begin] != 'I' || known(i + 1, kFunction))) return;
    set_value(token, value);
    token.flags |= kNumber;
    token.entry = nullptr;
  }

  void cues() {
    std::size_t before = count_;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::uint32_t flags = entry_flags(tokens_[i]);
      if ((flags & kSoft) != 0) tokens_[i].flags |= kYields;
      const bool ceases = (flags & kCeasing) != 0 && is(i + 1, kForm) && !parted(i + 1);
      if (((flags & kCue) == 0 && !ceases) || (flags & kPlain) != 0) continue;
      // No, it is: an answer, not a cue.
      if ((flags & kAnswer) != 0 && parted(i + 1)) continue;
      // ..., isn't it?
      if (i > 0 && is(i - 1, kComma) && known(i - 1, kFunction) && known(i + 1, kFunction) &&
          (i + 2 == count_ || is(i + 2, kFirst))) {
        continue;
      }
      tokens_[i].flags |= kDenies;
      // What has an opposite (unlikely) is weighed against that.
      if (tokens_[i].entry->pole_count > 0) continue;
      bool joined_to =
          before < i && i - before <= kCuesApart && tokens_[before].id != tokens_[i].id;
      for (std::size_t j = before + 1; joined_to && j <= i; ++j) {
        joined_to = !is(j, kComma | kFirst) && !known(j, kSymmetric);
      }
      if (joined_to) {
        tokens_[before].flags &= ~kDenies;
        tokens_[i].flags &= ~kDenies;
        before = count_;
      } else {
        before = i;
      }
    }
  }

  // Where each word has a capital, capitals make no names.
  void names() {
    std::size_t words = 0;
    std::size_t capitals = 0;
    std::size_t upper = 0;
    bool heading = false;  // How To Do It
    for (std::size_t i = 0; i < count_; ++i) {
      if (is(i, kFirst)) continue;
      if (!is_thing(i)) {
        heading = heading || (is(i, kCapital) && tokens_[i].end - tokens_[i].begin > 1);
        continue;
      }
      ++words;
      if (is(i, kCapital)) ++capitals;
      if (is(i, kUpper)) ++upper;
    }
    const bool title = (words > 2 || heading) && capitals == words;
    const bool loud = words > 1 && upper == words;
    for (std::size_t i = 0; i < count_; ++i) {
      if (!is_thing(i)) continue;
      if (is(i, kQuoted) || (!title && is(i, kCapital) && !is(i, kFirst)) ||
          (!loud && is(i, kUpper) && tokens_[i].end - tokens_[i].begin > 1)) {
        tokens_[i].flags |= kName;
      }
    }
  }

  // Whether the word stands for something.
  bool is_thing(std::size_t i) const {
    if (is(i, kNumber | kTied | kCode | kWeak)) return false;
    if (known(i, kFunction | kCue)) {
      // company A
      return is(i, kUpper) && tokens_[i].end - tokens_[i].begin == 1 && !is(i, kFirst);
    }
    return true;
  }

  // After I, to, please and the like; at the beginning in front of the, my, 5.
  void verbs() {
    for (std::size_t i = 0; i < count_; ++i) {
      if (known(i, kFunction)) continue;
      const bool begins = i == 0 || is(i, kFirst);
      const bool object = known(i + 1, kArticle) && !is(i + 1, kComma | kFirst);
      // The shop sells the ...
      const bool predicate = object && !begins && !known(i - 1, kFunction) && !is(i - 1, kNumber);
      if (begins ? object || is(i + 1, kNumber) : predicate || known(i - 1, kSubject)) {
        tokens_[i].flags |= kVerb;
      }
    }
  }

  const GuardTable& table_;
  std::array<GuardToken, kMaxGuardWords>& tokens_;
  std::size_t count_;
  Reading& reading_;
};

}  // namespace

void set_value(GuardToken& token, std::uint64_t value) noexcept {
  char figures[20];
  std::size_t size = 0;
  std::int16_t zeros = 0;
  token.value = value < kNoValue ? static_cast<std::uint32_t>(value) : kNoValue;
  while (value > 0 && value % 10 == 0) {
    value /= 10;
    ++zeros;
  }
  for (; value > 0; value /= 10) figures[size++] = static_cast<char>('0' + value % 10);
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  while (size > 0) hash = (hash ^ static_cast<unsigned char>(figures[--size])) * 0x100000001B3ULL;
  token.digits = mix64(hash);
  token.exponent = zeros;
}

void read_guarded(std::string_view text, const GuardTable& table, Reading& reading) {
  text = beginning(text, kMaxGuardBytes);
  reading.count = 0;
  if (is_ascii(text)) {
    reading.text = text;
  } else {
    reading.own = plain_form(text);
    reading.text = reading.own;
  }
  GuardScanner(table, reading).scan();
  Combiner(table, reading).combine();
}

}  // namespace dpcache::text
