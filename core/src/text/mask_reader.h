// What masks are made of: their names, classes of bytes, and a reader that knows what stands where.
#ifndef DPCACHE_SRC_TEXT_MASK_READER_H_
#define DPCACHE_SRC_TEXT_MASK_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dpcache::text {

// The built-in masks, in the order in which an id and a help text list them.
enum class MaskKind : std::uint8_t { number, hex, ip, uuid, time, path, own };
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

// Reads a text for the masks. Text is Bytes, or a reader that counts (tests). A placeholder that
// stands in the text counts as a word, like what it replaced: that makes masking idempotent.
template <class Text>
class MaskReader {
 public:
  MaskReader(const Text& text, unsigned masks, std::span<const std::string> own)
      : text_(text), masks_(masks), own_(own) {}

  std::size_t size() const { return text_.size(); }
  unsigned char operator[](std::size_t i) const { return text_[i]; }
  bool is(std::size_t i, unsigned classes) const { return (kByteClasses[text_[i]] & classes) != 0; }
  bool on(MaskKind kind) const { return (masks_ & mask_bit(kind)) != 0; }

  // The name inside a placeholder that begins at i, or empty. Looks at kMaxMaskName + 2 bytes.
  std::string_view placeholder(std::size_t i) const {
    if (text_[i] != '<') return {};
    std::size_t end = i + 1;
    while (end - i <= kMaxMaskName && is(end, kInName)) ++end;
    if (text_[end] != '>') return {};
    for (std::size_t kind = 0; kind < kBuiltinMasks; ++kind) {
      const bool is_on = (masks_ >> kind & 1U) != 0;
      if (is_on && equal(i + 1, end, kMaskNames[kind])) return kMaskNames[kind];
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

  bool hex_between(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (!is(i, kHexDigit)) return false;
    }
    return begin < end;
  }

 private:
  const Text& text_;
  unsigned masks_;
  std::span<const std::string> own_;
};

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_MASK_READER_H_
