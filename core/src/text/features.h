// The features of a text, hashed into a vector: words, neighbouring words, and trigrams of
// characters.
//
// A word is a run without blanks; it also ends where one of =,;|()[]{}"<> is followed by anything
// else, so that user=root has the words "user=" and "root", and each character of a script that is
// written without blanks (Han, kana) is a word. A masked part is one character of its word, the
// same for every mask.
//   - A word counts by the root of its length. One that is partly or wholly masked, and one of
//     punctuation alone, counts less: it says little about what kind of text this is. One with a
//     digit counts much more: who leaves numbers unmasked means them. Equal words with a masked
//     part that follow each other, such as a list of numbers, count once.
//   - Position enters as the pair of a word with the word before it (the text's beginning stands
//     before the first). A place counted from the beginning of the line was worse: one word more in
//     front of a message would change all that follow.
//   - Trigrams of characters run over a word with a mark on both sides; they make words that share
//   a
//     stem, or differ by a typing error, alike.
// A feature adds its weight, with a sign, to one component; place and sign come from its hash. At
// the end each component is replaced by its signed root, so that what is repeated does not drown
// the rest.
//
// The figures were chosen on twelve system logs at once (bench/grouping.md).
#ifndef DPCACHE_SRC_TEXT_FEATURES_H_
#define DPCACHE_SRC_TEXT_FEATURES_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "numerics.h"
#include "text/mask_scan.h"
#include "text/unicode.h"
#include "utf8.h"

namespace dpcache::text {

// Weights are whole numbers, so that their sums are exact (below 2^24) in any order.
inline constexpr std::size_t kCountedLength = 12;  // a longer word counts like one of this length
inline constexpr std::array<int, kCountedLength + 1> kWordWeight = {  // 256 sqrt(length / 5)
    0, 114, 162, 198, 229, 256, 280, 303, 324, 343, 362, 380, 397};
inline constexpr int kTrigramWeight = 114;  // of a word up to kCountedLength
inline constexpr int kMaskedWordWeight = 64;
inline constexpr int kPunctuationWeight = 64;
inline constexpr int kNumberWeight = 2048;
inline constexpr int kPartlyMaskedDivisor = 6;
inline constexpr int kPairDivisor = 4;  // a pair weighs this part of the lighter of its words

// The trigrams of a word are held back until it is known whether the word is partly masked; of a
// longer word, until this many have come.
inline constexpr std::size_t kHeldTrigrams = 64;

// What a character does to the word around it.
enum class Effect : std::uint8_t { word_part, punctuation, separator, gap };

constexpr std::array<Effect, 128> make_effects() {
  std::array<Effect, 128>
      table{};  // control characters count as letters: NUL is one like any other
  for (std::size_t c = 0x21; c < 0x7F; ++c) {
    if ((kByteClasses[c] & kWord) == 0) table[c] = Effect::punctuation;
  }
  table['_'] = Effect::word_part;
  const auto set = [&table](std::string_view bytes, Effect effect) {
    for (const char c : bytes) table[static_cast<unsigned char>(c)] = effect;
  };
  set("=,;|()[]{}\"<>", Effect::separator);
  set(" \t\n\v\f\r", Effect::gap);
  return table;
}
inline constexpr std::array<Effect, 128> kEffects = make_effects();

// 12 / length of the weight's square: a long word's trigrams together weigh what a shorter one's
// do.
inline int trigram_weight(std::size_t length) {
  if (length <= kCountedLength) return kTrigramWeight;
  const auto square =
      static_cast<float>(kTrigramWeight * kTrigramWeight * static_cast<int>(kCountedLength));
  return static_cast<int>(std::sqrt(square / static_cast<float>(length)));
}

// A sink of MaskScanner. `sums` holds `dimension` components and begins as zeros.
class Features {
 public:
  Features(std::string_view text, std::uint64_t seed, std::span<float> sums)
      : text_(text),
        word_key_(mix64(4 * seed + 1)),
        pair_key_(mix64(4 * seed + 2)),
        trigram_key_(mix64(4 * seed + 3)),
        sums_(sums) {}

  void literal(std::size_t begin, std::size_t end) {
    while (begin < end) {
      const auto byte = static_cast<unsigned char>(text_[begin]);
      if (byte < 0x80) {
        ++begin;
        add(byte, kEffects[byte]);
      } else {
        const CodePoint next = read_utf8(text_, begin);
        begin += next.size;
        add_wide(next.value);
      }
    }
  }

  void masked(MaskKind /*kind*/, std::string_view /*name*/, std::size_t /*begin*/,
              std::size_t /*end*/) {
    if (after_separator_) end_word();
    masked_ = true;
    solid_ = true;
    put(kMaskMark);
  }

  // Ends the last word and takes the roots. False: the text has no features.
  bool finish() {
    end_word();
    bool any = false;
    for (float& sum : sums_) {
      any = any || sum != 0.0F;
      sum = std::copysign(std::sqrt(std::abs(sum)), sum);
    }
    return any;
  }

 private:
  // Beside the characters, which end at 0x10FFFF.
  static constexpr std::uint64_t kBegin = 0x110000;
  static constexpr std::uint64_t kEnd = 0x110001;
  static constexpr std::uint64_t kMaskMark = 0x110002;
  static constexpr std::uint64_t kThreeCharacters = (std::uint64_t{1} << 63U) - 1;  // of 21 bits

  void add_wide(char32_t code) {
    if (is_wide_blank(code)) {
      end_word();
    } else if (is_unspaced(code)) {
      if (solid_) end_word();
      add(code, Effect::word_part);
      after_separator_ = true;  // the next character, if it is none, begins a word
    } else {
      add(code, Effect::word_part);
    }
  }

  void add(std::uint64_t character, Effect effect) {
    if (effect == Effect::gap) {
      end_word();
      return;
    }
    if (effect == Effect::separator) {
      after_separator_ = solid_;
    } else {
      if (after_separator_) end_word();
      solid_ = true;
      lettered_ = lettered_ || effect == Effect::word_part;
      numbered_ = numbered_ || (character >= '0' && character <= '9');
    }
    ++length_;
    put(character);
  }

  void put(std::uint64_t character) {
    word_ = (word_ ^ character) * 0x9E3779B97F4A7C15ULL;
    word_ ^= word_ >> 32U;
    hold(character >= 'A' && character <= 'Z' ? character | 0x20U : character);
  }

  void hold(std::uint64_t character) {
    if (held_ == kHeldTrigrams) release();
    const bool first = window_ == kBegin;  // there are only two characters yet
    window_ = (window_ << 21U | character) & kThreeCharacters;
    if (!first) trigrams_[held_++] = window_;
  }

  void release() {
    if (lettered_) {
      int weight = trigram_weight(length_);
      if (masked_) weight /= kPartlyMaskedDivisor;
      for (std::size_t i = 0; i < held_; ++i) feature(trigrams_[i] ^ trigram_key_, weight);
    }
    held_ = 0;
  }

  void end_word() {
    if (length_ > 0 || masked_) {
      hold(kEnd);
      if (masked_ && word_ == previous_) {
        held_ = 0;
      } else {
        release();
        add_word();
      }
      word_ = kBegin;
      window_ = kBegin;
      length_ = 0;
      masked_ = lettered_ = numbered_ = solid_ = false;
    }
    after_separator_ = false;
  }

  void add_word() {
    int weight = kPunctuationWeight;
    if (numbered_) {
      weight = kNumberWeight;
    } else if (lettered_) {
      weight = kWordWeight[std::min(length_, kCountedLength)];
      if (masked_) weight /= kPartlyMaskedDivisor;
    } else if (masked_) {
      weight = kMaskedWordWeight;
    }
    feature(word_ ^ word_key_, weight);
    feature((std::rotl(previous_, 23) + word_) ^ pair_key_,
            std::min(previous_weight_, weight) / kPairDivisor);
    previous_ = word_;
    previous_weight_ = weight;
  }

  void feature(std::uint64_t value, int weight) {
    const std::uint64_t hash = mix64(value);
    const std::size_t at = (hash >> 32U) * sums_.size() >> 32U;
    const auto amount = static_cast<float>(weight);
    sums_[at] += (hash & 1U) != 0 ? amount : -amount;
  }

  std::string_view text_;
  std::uint64_t word_key_;
  std::uint64_t pair_key_;
  std::uint64_t trigram_key_;
  std::span<float> sums_;

  std::uint64_t word_ = kBegin;  // hash of the word so far
  std::uint64_t window_ = kBegin;
  std::size_t length_ = 0;  // characters that are not masked
  bool masked_ = false;     // has a masked part
  bool lettered_ = false;   // has a letter or a digit
  bool numbered_ = false;   // has a digit
  bool solid_ = false;      // has something beside separators
  bool after_separator_ = false;
  std::uint64_t previous_ = 0;
  int previous_weight_ = kWordWeight[5];
  std::array<std::uint64_t, kHeldTrigrams> trigrams_{};
  std::size_t held_ = 0;
};

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_FEATURES_H_
