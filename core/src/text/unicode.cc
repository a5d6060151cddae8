// Canonical decomposition, from the tables that scripts/unicode-tables writes.
#include "text/unicode.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "text/unicode_tables.h"
#include "utf8.h"

namespace dpcache::text {
namespace {

// Hangul syllables are composed by arithmetic (The Unicode Standard 15.0, section 3.12).
constexpr char32_t kSyllables = 0xAC00;
constexpr char32_t kSyllableCount = 11172;
constexpr char32_t kLead = 0x1100;
constexpr char32_t kVowel = 0x1161;
constexpr char32_t kTail = 0x11A7;
constexpr char32_t kTailCount = 28;
constexpr char32_t kVowelTailCount = 21 * kTailCount;

// Whether the character, or one of the 63 beside it, is decomposed or reordered.
bool in_marked_block(char32_t code) {
  if (code >= unicode::kBlocksEnd) return false;
  return (unicode::kBlocks[code >> 9U] >> (code >> 6U & 7U) & 1U) != 0;
}

struct Pair {
  char32_t first = 0;  // 0: the character is not decomposed
  char32_t second = 0;
};

Pair decomposition(char32_t code) {
  if (code < 0x10000) {
    std::size_t page = unicode::kPageOf[code >> 8U];
    if (page-- == 0) return {};
    const std::uint64_t* marks = unicode::kMarks + 4 * page;
    const std::uint64_t mark = std::uint64_t{1} << (code & 63U);
    const std::size_t part = code >> 6U & 3U;
    if ((marks[part] & mark) == 0) return {};
    auto i = unicode::kPageBegin[page] + std::popcount(marks[part] & (mark - 1));
    for (std::size_t before = 0; before < part; ++before) i += std::popcount(marks[before]);
    const char32_t first = char32_t{unicode::kFirstHigh[i]} << 8U | unicode::kFirstLow[i];
    const char32_t second = unicode::kSecond[i];
    if (second == 1) return {first + char32_t{0x20000}, 0};
    return {first, second};
  }
  for (std::size_t i = 0; i < std::size(unicode::kOthers); i += 3) {
    if (unicode::kOthers[i] == code) return {unicode::kOthers[i + 1], unicode::kOthers[i + 2]};
  }
  return {};
}

Pair supplement(char32_t code) {
  const char32_t i = code - unicode::kSupplementBegin;
  if (i >= std::size(unicode::kSupplement)) return {};
  const bool plane = (unicode::kSupplementPlane[i / 8] >> (i % 8) & 1U) != 0;
  const char32_t to = unicode::kSupplement[i] + (plane ? char32_t{0x20000} : 0);
  return {to, 0};
}

std::uint8_t combining_class(char32_t code) {
  const std::uint32_t* end = std::end(unicode::kRuns);
  const std::uint32_t* at = std::upper_bound(unicode::kRuns, end, code << 11U | 0x7FFU);
  if (at == unicode::kRuns) return 0;
  --at;
  return code - (*at >> 11U) <= (*at & 0x7FFU) ? unicode::kRunClasses[at - unicode::kRuns] : 0;
}

// Writes characters in canonical order: marks of different classes that follow one character are
// sorted by class, marks of one class keep their order.
class Decomposer {
 public:
  explicit Decomposer(std::string& out) : out_(out) {}

  void add(char32_t code) {
    if (code >= kSyllables && code < kSyllables + kSyllableCount) {
      const char32_t i = code - kSyllables;
      starter(kLead + i / kVowelTailCount);
      starter(kVowel + i % kVowelTailCount / kTailCount);
      if (i % kTailCount != 0) starter(kTail + i % kTailCount);
    } else if (in_marked_block(code)) {
      marked(code);
    } else if (const Pair pair = supplement(code); pair.first != 0) {
      starter(pair.first);  // none of these is decomposed further or reordered
    } else {
      starter(code);
    }
  }

  void add_ascii(std::string_view text) {
    finish();
    out_.append(text);
    marks_ = out_.size();
  }

  // Brings the marks behind the last character in order.
  void finish() {
    if (!in_order_) sort_marks();
    marks_ = out_.size();
    highest_ = 0;
    in_order_ = true;
  }

 private:
  void starter(char32_t code) {
    finish();
    append_utf8(code, out_);
    marks_ = out_.size();
  }

  // Unfolds the first of each pair until it is not decomposed; there are at most four characters.
  void marked(char32_t code) {
    std::array<char32_t, 4> seconds{};
    std::size_t count = 0;
    for (Pair pair = decomposition(code); pair.first != 0; pair = decomposition(code)) {
      code = pair.first;
      if (pair.second != 0) seconds[count++] = pair.second;
    }
    ordered(code);
    while (count > 0) ordered(seconds[--count]);
  }

  void ordered(char32_t code) {
    const std::uint8_t combining = combining_class(code);
    if (combining == 0) {
      starter(code);
      return;
    }
    in_order_ = in_order_ && combining >= highest_;
    highest_ = combining;
    append_utf8(code, out_);
  }

  // A stable sort by class in linear time, as a hostile text may be one run of marks.
  void sort_marks() {
    const std::string run(out_, marks_);
    std::array<std::size_t, 257> place{};
    const auto each = [&run](auto visit) {
      for (std::size_t at = 0; at < run.size();) {
        const CodePoint mark = read_utf8(run, at);
        visit(combining_class(mark.value), at, mark.size);
        at += mark.size;
      }
    };
    each([&place](std::uint8_t combining, std::size_t /*at*/, std::size_t size) {
      place[std::size_t{combining} + 1] += size;
    });
    for (std::size_t i = 1; i < place.size(); ++i) place[i] += place[i - 1];
    each([this, &run, &place](std::uint8_t combining, std::size_t at, std::size_t size) {
      out_.replace(marks_ + place[combining], size, run, at, size);
      place[combining] += size;
    });
  }

  std::string& out_;
  std::size_t marks_ = 0;  // where the marks behind the last character begin
  std::uint8_t highest_ = 0;
  bool in_order_ = true;
};

}  // namespace

bool is_ascii(std::string_view text) noexcept {
  constexpr std::uint64_t kHighBits = 0x8080808080808080ULL;
  std::size_t i = 0;
  std::uint64_t seen = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, 8);
    seen |= word;
  }
  for (; i < text.size(); ++i) seen |= static_cast<unsigned char>(text[i]);
  return (seen & kHighBits) == 0;
}

bool is_wide_blank(char32_t code) noexcept {  // PropList.txt, White_Space
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
         code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool is_unspaced(char32_t code) noexcept {
  return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3041 && code <= 0x30FF) ||
         (code >= 0x3400 && code <= 0x4DBF) || (code >= 0x20000 && code <= 0x3FFFD);
}

std::string decomposed(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  Decomposer decomposer(out);
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && static_cast<unsigned char>(text[end]) < 0x80) ++end;
    if (end > at) {
      decomposer.add_ascii(text.substr(at, end - at));
      at = end;
      continue;
    }
    const CodePoint next = read_utf8(text, at);
    decomposer.add(next.value);
    at += next.size;
  }
  decomposer.finish();
  return out;
}

}  // namespace dpcache::text
