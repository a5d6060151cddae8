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

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "text/mask_address.h"
#include "text/mask_path.h"
#include "text/mask_reader.h"
#include "text/mask_time.h"

namespace dpcache::text {

// Takes a text's parts in their order.
class TextSink {
 public:
  virtual void literal(std::size_t begin, std::size_t end) = 0;  // bytes that stay
  virtual void masked(std::string_view name) = 0;  // a part that is replaced by <name>

 protected:
  TextSink() = default;
  ~TextSink() = default;
  TextSink(const TextSink&) = default;
  TextSink& operator=(const TextSink&) = default;
};

// Feeds a sink with the text's parts. `own` names the caller's masks, whose placeholders are passed
// through. Text is Bytes, or a reader that counts (tests).
template <class Text>
class MaskScanner {
 public:
  MaskScanner(const Text& text, unsigned masks, std::span<const std::string> own, TextSink& sink)
      : reader_(text, masks, own),
        times_(reader_),
        addresses_(reader_),
        paths_(reader_),
        sink_(sink) {}
  MaskScanner(const MaskScanner&) = delete;
  MaskScanner& operator=(const MaskScanner&) = delete;

  void run() {
    const std::size_t size = reader_.size();
    std::size_t at = 0;
    std::size_t literal = 0;
    bool after_word = false;
    joint_ = 0;
    while (at < size) {
      const bool in_word = reader_.is(at, kWord);
      if (!in_word) see_separator(at, after_word);
      if (!reader_.is(at, kWord | kOpens)) {
        after_word = false;
        ++at;
        continue;
      }
      const Match match = !in_word      ? symbol(at, after_word)
                          : !after_word ? word(at)
                                        : rest_of_word(at);
      if (!match.found) {
        at = match.end;
        after_word = in_word;
        continue;
      }
      if (literal < at) sink_.literal(literal, at);
      sink_.masked(match.name);
      at = literal = match.end;
      after_word = true;
    }
    if (literal < size) sink_.literal(literal, size);
  }

 private:
  struct Match {
    bool found = false;
    MaskKind kind = MaskKind::number;
    std::size_t end = 0;  // behind the match; without one, the next place to look at
    std::string_view name;
  };

  static Match none(std::size_t next) { return {false, MaskKind::number, next, {}}; }
  static Match hit(MaskKind kind, std::size_t end) {
    return {true, kind, end, kMaskNames[static_cast<std::size_t>(kind)]};
  }

  // Keeps in joint_ the separator, once or repeated, that follows a digit or a placeholder.
  void see_separator(std::size_t at, bool after_word) {
    const unsigned char c = reader_[at];
    if (after_word) {
      const bool joins =
          reader_.is(at - 1, c == '.' ? kDigit : kHexDigit) || reader_[at - 1] == '>';
      joint_ = joins ? c : 0;
    } else if (c != joint_) {
      joint_ = 0;
    }
  }

  // The first letter or digit of a word. [constant look-ahead beside the word itself]
  Match word(std::size_t at) const {
    std::size_t letters = at;
    while (reader_.is(letters, kLetter)) ++letters;
    std::size_t end = letters;
    while (reader_.is(end, kWord)) ++end;

    if (reader_.on(MaskKind::time)) {
      if (const std::size_t stop = times_.match(at)) return hit(MaskKind::time, stop);
    }
    const bool short_hex = end - at <= 8 && reader_.hex_between(at, end);
    if (short_hex && reader_.on(MaskKind::uuid)) {
      if (const std::size_t stop = addresses_.uuid(at, end)) return hit(MaskKind::uuid, stop);
    }
    if (short_hex && reader_.on(MaskKind::ip)) {
      if (const std::size_t stop = addresses_.ip(at, end, joint_)) return hit(MaskKind::ip, stop);
    }
    if (reader_.on(MaskKind::hex)) {
      if (const std::size_t stop = hex(at, end, letters)) return hit(MaskKind::hex, stop);
    }
    if (reader_.on(MaskKind::path) && reader_[end] == ':') {
      if (const std::size_t stop = paths_.url_or_drive(at, end)) return hit(MaskKind::path, stop);
    }
    if (!reader_.on(MaskKind::number) || letters == end) return none(end);
    if (letters == at) return hit(MaskKind::number, number(at));
    return none(letters);
  }

  // A digit behind the letters of its word, or behind a placeholder.
  Match rest_of_word(std::size_t at) const {
    if (reader_.on(MaskKind::number)) {
      if (reader_.is(at, kDigit)) return hit(MaskKind::number, number(at));
      while (reader_.is(at, kLetter)) ++at;
    } else {
      while (reader_.is(at, kWord)) ++at;
    }
    return none(at);
  }

  // Digits with . or , between them, an exponent, and the letters and digits that follow at once:
  // 5ms.
  std::size_t number(std::size_t at) const {
    for (;;) {
      while (reader_.is(at, kDigit)) ++at;
      const unsigned char c = reader_[at];
      if ((c == '.' || c == ',') && reader_.is(at + 1, kDigit)) {
        ++at;
      } else if ((c == 'e' || c == 'E') && (reader_[at + 1] == '-' || reader_[at + 1] == '+') &&
                 reader_.is(at + 2, kDigit)) {
        at += 2;
      } else {
        break;
      }
    }
    while (reader_.is(at, kWord)) ++at;
    return at;
  }

  // 0x and hex digits; at least six hex digits with a letter and a digit among them; a MAC address.
  std::size_t hex(std::size_t at, std::size_t end, std::size_t letters) const {
    if (reader_[at] == '0' && (reader_[at + 1] == 'x' || reader_[at + 1] == 'X')) {
      return reader_.hex_between(at + 2, end) ? end : 0;
    }
    if (end - at == 2 && (reader_[end] == ':' || reader_[end] == '-'))
      return addresses_.mac(at, joint_);
    if (end - at < 6 || letters == end) return 0;
    bool letter = false;
    for (std::size_t i = at; i < end; ++i) {
      if (!reader_.is(i, kHexDigit)) return 0;
      letter = letter || reader_.is(i, kLetter);
    }
    return letter ? end : 0;
  }

  Match symbol(std::size_t at, bool after_word) const {
    const unsigned char c = reader_[at];
    if (c == '<') {
      const std::string_view name = reader_.placeholder(at);
      if (!name.empty()) return {true, MaskKind::own, at + name.size() + 2, name};
      return none(at + 1);
    }
    if (after_word) return none(at + 1);
    std::size_t end = 0;
    if (c == '-' || c == '+') {
      if (!reader_.on(MaskKind::number) || !reader_.is(at + 1, kDigit)) return none(at + 1);
      const Match match = word(at + 1);
      return match.found && match.kind == MaskKind::number ? match : none(at + 1);
    }
    if (c == ':') {
      if (!reader_.on(MaskKind::ip) || reader_[at + 1] != ':') return none(at + 1);
      end = joint_ == ':' ? 0 : addresses_.ipv6(at);
      return end != 0 ? hit(MaskKind::ip, end) : none(at + 1);
    }
    if (!reader_.on(MaskKind::path)) return none(at + 1);
    if (c == '/') {
      if (at > 0 && reader_[at - 1] == '<') return none(at + 1);  // </b>
      // /10.0.0.1:80 is an address behind a slash.
      if (reader_.on(MaskKind::ip) && reader_.is(at + 1, kHexDigit)) {
        const Match match = word(at + 1);
        if (match.found && match.kind == MaskKind::ip) return none(at + 1);
      }
      end = paths_.posix_path(at);
    } else if (c == '\\') {
      end = paths_.backslash_path(at);
    } else if (c == '.' || c == '~') {
      std::size_t slash = at + 1;
      if (c == '.' && reader_[slash] == '.') ++slash;
      if (reader_[slash] == '/') end = paths_.posix_path(slash);
    }
    return end != 0 ? hit(MaskKind::path, end) : none(at + 1);
  }

  MaskReader<Text> reader_;
  TimeMask<Text> times_;
  AddressMask<Text> addresses_;
  PathMask<Text> paths_;
  TextSink& sink_;
  unsigned char joint_ = 0;
};

// The parts of a text for these masks (bits of MaskKind) and those of the caller.
void scan(std::string_view text, unsigned masks, std::span<const std::string> own, TextSink& sink);

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_MASK_SCAN_H_
