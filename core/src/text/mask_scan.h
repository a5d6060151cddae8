// The built-in masks: one left-to-right pass that names the varying parts of a text.
//
// The scanner looks at each place once. Where a word starts, or a symbol that can open a mask, it
// tries the masks from the most particular to the most general: time, uuid, ip, hex, path, number.
// An attempt either looks ahead by at most a constant number of bytes, or runs over bytes that no
// later attempt of its kind runs over again. So the whole pass is linear on every input.
//
// Masking is idempotent. Two rules make it so: a placeholder that stands in the text, e.g.
// <number>, is passed through; and on both sides of a decision it counts as a word, like what it
// replaced.
#ifndef DPCACHE_SRC_TEXT_MASK_SCAN_H_
#define DPCACHE_SRC_TEXT_MASK_SCAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dpcache::text {

// The built-in masks, in the order in which an id and a help text list them.
enum class MaskKind : std::uint8_t { kNumber, kHex, kIp, kUuid, kTime, kPath, kOwn };
inline constexpr std::size_t kBuiltinMasks = 6;
inline constexpr std::array<std::string_view, kBuiltinMasks> kMaskNames = {
    "number", "hex", "ip", "uuid", "time", "path"};

constexpr unsigned mask_bit(MaskKind kind) {
  return 1U << static_cast<unsigned>(kind);
}

// A mask's name is no longer than this, so that the look for a placeholder is bounded.
inline constexpr std::size_t kMaxMaskName = 32;

// What a byte can be part of.
inline constexpr unsigned kDigit = 1;
inline constexpr unsigned kLetter = 2;
inline constexpr unsigned kHexDigit = 4;
inline constexpr unsigned kBlank = 8;
inline constexpr unsigned kInPath = 16;  // goes on in a path once that has begun
inline constexpr unsigned kInUrl = 32;
inline constexpr unsigned kOpens = 64;  // a symbol at which a mask or a placeholder may begin
inline constexpr unsigned kInName = 128;
inline constexpr unsigned kWord = kDigit | kLetter;

constexpr std::array<std::uint8_t, 256> make_byte_classes() {
  std::array<std::uint8_t, 256> table{};
  const auto add = [&table](std::string_view bytes, unsigned bits) {
    for (const char c : bytes) {
      auto& entry = table[static_cast<unsigned char>(c)];
      entry = static_cast<std::uint8_t>(entry | bits);
    }
  };
  for (unsigned c = 0x21; c < 256; ++c) {
    if (c != 0x7F) table[c] |= kInUrl;
    if (c >= 0x80) table[c] |= kInPath;
  }
  for (const char c : std::string_view("<>\"'`")) {
    table[static_cast<unsigned char>(c)] &= static_cast<std::uint8_t>(~kInUrl);
  }
  add("0123456789", kDigit | kHexDigit | kInPath | kInName);
  add("abcdefABCDEF", kHexDigit);
  add("abcdefghijklmnopqrstuvwxyz", kLetter | kInPath | kInName);
  add("ABCDEFGHIJKLMNOPQRSTUVWXYZ", kLetter | kInPath);
  add("_", kInPath | kInName);
  add("-.~%+@#$=&?!*/", kInPath);
  add(" \t\n\v\f\r", kBlank);
  add("</\\.~-+:", kOpens);
  return table;
}
inline constexpr std::array<std::uint8_t, 256> kByteClasses = make_byte_classes();

// Reads a text by index; past its end it reads NUL, which belongs to no class.
class Bytes {
 public:
  explicit Bytes(std::string_view text) : text_(text) {}
  std::size_t size() const { return text_.size(); }
  unsigned char operator[](std::size_t i) const {
    return i < text_.size() ? static_cast<unsigned char>(text_[i]) : 0;
  }

 private:
  std::string_view text_;
};

// Feeds `Sink` with the text's parts in order: literal(begin, end) for bytes that stay, and
// masked(kind, name, begin, end) for each part that is replaced by <name>. `own` names the caller's
// masks, whose placeholders are passed through. Text is Bytes, or a reader that counts (tests).
template <class Text, class Sink>
class MaskScanner {
 public:
  MaskScanner(const Text& text, unsigned masks, std::span<const std::string> own, Sink& sink)
      : text_(text), masks_(masks), own_(own), sink_(sink) {}

  void run() {
    const std::size_t size = text_.size();
    std::size_t at = 0;
    std::size_t literal = 0;
    bool after_word = false;
    while (at < size) {
      const unsigned classes = class_at(at);
      if ((classes & (kWord | kOpens)) == 0) {
        after_word = false;
        ++at;
        continue;
      }
      const bool in_word = (classes & kWord) != 0;
      const Match match = !in_word      ? symbol(at, after_word)
                          : !after_word ? word(at)
                                        : rest_of_word(at);
      if (!match.found) {
        at = match.end;
        after_word = in_word;
        continue;
      }
      if (literal < at) sink_.literal(literal, at);
      sink_.masked(match.kind, match.name, at, match.end);
      at = literal = match.end;
      after_word = true;
    }
    if (literal < size) sink_.literal(literal, size);
  }

 private:
  struct Match {
    bool found = false;
    MaskKind kind = MaskKind::kNumber;
    std::size_t end = 0;  // behind the match; without one, the next place to look at
    std::string_view name;
  };

  static Match none(std::size_t next) { return {false, MaskKind::kNumber, next, {}}; }
  static Match hit(MaskKind kind, std::size_t end) {
    return {true, kind, end, kMaskNames[static_cast<std::size_t>(kind)]};
  }

  unsigned class_at(std::size_t i) const { return kByteClasses[text_[i]]; }
  bool is(std::size_t i, unsigned classes) const { return (class_at(i) & classes) != 0; }
  bool on(MaskKind kind) const { return (masks_ & mask_bit(kind)) != 0; }

  // --- what stands beside a match ---------------------------------------------------------------

  // The name inside a placeholder that begins at i, or empty. Looks at kMaxMaskName + 2 bytes.
  std::string_view placeholder(std::size_t i) const {
    if (text_[i] != '<') return {};
    std::size_t end = i + 1;
    while (end - i <= kMaxMaskName && is(end, kInName)) ++end;
    if (text_[end] != '>') return {};
    for (std::size_t kind = 0; kind < kBuiltinMasks; ++kind) {
      if ((masks_ >> kind & 1U) != 0 && equal(i + 1, end, kMaskNames[kind]))
        return kMaskNames[kind];
    }
    for (const std::string& name : own_) {
      if (equal(i + 1, end, name)) return name;
    }
    return {};
  }

  bool equal(std::size_t begin, std::size_t end, std::string_view what) const {
    if (end - begin != what.size()) return false;
    for (std::size_t i = 0; i < what.size(); ++i) {
      if (text_[begin + i] != static_cast<unsigned char>(what[i])) return false;
    }
    return true;
  }

  // Whether a word, or what was one before it was masked, begins or goes on at i.
  bool word_at(std::size_t i) const { return is(i, kWord) || !placeholder(i).empty(); }
  bool digit_at(std::size_t i) const { return is(i, kDigit) || !placeholder(i).empty(); }

  // --- words ------------------------------------------------------------------------------------

  // The first letter or digit of a word. [constant look-ahead beside the word itself]
  Match word(std::size_t at) const {
    std::size_t letters = at;
    while (is(letters, kLetter)) ++letters;
    std::size_t end = letters;
    while (is(end, kWord)) ++end;

    if (on(MaskKind::kTime)) {
      if (const std::size_t stop = time(at)) return hit(MaskKind::kTime, stop);
    }
    const bool short_hex = end - at <= 8 && hex_between(at, end);
    if (short_hex && on(MaskKind::kUuid)) {
      if (const std::size_t stop = uuid(at, end)) return hit(MaskKind::kUuid, stop);
    }
    if (short_hex && on(MaskKind::kIp)) {
      if (const std::size_t stop = ip(at, end)) return hit(MaskKind::kIp, stop);
    }
    if (on(MaskKind::kHex)) {
      if (const std::size_t stop = hex(at, end, letters)) return hit(MaskKind::kHex, stop);
    }
    if (on(MaskKind::kPath) && text_[end] == ':') {
      if (const std::size_t stop = url_or_drive(at, end)) return hit(MaskKind::kPath, stop);
    }
    if (!on(MaskKind::kNumber) || letters == end) return none(end);
    if (letters == at) return hit(MaskKind::kNumber, number(at));
    return none(letters);
  }

  // A digit behind the letters of its word, or behind a placeholder.
  Match rest_of_word(std::size_t at) const {
    if (on(MaskKind::kNumber)) {
      if (is(at, kDigit)) return hit(MaskKind::kNumber, number(at));
      while (is(at, kLetter)) ++at;
    } else {
      while (is(at, kWord)) ++at;
    }
    return none(at);
  }

  bool hex_between(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (!is(i, kHexDigit)) return false;
    }
    return begin < end;
  }

  // Digits with . or , between them, an exponent, and the letters and digits that follow at once:
  // 5ms.
  std::size_t number(std::size_t at) const {
    for (;;) {
      while (is(at, kDigit)) ++at;
      const unsigned char c = text_[at];
      if ((c == '.' || c == ',') && is(at + 1, kDigit)) {
        ++at;
      } else if ((c == 'e' || c == 'E') && (text_[at + 1] == '-' || text_[at + 1] == '+') &&
                 is(at + 2, kDigit)) {
        at += 2;
      } else {
        break;
      }
    }
    while (is(at, kWord)) ++at;
    return at;
  }

  // 0x and hex digits; at least six hex digits with a letter and a digit among them; a MAC address.
  std::size_t hex(std::size_t at, std::size_t end, std::size_t letters) const {
    if (text_[at] == '0' && (text_[at + 1] == 'x' || text_[at + 1] == 'X')) {
      return hex_between(at + 2, end) ? end : 0;
    }
    if (end - at == 2 && (text_[end] == ':' || text_[end] == '-')) return mac(at);
    if (end - at < 6 || letters == end) return 0;
    bool letter = false;
    for (std::size_t i = at; i < end; ++i) {
      if (!is(i, kHexDigit)) return 0;
      letter = letter || is(i, kLetter);
    }
    return letter ? end : 0;
  }

  std::size_t mac(std::size_t at) const {
    const unsigned char separator = text_[at + 2];
    for (int pair = 0; pair < 6; ++pair, at += 3) {
      if (!is(at, kHexDigit) || !is(at + 1, kHexDigit)) return 0;
      if (pair < 5 && text_[at + 2] != separator) return 0;
    }
    at -= 1;
    return word_at(at) || (text_[at] == separator && word_at(at + 1)) ? 0 : at;
  }

  std::size_t uuid(std::size_t at, std::size_t end) const {
    if (end - at != 8) return 0;
    for (const std::size_t length : {4U, 4U, 4U, 12U}) {
      if (text_[end] != '-') return 0;
      for (std::size_t i = 0; i < length; ++i) {
        if (!is(++end, kHexDigit)) return 0;
      }
      ++end;
    }
    return word_at(end) ? 0 : end;
  }

  // --- addresses --------------------------------------------------------------------------------

  std::size_t ip(std::size_t at, std::size_t end) const {
    if (text_[end] == '.') return ipv4(at);
    return text_[end] == ':' && end - at <= 4 ? ipv6(at) : 0;
  }

  // Four numbers up to 255; 0 if there are none.
  std::size_t octets(std::size_t at) const {
    for (int octet = 0; octet < 4; ++octet) {
      if (octet > 0 && text_[at++] != '.') return 0;
      unsigned value = 0;
      const std::size_t begin = at;
      while (is(at, kDigit) && at - begin < 3) value = value * 10 + (text_[at++] - '0');
      if (at == begin || value > 255) return 0;
    }
    return at;
  }

  std::size_t ipv4(std::size_t at) const {
    const std::size_t end = octets(at);
    return end == 0 || word_at(end) || (text_[end] == '.' && word_at(end + 1)) ? 0 : port(end);
  }

  // Behind an address: the end of ":port", or the address's own end.
  std::size_t port(std::size_t end) const {
    if (text_[end] != ':') return end;
    std::size_t stop = end + 1;
    while (is(stop, kDigit) && stop - end <= 5) ++stop;
    return stop == end + 1 || word_at(stop) ? end : stop;
  }

  // Eight groups of up to four hex digits, or fewer around one "::"; the last two may be an IPv4.
  // A ninth group of digits is a port.
  std::size_t ipv6(std::size_t at) const {
    int groups = 0;
    bool gap = false;
    for (;;) {
      if (text_[at] == ':' && text_[at + 1] == ':' && !gap) {
        gap = true;
        at += 2;
        if (!is(at, kHexDigit)) break;
      } else if (groups > 0) {
        if (groups == 8 || text_[at] != ':') break;
        if (!gap || is(at + 1, kHexDigit)) ++at;
      }
      if (groups <= 6 && is(at, kDigit)) {
        if (const std::size_t end = octets(at)) {
          groups += 2;
          at = end;
          break;
        }
      }
      const std::size_t begin = at;
      while (is(at, kHexDigit) && at - begin < 4) ++at;
      if (at == begin) return 0;
      ++groups;
    }
    if (gap ? groups > 7 || groups == 0 : groups != 8) return 0;
    if (word_at(at) || (text_[at] == '.' && word_at(at + 1))) return 0;
    if (text_[at] == ':' && (gap || !is(at + 1, kDigit))) {
      return word_at(at + 1) || text_[at + 1] == ':' ? 0 : at;
    }
    return port(at);
  }

  // --- paths ------------------------------------------------------------------------------------

  std::size_t url_or_drive(std::size_t at, std::size_t end) const {
    if (end - at == 1 && is(at, kLetter) && (text_[end + 1] == '\\' || text_[end + 1] == '/') &&
        text_[end + 2] != '/') {
      return trimmed(end + 2, path_run(end + 2));
    }
    if (!is(at, kLetter) || text_[end + 1] != '/' || text_[end + 2] != '/') return 0;
    std::size_t stop = end + 3;
    while (is(stop, kInUrl)) ++stop;
    return trimmed(end + 3, stop);
  }

  std::size_t path_run(std::size_t at) const {
    while (is(at, kInPath) || text_[at] == '\\') ++at;
    return at;
  }

  // The end of a path without the punctuation of the sentence around it; 0 if nothing is left.
  std::size_t trimmed(std::size_t begin, std::size_t end) const {
    constexpr std::string_view kTrailing = ".,;:!?)]}";
    while (end > begin && kTrailing.find(static_cast<char>(text_[end - 1])) != kTrailing.npos)
      --end;
    return end > begin ? end : 0;
  }

  // `slash` is the first slash of a path, e.g. of /x, ./x, ~/x.
  std::size_t posix_path(std::size_t slash) const {
    if (!is(slash + 1, kInPath) || text_[slash + 1] == '/') return 0;
    return trimmed(slash + 1, path_run(slash + 1));
  }

  // \x\y, \\host\x: a second backslash tells a path from an escape.
  std::size_t backslash_path(std::size_t at) const {
    const std::size_t end = path_run(at + 1);
    std::size_t second = at + 1;
    while (second < end && text_[second] != '\\') ++second;
    if (second == end) return 0;
    const std::size_t stop = trimmed(at + 1, end);
    return stop > second + 1 ? stop : 0;
  }

  // --- symbols ----------------------------------------------------------------------------------

  Match symbol(std::size_t at, bool after_word) const {
    const unsigned char c = text_[at];
    if (c == '<') {
      const std::string_view name = placeholder(at);
      if (!name.empty()) return {true, MaskKind::kOwn, at + name.size() + 2, name};
      return none(at + 1);
    }
    if (after_word) return none(at + 1);
    std::size_t end = 0;
    if (c == '-' || c == '+') {
      if (!on(MaskKind::kNumber) || !is(at + 1, kDigit)) return none(at + 1);
      const Match match = word(at + 1);
      return match.found && match.kind == MaskKind::kNumber ? match : none(at + 1);
    }
    if (c == ':') {
      if (!on(MaskKind::kIp) || text_[at + 1] != ':') return none(at + 1);
      end = ipv6(at);
      return end != 0 ? hit(MaskKind::kIp, end) : none(at + 1);
    }
    if (!on(MaskKind::kPath)) return none(at + 1);
    if (c == '/') {
      if (at > 0 && text_[at - 1] == '<') return none(at + 1);  // </b>
      // /10.0.0.1:80 is an address behind a slash.
      if (on(MaskKind::kIp) && is(at + 1, kHexDigit)) {
        const Match match = word(at + 1);
        if (match.found && match.kind == MaskKind::kIp) return none(at + 1);
      }
      end = posix_path(at);
    } else if (c == '\\') {
      end = backslash_path(at);
    } else if (c == '.' || c == '~') {
      std::size_t slash = at + 1;
      if (c == '.' && text_[slash] == '.') ++slash;
      if (text_[slash] == '/') end = posix_path(slash);
    }
    return end != 0 ? hit(MaskKind::kPath, end) : none(at + 1);
  }

  // --- dates and times of day -------------------------------------------------------------------

  // 1 to `most` digits, no more behind them; 0 if there are none. Sets `value`.
  std::size_t digits(std::size_t at, std::size_t least, std::size_t most, unsigned& value) const {
    const std::size_t begin = at;
    value = 0;
    while (is(at, kDigit) && at - begin < most) value = value * 10 + (text_[at++] - '0');
    return at - begin < least || is(at, kDigit) ? 0 : at;
  }

  std::size_t blanks(std::size_t at) const {  // past one or two blanks; 0 if there is none
    if (text_[at] != ' ') return 0;
    return text_[at + 1] == ' ' ? at + 2 : at + 1;
  }

  static constexpr unsigned char lower(unsigned char c) {
    return static_cast<unsigned char>(c | 0x20U);
  }

  // One of `names` (three letters each) or its long form; 0 if there is none. Capitalised only:
  // "may 5" is no date.
  std::size_t name_of(std::size_t at, std::string_view names, std::string_view tails) const {
    if (text_[at] < 'A' || text_[at] > 'Z') return 0;
    std::size_t tail = 0;
    for (std::size_t i = 0; i < names.size(); i += 3) {
      const std::size_t tail_end = tails.find(',', tail);
      const std::string_view rest = tails.substr(tail, tail_end - tail);
      tail = tail_end + 1;
      if (lower(text_[at]) != static_cast<unsigned char>(names[i]) ||
          lower(text_[at + 1]) != static_cast<unsigned char>(names[i + 1]) ||
          lower(text_[at + 2]) != static_cast<unsigned char>(names[i + 2])) {
        continue;
      }
      std::size_t end = at + 3;
      if (!is(end, kWord)) return end;
      for (const char c : rest) {
        if (lower(text_[end++]) != static_cast<unsigned char>(c)) return 0;
      }
      return is(end, kWord) ? 0 : end;
    }
    return 0;
  }
  std::size_t month(std::size_t at) const {
    return name_of(at, "janfebmaraprmayjunjulaugsepoctnovdec",
                   "uary,ruary,ch,il,,e,y,ust,tember,ober,ember,ember,");
  }
  std::size_t weekday(std::size_t at) const {
    return name_of(at, "montuewedthufrisatsun", "day,sday,nesday,rsday,day,urday,day,");
  }

  // A date or a time of day whose first character is at `at`.
  std::size_t time(std::size_t at) const {
    if (is(at, kDigit)) {
      if (const std::size_t end = date(at)) return end;
      return time_of_day(at);
    }
    if (const std::size_t end = weekday(at)) {
      std::size_t next = text_[end] == ',' ? end + 1 : end;
      next = blanks(next);
      if (next == 0) return 0;
      return is(next, kDigit) ? date(next) : month_day(next);
    }
    return month_day(at);
  }

  // Whether a date may end here: 2026-11-29-7 and 2026.11.29.1 are none.
  bool date_ends(std::size_t end) const {
    const unsigned char c = text_[end];
    return !word_at(end) && !((c == '-' || c == '/' || c == '.' || c == ':') && digit_at(end + 1));
  }

  // Jul 9, July 9 2026, Jul  9 12:16:49 CEST 2026
  std::size_t month_day(std::size_t at) const {
    const std::size_t name = month(at);
    if (name == 0) return 0;
    std::size_t end = blanks(name);
    unsigned day = 0;
    end = end == 0 ? 0 : digits(end, 1, 2, day);
    if (end == 0 || day < 1 || day > 31) return 0;
    return with_year_and_time(end);
  }

  std::size_t year_behind(std::size_t end) const {
    std::size_t at = text_[end] == ',' ? end + 1 : end;
    at = blanks(at);
    unsigned year = 0;
    at = at == 0 ? 0 : digits(at, 4, 4, year);
    return at != 0 && year >= 1900 && year < 2200 && date_ends(at) ? at : 0;
  }

  // What may follow a day and a month: a year, a time of day, or both in either order.
  std::size_t with_year_and_time(std::size_t end) const {
    if (const std::size_t year = year_behind(end)) end = year;
    if (const std::size_t stop = joined_time(end)) return stop;
    return date_ends(end) ? end : 0;
  }

  std::size_t date(std::size_t at) const {
    unsigned first = 0;
    if (const std::size_t end = digits(at, 8, 8, first)) {  // 20261129-12:00:01
      const unsigned month = first / 100 % 100;
      const unsigned day = first % 100;
      return month < 1 || month > 12 || day < 1 || day > 31 ? 0 : joined_time(end);
    }
    std::size_t end = digits(at, 1, 4, first);
    if (end == 0 || end - at == 3) return 0;
    const unsigned char separator = text_[end];
    if (separator != '-' && separator != '/' && separator != '.' && separator != ' ') return 0;
    if (is(end + 1, kLetter) || text_[end + 1] == ' ') return day_month(at, end, first);
    const bool year_first = end - at == 4;
    const bool two_digits_first = end - at == 2;
    unsigned second = 0;
    unsigned third = 0;
    const std::size_t second_end = digits(end + 1, 1, 2, second);
    if (separator == ' ' || second_end == 0) return 0;
    const bool two_digits_second = second_end - end == 3;
    if (text_[second_end] == separator) {
      const std::size_t third_end = digits(second_end + 1, 1, 4, third);
      if (third_end == 0) return 0;
      const std::size_t third_size = third_end - second_end - 1;
      if (year_first) {
        if (third_size > 2 || !month_and_day(second, third)) return 0;
      } else {
        const bool short_year = third_size == 2 && two_digits_first && two_digits_second;
        if (third_size != 4 && !short_year) return 0;
        if (!month_and_day(first, second) && !month_and_day(second, first) &&
            !(short_year && month_and_day(second, third))) {
          return 0;
        }
        // 10-11-12 and 1.2.3 are no dates by themselves.
        if (short_year && separator != '/') return joined_time(third_end);
      }
      if (const std::size_t stop = joined_time(third_end)) return stop;
      return date_ends(third_end) ? third_end : 0;
    }
    // 11-29 12:00:01
    if (!two_digits_first || !two_digits_second || text_[second_end] != ' ') return 0;
    if (!month_and_day(first, second) && !month_and_day(second, first)) return 0;
    return joined_time(second_end);
  }

  static bool month_and_day(unsigned month, unsigned day) {
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
  }

  // 29 Nov 2026, 29/Nov/2026:12:00:01 -0700
  std::size_t day_month(std::size_t at, std::size_t day_end, unsigned day) const {
    if (day_end - at > 2 || day < 1 || day > 31) return 0;
    const unsigned char separator = text_[day_end];
    const std::size_t name = separator == ' ' ? blanks(day_end) : day_end + 1;
    const std::size_t end = separator == '.' ? 0 : month(name);
    if (end == 0) return 0;
    if (separator == ' ') return with_year_and_time(end);
    if (text_[end] != separator) return 0;
    unsigned year = 0;
    std::size_t stop = digits(end + 1, 2, 4, year);
    if (stop == 0) return 0;
    if (const std::size_t time_end = joined_time(stop)) return time_end;
    return date_ends(stop) ? stop : 0;
  }

  // The end of the time of day that follows a date; 0 if there is none.
  std::size_t joined_time(std::size_t end) const {
    const unsigned char c = text_[end];
    std::size_t at = 0;
    if (c == 'T' || c == 't' || c == ':' || c == '-' || c == '_') {
      at = end + 1;
    } else {
      at = blanks(c == ',' ? end + 1 : end);
    }
    if (at == 0) return 0;
    if (const std::size_t stop = time_of_day(at)) return stop;
    // 2026-11-29-12.00.01.5, 20261129T120001Z
    unsigned value = 0;
    if (c == '-') {
      std::size_t stop = at;
      for (int part = 0; part < 3; ++part) {
        if (part > 0 && text_[stop++] != '.') return 0;
        stop = digits(stop, 2, 2, value);
        if (stop == 0 || value > 60) return 0;
      }
      return time_ends(fraction(stop));
    }
    if (c == 'T') {
      const std::size_t stop = digits(at, 4, 6, value);
      return stop == 0 ? 0 : time_ends(zone(fraction(stop)));
    }
    return 0;
  }

  std::size_t fraction(std::size_t at) const {
    unsigned value = 0;
    const unsigned char c = text_[at];
    if (c != '.' && c != ',' && c != ':') return at;
    const std::size_t end = digits(at + 1, 1, 9, value);
    return end == 0 ? at : end;
  }

  std::size_t time_ends(std::size_t end) const {
    const unsigned char c = text_[end];
    return word_at(end) || ((c == ':' || c == '.') && digit_at(end + 1)) ? 0 : end;
  }

  // 12:00, 12:00:01.5, 12:00:01Z, 12:00:01 +02:00, 3:45 PM
  std::size_t time_of_day(std::size_t at) const {
    unsigned value = 0;
    std::size_t end = digits(at, 1, 2, value);
    if (end == 0 || value > 24 || text_[end] != ':') return 0;
    end = digits(end + 1, 2, 2, value);
    if (end == 0 || value > 59) return 0;
    if (text_[end] == ':') {
      const std::size_t seconds = digits(end + 1, 2, 2, value);
      if (seconds == 0 || value > 60) return 0;
      end = fraction(seconds);
    } else if (text_[end] == '.') {
      end = fraction(end);
    }
    const std::size_t half = text_[end] == ' ' ? end + 1 : end;
    if ((lower(text_[half]) == 'a' || lower(text_[half]) == 'p') && lower(text_[half + 1]) == 'm' &&
        !word_at(half + 2)) {
      end = half + 2;
    }
    const std::size_t stop = time_ends(zone(end));
    return stop != 0 ? stop : time_ends(end);
  }

  // The end of a zone, and of a year behind it: Z, +02:00, " -0700", " UTC", " CEST 2026", " 2026".
  std::size_t zone(std::size_t end) const {
    if ((text_[end] == 'Z' || text_[end] == 'z') && !word_at(end + 1)) return end + 1;
    const std::size_t blank = text_[end] == ' ' ? end + 1 : end;
    unsigned value = 0;
    if (text_[blank] == '+' || text_[blank] == '-') {
      std::size_t stop = digits(blank + 1, 4, 4, value);
      if (stop == 0 || value > 1400) {
        stop = digits(blank + 1, 2, 2, value);
        if (stop == 0 || value > 14 || text_[stop] != ':') return end;
        stop = digits(stop + 1, 2, 2, value);
      }
      if (stop == 0 || word_at(stop)) return end;
      const std::size_t year = year_behind(stop);
      return year != 0 ? year : stop;
    }
    if (blank == end) return end;
    if (const std::size_t year = year_behind(end)) return year;
    std::size_t letters = blank;
    while (letters - blank < 5 && text_[letters] >= 'A' && text_[letters] <= 'Z') ++letters;
    if (letters - blank < 3 || letters - blank > 4 || word_at(letters)) return end;
    if (const std::size_t year = year_behind(letters)) return year;
    return equal(blank, letters, "UTC") || equal(blank, letters, "GMT") ? letters : end;
  }

  const Text& text_;
  unsigned masks_;
  std::span<const std::string> own_;
  Sink& sink_;
};

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_MASK_SCAN_H_
