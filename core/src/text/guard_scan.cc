// The characters of a text, one after the other, looked at a bounded number of times.
#include "text/guard_scan.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "text/mask_reader.h"
#include "text/unicode.h"
#include "utf8.h"

namespace dpcache::text {
namespace {

constexpr std::size_t kMaxQuoted = 6;   // words of a quoted name
constexpr std::size_t kMaxCode = 1024;  // bytes of an identifier; the rest is another one
constexpr std::size_t kLeastHex = 7;    // of a hash, as git shortens it
constexpr std::size_t kMostExact = 9;   // digits of a number whose value is kept
constexpr std::string_view kEnds = " \t\n\v\f\r()[]{}<>\",;`|!?=*&^";

constexpr std::array<bool, 256> make_ends() {
  std::array<bool, 256> table{};
  for (const char c : kEnds) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr std::array<bool, 256> kEndsPiece = make_ends();

constexpr bool is_digit(unsigned char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_upper(unsigned char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_letter(unsigned char c) {
  return (c | 0x20U) >= 'a' && (c | 0x20U) <= 'z';
}
// What is not ASCII is a letter: plain_form has left nothing else.
constexpr bool in_word(unsigned char c) {
  return is_letter(c) || c >= 0x80;
}
constexpr char small(unsigned char c) {
  return static_cast<char>(is_upper(c) ? c | 0x20U : c);
}
bool is_blank(unsigned char c) {
  return (kByteClasses[c] & kBlank) != 0;
}

}  // namespace

GuardToken* GuardScanner::put(std::size_t begin, std::size_t end) {
  if (reading_.count == kMaxGuardWords) return nullptr;
  GuardToken& token = reading_.tokens[reading_.count++];
  token = {0,
           0,
           nullptr,
           static_cast<std::uint32_t>(begin),
           static_cast<std::uint32_t>(end),
           pending_,
           0,
           0,
           kNoValue,
           0};
  pending_ = kGlued;
  return &token;
}

GuardToken* GuardScanner::last() {
  return reading_.count == 0 ? nullptr : &reading_.tokens[reading_.count - 1];
}

void GuardScanner::scan() {
  for (std::size_t i = 0; i < text_.size() && reading_.count < kMaxGuardWords;) {
    const unsigned char c = at(i);
    if (kEndsPiece[c]) {
      mark(c);
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < text_.size() && !kEndsPiece[at(end)] && end - i < kMaxCode) ++end;
    resume_ = end;
    piece(i, end);
    i = resume_;
  }
}

void GuardScanner::mark(unsigned char c) {
  pending_ &= ~kGlued;
  switch (c) {
    case '"':
    case '`':
      if (quote_ == c) {
        close_quote();
      } else {
        quote_ = c;
        quoted_ = reading_.count;
      }
      break;
    case '\n':
    case '!':
    case '?':
      pending_ |= kFirst;
      break;
    case '<':
    case '>':
    case '*':
    case '=':
    case '&':
    case '^':
      break;
    default:
      if (!is_blank(c)) pending_ |= kComma;
  }
}

void GuardScanner::close_quote() {
  if (quote_ != 0 && reading_.count - quoted_ <= kMaxQuoted) {
    for (std::size_t i = quoted_; i < reading_.count; ++i) reading_.tokens[i].flags |= kQuoted;
  }
  quote_ = 0;
}

// A run without blanks or brackets. `end` is a bound: a piece of kMaxCode bytes goes on behind it.
void GuardScanner::piece(std::size_t begin, std::size_t end) {
  const bool apart = begin == 0 || kEndsPiece[at(begin - 1)];
  below_ = false;
  while (begin < end) {
    const unsigned char c = at(begin);
    const unsigned char next = begin + 1 < end ? at(begin + 1) : 0;
    if (in_word(c) || is_digit(c)) break;
    if (c == '-' && apart && (is_letter(next) || (next == '-' && is_letter(at(begin + 2))))) break;
    if ((c == '/' && (in_word(next) || next == '.')) || (c == '~' && next == '/')) break;
    if (c == '.' && (next == '/' || (next == '.' && at(begin + 2) == '/'))) break;
    if (c == '$' && (is_letter(next) || next == '_')) break;
    if (c == '\\' && (next == '\\' || is_letter(next))) break;
    if (c == '@' && in_word(next)) break;
    if (c == '.' && is_digit(next)) break;
    if (c == '-' && is_digit(next))
      below_ = apart && (last() == nullptr || !is_digit(at(last()->end - 1)));
    if (c == '-' && next == 0) pending_ |= kComma;
    if (c == '.' && !in_word(next)) pending_ |= kFirst;  // standing alone, or ...
    if (c == ':' && next == 0) pending_ |= kFirst | kComma;
    if (c == '$') known_word("$", begin, begin + 1, kGlued);
    if (c == '\'' && quote_ == 0 && apart) {
      quote_ = c;
      quoted_ = reading_.count;
    }
    ++begin;
  }
  bool stops = false;  // a sentence
  bool opens = false;  // a clause
  bool closes = false;
  while (begin < end) {
    const unsigned char c = at(end - 1);
    if (in_word(c) || is_digit(c) || c == '%') break;
    if ((c == '+' || c == '#') && end - begin <= 4 && is_letter(at(begin))) break;  // C++, C#
    stops = stops || c == '.';
    opens = opens || c == ':';
    closes = closes || c == '\'';
    --end;
  }
  if (begin < end && !identifier(begin, end)) parts(begin, end);
  if (closes && quote_ == '\'') close_quote();
  pending_ &= ~kGlued;
  if (stops) pending_ |= kFirst;
  if (opens) pending_ |= kFirst | kComma;
}

void GuardScanner::code(std::size_t begin, std::size_t end, std::uint32_t flags, bool fold) {
  GuardToken* token = put(begin, end);
  if (token == nullptr) return;
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (std::size_t i = begin; i < end; ++i) {
    const auto c = static_cast<unsigned char>(fold ? small(at(i)) : static_cast<char>(at(i)));
    hash = (hash ^ c) * 0x100000001B3ULL;
  }
  token->id = mix64(hash) | 1U;
  token->flags |= flags;
}

// Whether [begin, end) is one name of a machine's world; then it is put.
bool GuardScanner::identifier(std::size_t begin, std::size_t end) {
  const unsigned char c = at(begin);
  if (c == '-') {
    // --depth 3 and --depth=3 are alike
    code(begin, end, kCode, false);
    return true;
  }
  if (c == '$' || c == '~' || (c == '.' && !is_digit(at(begin + 1))) || c == '\\' || c == '/') {
    code(begin, end, kCode, false);
    return true;
  }
  if (c == '@') {
    code(begin, end, kWeak, true);
    return true;
  }
  std::size_t counts[256 / 8] = {};  // of a few signs, by their low five bits
  std::size_t numerals = 0;
  std::size_t hexes = 0;
  std::size_t turns = 0;  // from letters to digits and back
  bool humps = false;     // a capital behind a small letter
  for (std::size_t i = begin; i < end; ++i) {
    const unsigned char x = at(i);
    if (is_digit(x)) {
      ++numerals;
      ++hexes;
    } else if (in_word(x)) {
      if ((x | 0x20U) <= 'f' && is_letter(x)) ++hexes;
      humps = humps || (is_upper(x) && i > begin && at(i - 1) >= 'a' && at(i - 1) <= 'z');
    } else {
      ++counts[x & 31U];
    }
    if (i > begin && is_digit(x) != is_digit(at(i - 1)) && (in_word(x) || is_digit(x)) &&
        (in_word(at(i - 1)) || is_digit(at(i - 1)))) {
      ++turns;
    }
  }
  const auto signs = [&counts](char sign) { return counts[static_cast<unsigned>(sign) & 31U]; };
  const std::size_t size = end - begin;
  const std::string_view all = text_.substr(begin, size);
  const std::size_t colon = signs(':') == 0 ? std::string_view::npos : all.find("://");
  if (colon != std::string_view::npos) {
    code(begin, end, kCode, true);
    return true;
  }
  if (signs('@') > 0 && signs('.') > 0) {
    code(begin, end, kCode, true);
    return true;
  }
  if (signs('\\') > 0 || (signs('/') > 1 && size - signs('/') > numerals)) {
    code(begin, end, kCode, false);
    return true;
  }
  if (hexes + signs('-') + signs(':') == size && numerals > 0 && hexes > numerals &&
      (size >= kLeastHex) && (turns > 1 || size >= 12) && at(begin + 1) != 'x') {
    code(begin, end, kCode, true);
    return true;
  }
  if (c == '0' && (at(begin + 1) | 0x20U) == 'x' && hexes + 1 == size) {
    code(begin, end, kCode, true);
    return true;
  }
  if (signs('_') > 0) {
    code(begin, end, kWeak, true);
    return true;
  }
  if (signs('.') > 0 && dotted(begin, end)) return true;
  if (signs(':') > 1 && all.find("::") != std::string_view::npos) {
    code(begin, end, kWeak, true);
    return true;
  }
  if (turns > 2 && size > 6) {
    code(begin, end, kCode, true);
    return true;
  }
  if (humps && signs('-') + signs('/') + signs('\'') == 0 && !is_upper(c)) {
    code(begin, end, kWeak, true);
    return true;
  }
  return false;
}

// A host or a file (db1.example.com, notes.txt), an address (10.0.0.1), or letters with dots (U.S).
bool GuardScanner::dotted(std::size_t begin, std::size_t end) {
  std::size_t pieces = 0;
  bool lone = true;     // each piece is one letter
  bool numeric = true;  // each piece is a number up to three digits
  bool sentence = false;
  std::size_t last = 0;
  for (std::size_t i = begin; i < end;) {
    std::size_t stop = i;
    bool figures = true;
    while (stop < end && at(stop) != '.') figures = is_digit(at(stop++)) && figures;
    last = stop - i;
    if (last == 0) return false;  // two dots
    lone = lone && last == 1 && is_letter(at(i));
    numeric = numeric && figures && last <= 3;
    sentence =
        sentence || (i > begin && is_upper(at(i)) && is_letter(at(i - 2)) && !is_upper(at(i - 2)));
    ++pieces;
    i = stop + 1;
  }
  if (lone) {
    char name[8];
    std::size_t size = 0;
    for (std::size_t i = begin; i < end && size < 7; i += 2) name[size++] = small(at(i));
    if (size == 2) name[size++] = '.';  // U.S. is not us
    known_word({name, size}, begin, end, is_upper(at(begin)) ? kCapital | kUpper : 0);
    return true;
  }
  if (numeric && pieces == 4) {
    code(begin, end, kCode, true);
    return true;
  }
  if (is_digit(at(begin)) || sentence || last < 2 || !is_letter(at(end - last)) ||
      !is_letter(at(end - 1))) {
    return false;
  }
  // v1.2.rc and the like are versions.
  if ((at(begin) | 0x20U) == 'v' && is_digit(at(begin + 1))) return false;
  code(begin, end, kCode, true);
  return true;
}

// Words and numbers, with signs between them.
void GuardScanner::parts(std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end;) {
    const unsigned char c = at(i);
    if (is_digit(c) || (c == '.' && is_digit(at(i + 1)) && i == begin)) {
      i = number(i, end);
    } else if (in_word(c)) {
      i = word(i, end);
    } else {
      if (c == '%') known_word("%", i, i + 1, 0);
      if (c == '/') pending_ |= kComma;
      if (c == '.' && i + 1 < end && is_upper(at(i + 1))) pending_ |= kFirst;
      if (c == '$' && is_digit(at(i + 1))) known_word("$", i, i + 1, 0);
      ++i;
    }
  }
}

// One word at `begin`; where it ends.
std::size_t GuardScanner::word(std::size_t begin, std::size_t end) {
  std::size_t i = begin;
  std::size_t apostrophe = 0;
  while (i < end) {
    const unsigned char c = at(i);
    if (c >= 0x80) {
      const CodePoint next = read_utf8(text_, i);
      if (is_unspaced(next.value)) {
        if (i > begin) break;
        letters(i, i + next.size);
        return i + next.size;
      }
      i += next.size;
    } else if (is_letter(c)) {
      ++i;
    } else if (c == '\'' && i + 1 < end && in_word(at(i + 1)) && apostrophe == 0) {
      apostrophe = i++;
    } else if (c == '-' && i + 1 < end && in_word(at(i + 1)) && apostrophe == 0 && i - begin <= 5) {
      // e-mail is email, non-stop is nonstop
      bool joins = i - begin == 1;
      for (const GuardTable::Prefix& prefix : table_.prefixes(small(at(begin)))) {
        joins = joins ||
                (prefix.size == i - begin &&
                 std::equal(prefix.letters.begin(), prefix.letters.begin() + prefix.size,
                            text_.begin() + static_cast<std::ptrdiff_t>(begin), [](char x, char y) {
                              return x == small(static_cast<unsigned char>(y));
                            }));
      }
      if (!joins) break;
      ++i;
    } else {
      break;
    }
  }
  i = std::min(i, end);
  // C++ and C#
  if (i - begin == 1 && (at(i) == '#' || at(i) == '+')) {
    while (i < end && (at(i) == '#' || at(i) == '+')) ++i;
    code(begin, i, kName, true);
    return i;
  }
  if (apostrophe != 0) {
    contracted(begin, apostrophe, i);
  } else {
    letters(begin, i);
  }
  return i;
}

void GuardScanner::known_word(std::string_view small_form, std::size_t begin, std::size_t end,
                              std::uint32_t flags) {
  GuardToken* token = put(begin, end);
  if (token == nullptr) return;
  const GuardTable::Found found = table_.find(small_form);
  token->id = found.id;
  token->entry = found.entry;
  token->flags |= flags;
  token->letter = small_form.front();
}

void GuardScanner::letters(std::size_t begin, std::size_t end) {
  if (end - begin > kMaxWord) {
    code(begin, end, 0, true);
    return;
  }
  char form[kMaxWord];
  std::size_t size = 0;
  std::size_t capitals = 0;
  bool ascii = true;
  for (std::size_t i = begin; i < end; ++i) {
    const unsigned char c = at(i);
    if (c == '-') continue;
    capitals += is_upper(c) ? 1 : 0;
    ascii = ascii && c < 0x80;
    form[size++] = small(c);
  }
  std::uint32_t flags = 0;
  if (is_upper(at(begin))) flags |= kCapital;
  if (capitals > 1 && capitals == size) flags |= kUpper;
  if (capitals == 1 && size == 1 && form[0] != 'i') flags |= kUpper;
  // dont, isnt: the apostrophe is often left out
  if (table_.english() && ascii && size >= 4 && size <= 7 && form[size - 1] == 't' &&
      form[size - 2] == 'n') {
    constexpr std::array<std::string_view, 16> kBases = {
        "do",  "does", "did",   "is",    "are",    "was", "were", "has",
        "had", "have", "would", "could", "should", "ca",  "wo",   "must"};
    const std::string_view base(form, size - 2);
    if (std::find(kBases.begin(), kBases.end(), base) != kBases.end()) {
      known_word(base == "ca" ? "can" : base == "wo" ? "will" : base, begin, end - 2, flags);
      known_word("not", end - 2, end, 0);
      return;
    }
  }
  if (ascii && size > 4 &&
      ((form[size - 1] == 'g' && form[size - 2] == 'n' && form[size - 3] == 'i') ||
       (form[size - 1] == 'd' && form[size - 2] == 'e'))) {
    flags |= kForm;
  }
  known_word({form, size}, begin, end, flags);
}

// It's, can't, we'll, Mary's, l'eau.
void GuardScanner::contracted(std::size_t begin, std::size_t apostrophe, std::size_t end) {
  const std::size_t tail = end - apostrophe - 1;
  if (!table_.english() || tail > 2) {
    letters(begin, apostrophe);
    letters(apostrophe + 1, end);
    return;
  }
  const char first = small(at(apostrophe + 1));
  const char second = tail > 1 ? small(at(apostrophe + 2)) : '\0';
  if (tail == 1 && first == 't' && small(at(apostrophe - 1)) == 'n' && apostrophe - begin > 2) {
    const std::size_t base = apostrophe - 1;
    const char head = small(at(begin));
    const std::uint32_t flags = is_upper(at(begin)) ? kCapital : 0;
    const std::size_t size = base - begin;
    if (size == 2 && head == 'c') {
      known_word("can", begin, base, flags);
    } else if (size == 2 && head == 'w') {
      known_word("will", begin, base, flags);
    } else if (size == 2 && head == 'a') {
      known_word("is", begin, base, flags);
    } else {
      letters(begin, base);
    }
    known_word("not", base, end, 0);
    return;
  }
  letters(begin, apostrophe);
  const Entry* entry = last() == nullptr ? nullptr : last()->entry;
  const bool function = entry != nullptr && (entry->flags & kFunction) != 0;
  if (tail == 1 && first == 's') {
    if (function) known_word("is", apostrophe, end, 0);  // else Mary's
  } else if (tail == 1 && first == 'm') {
    known_word("am", apostrophe, end, 0);
  } else if (tail == 1 && first == 'd') {
    known_word("would", apostrophe, end, 0);
  } else if (first == 'r' && second == 'e') {
    known_word("are", apostrophe, end, 0);
  } else if (first == 'v' && second == 'e') {
    known_word("have", apostrophe, end, 0);
  } else if (first == 'l' && second == 'l') {
    known_word("will", apostrophe, end, 0);
  } else {
    letters(apostrophe + 1, end);
  }
}

// --- Numbers

void GuardScanner::put_number(std::size_t begin, std::size_t end, std::uint64_t hash, int exponent,
                              std::uint32_t value) {
  GuardToken* token = put(begin, end);
  if (token == nullptr) return;
  token->digits = hash;
  token->exponent = static_cast<std::int16_t>(std::clamp(exponent, -20000, 20000));
  token->value = value;
  token->flags |= kNumber | kDigits;
  if (below_) token->flags |= kBelow;
  below_ = false;
}

// Digits, with commas and one point that are passed over; `shift` is added to the power of ten.
void GuardScanner::digits(std::size_t begin, std::size_t end, int shift) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  std::uint64_t kept = hash;  // up to the last digit that is not 0
  std::size_t zeros = 0;      // behind it
  std::size_t behind = 0;     // digits behind the point
  std::size_t count = 0;
  std::uint64_t value = 0;
  bool point = false;
  for (std::size_t i = begin; i < end; ++i) {
    const unsigned char c = at(i);
    if (c == '.') point = true;
    if (!is_digit(c)) continue;
    behind += point ? 1 : 0;
    if (count == 0 && c == '0') continue;
    ++count;
    if (count <= kMostExact) value = value * 10 + (c - '0');
    hash = (hash ^ c) * 0x100000001B3ULL;
    if (c == '0') {
      ++zeros;
    } else {
      kept = hash;
      zeros = 0;
    }
  }
  if (count == zeros) zeros = behind = 0;  // 0 in every form
  const bool whole = behind == 0 && count <= kMostExact;
  put_number(begin, end, mix64(kept), static_cast<int>(zeros) - static_cast<int>(behind) + shift,
             whole && shift == 0 ? static_cast<std::uint32_t>(value) : kNoValue);
}

// 2024-03-05, 05/03/2024, 5.3.2024: three numbers, of which the month is told by its place where it
// is sure. Where the date ends, or `begin`.
std::size_t GuardScanner::date(std::size_t begin, std::size_t end) {
  std::size_t starts[3] = {};
  std::size_t sizes[3] = {};
  std::uint32_t values[3] = {};
  std::size_t i = begin;
  unsigned char sign = 0;
  for (int part = 0; part < 3; ++part) {
    starts[part] = i;
    while (i < end && is_digit(at(i)) && sizes[part] < 5) {
      values[part] = values[part] * 10 + (at(i) - '0');
      ++sizes[part];
      ++i;
    }
    if (part == 2) break;
    const unsigned char c = at(i);
    if (i >= end || (c != '-' && c != '/' && c != '.') || (sign != 0 && c != sign)) return begin;
    sign = c;
    ++i;
  }
  if (is_digit(at(i)) || (at(i) == sign && is_digit(at(i + 1)))) return begin;
  const bool year_first = sizes[0] == 4 && sizes[1] <= 2 && sizes[2] <= 2 && sizes[2] > 0;
  const bool year_last =
      sizes[0] <= 2 && sizes[1] <= 2 && (sizes[2] == 4 || (sizes[2] == 2 && sign == '/'));
  if (sizes[0] == 0 || sizes[1] == 0 || (!year_first && !year_last)) return begin;
  const std::uint32_t one = year_first ? values[1] : values[0];
  const std::uint32_t other = year_first ? values[2] : values[1];
  if (one == 0 || other == 0 || std::min(one, other) > 12 || std::max(one, other) > 31) {
    return begin;
  }
  int month = -1;  // which part
  if (year_first) {
    month = one <= 12 ? 1 : -1;
  } else if (sign == '.' || values[0] > 12) {
    month = other <= 12 ? 1 : -1;
  } else if (values[1] > 12) {
    month = 0;
  }
  for (int part = 0; part < 3; ++part) {
    digits(starts[part], starts[part] + sizes[part], 0);
    if (month < 0 || reading_.count == kMaxGuardWords) continue;
    last()->flags |= kForm;
    if (part == month) last()->unit = kUnitMonth;
  }
  return at(i) == 'T' && is_digit(at(i + 1)) ? i + 1 : i;
}

// 7:30, 19:30:15. Where it ends, or `begin`.
std::size_t GuardScanner::clock(std::size_t begin, std::size_t end) {
  std::size_t i = begin;
  std::uint32_t hour = 0;
  while (i < end && is_digit(at(i)) && i - begin < 3) hour = hour * 10 + (at(i++) - '0');
  if (i - begin > 2 || hour > 24 || at(i) != ':' || !is_digit(at(i + 1)) || !is_digit(at(i + 2)) ||
      is_digit(at(i + 3)) || i + 3 > end) {
    return begin;
  }
  const std::uint32_t minute = (at(i + 1) - '0') * 10U + (at(i + 2) - '0');
  i += 3;
  std::uint32_t second = 0;
  if (i + 3 <= end && at(i) == ':' && is_digit(at(i + 1)) && is_digit(at(i + 2))) {
    second = (at(i + 1) - '0') * 10U + (at(i + 2) - '0');
    i += 3;
  }
  if (minute > 59 || second > 59) return begin;
  // 19:00 is 7 pm; 7:00 is 7
  const bool sure = hour > 12 || hour == 0;
  const std::uint16_t half = hour > 12 ? kUnitPm : kUnitAm;
  hour = hour > 12 ? hour - 12 : hour == 0 ? 12 : hour;
  const auto put_part = [this, begin, i](std::uint32_t value) {
    put_number(begin, i, 0, 0, kNoValue);
    if (GuardToken* token = last()) {
      set_value(*token, value);
      token->flags |= kForm;
    }
  };
  put_part(hour);
  if (GuardToken* token = last(); sure && token != nullptr) token->unit = half;
  // Six thirty is two numbers, and so is 6:30.
  if (minute + second > 0) put_part(minute);
  if (second > 0) put_part(second);
  if (at(i) == 'Z' && i + 1 == end) ++i;
  return i;
}

// A number at `begin`; where it ends, with what belongs to it.
std::size_t GuardScanner::number(std::size_t begin, std::size_t end) {
  if (const std::size_t stop = date(begin, end); stop != begin) return stop;
  if (const std::size_t stop = clock(begin, end); stop != begin) return stop;
  std::size_t i = begin;
  std::size_t points = 0;
  const auto figures = [this, &i, &points](std::size_t until) {
    const std::size_t from = i;
    while (i < until && (is_digit(at(i)) || (at(i) == '.' && is_digit(at(i + 1))))) {
      if (at(i++) == '.') ++points;
    }
    return i - from;
  };
  // Thousands: a comma ends a piece, so that they are looked for in the text itself.
  if (figures(end) <= 3 && points == 0 && i == end) {
    while (at(i) == ',' && is_digit(at(i + 1)) && is_digit(at(i + 2)) && is_digit(at(i + 3)) &&
           !is_digit(at(i + 4))) {
      i += 4;
    }
    if (i > end) {
      figures(i + kMaxCode);
      end = i;
      resume_ = i;
    }
  }
  if (points > 1) {  // a version: its parts, without zeros at the end
    std::size_t stop = i;
    while (stop > begin + 2 && at(stop - 1) == '0' && at(stop - 2) == '.') stop -= 2;
    const std::uint64_t hash = hash_of(text_.substr(begin, stop - begin));
    const bool plain = text_.substr(begin, stop - begin).find('.') == std::string_view::npos;
    if (plain) {
      digits(begin, stop, 0);
    } else {
      put_number(begin, i, hash, 0, kNoValue);
      if (GuardToken* token = last()) token->flags |= kParts;
    }
  } else {
    int shift = 0;
    std::size_t stop = i;
    const char suffix = small(at(i));
    if (i < end && (suffix == 'e') && is_digit(at(i + 1)) && !in_word(at(i + 2))) {
      shift = at(i + 1) - '0';
      stop = i + 2;
      while (is_digit(at(stop)) && stop < end && shift < 1000) {
        shift = shift * 10 + (at(stop++) - '0');
      }
    } else if (i < end && !in_word(at(i + 1)) && !is_digit(at(i + 1))) {
      if (suffix == 'k') shift = 3;
      if (at(i) == 'M') shift = 6;
      if (at(i) == 'B') shift = 9;
      if (shift != 0) stop = i + 1;
    }
    digits(begin, i, shift);
    i = stop;
  }
  // 3rd, 1990s: the ending says nothing more
  if (i + 2 <= end && !in_word(at(i + 2))) {
    const char a = small(at(i));
    const char b = small(at(i + 1));
    if ((a == 's' && b == 't') || (a == 'n' && b == 'd') || (a == 'r' && b == 'd') ||
        (a == 't' && b == 'h')) {
      i += 2;
    }
  }
  if (i + 1 == end && at(i) == 's' && i - begin == 4) ++i;
  return i;
}

}  // namespace dpcache::text
