// Words, pairs and trigrams, added up.
#include "text/features.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "text/unicode.h"
#include "utf8.h"

namespace dpcache::text {

namespace {

// Weights are whole numbers, so that their sums are exact (below 2^24) in any order.
constexpr std::size_t kCountedLength = 12;  // a longer word counts like one of this length
constexpr std::array<int, kCountedLength + 1> kWordWeight = {  // 256 sqrt(length / 5)
    0, 114, 162, 198, 229, 256, 280, 303, 324, 343, 362, 380, 397};
constexpr int kTrigramWeight = 114;  // of a word up to kCountedLength
constexpr int kMaskedWordWeight = 64;
constexpr int kPunctuationWeight = 64;
constexpr int kNumberWeight = 2048;
constexpr int kPartlyMaskedDivisor = 6;
constexpr int kPairDivisor = 4;  // a pair weighs this part of the lighter of its words

constexpr std::array<Effect, 128> make_effects() {
  // Control characters count as letters: NUL is one like any other.
  std::array<Effect, 128> table{};
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
constexpr std::array<Effect, 128> kEffects = make_effects();

// 12 / length of the weight's square: a long word's trigrams together weigh what a shorter one's
// do.
int trigram_weight(std::size_t length) {
  if (length <= kCountedLength) return kTrigramWeight;
  const auto square =
      static_cast<float>(kTrigramWeight * kTrigramWeight * static_cast<int>(kCountedLength));
  return static_cast<int>(std::sqrt(square / static_cast<float>(length)));
}

}  // namespace

void Features::feature(std::uint64_t value, int weight) {
  const std::uint64_t hash = mix64(value);
  const std::size_t at = (hash >> 32U) * sums_.size() >> 32U;
  const auto amount = static_cast<float>(weight);
  sums_[at] += (hash & 1U) != 0 ? amount : -amount;
}

void Features::add_word() {
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

void Features::release() {
  if (lettered_) {
    int weight = trigram_weight(length_);
    if (masked_) weight /= kPartlyMaskedDivisor;
    for (std::size_t i = 0; i < held_; ++i) feature(trigrams_[i] ^ trigram_key_, weight);
  }
  held_ = 0;
}

void Features::hold(std::uint64_t character) {
  if (held_ == kHeldTrigrams) release();
  const bool first = window_ == kBegin;  // there are only two characters yet
  window_ = (window_ << 21U | character) & kThreeCharacters;
  if (!first) trigrams_[held_++] = window_;
}

void Features::put(std::uint64_t character) {
  word_ = (word_ ^ character) * 0x9E3779B97F4A7C15ULL;
  word_ ^= word_ >> 32U;
  hold(character >= 'A' && character <= 'Z' ? character | 0x20U : character);
}

void Features::end_word() {
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

void Features::add(std::uint64_t character, Effect effect) {
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

void Features::add_wide(char32_t code) {
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

void Features::literal(std::size_t begin, std::size_t end) {
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

void Features::masked(std::string_view /*name*/) {
  if (after_separator_) end_word();
  masked_ = true;
  solid_ = true;
  put(kMaskMark);
}

bool Features::finish() {
  end_word();
  bool any = false;
  for (float& sum : sums_) {
    any = any || sum != 0.0F;
    sum = std::copysign(std::sqrt(std::abs(sum)), sum);
  }
  return any;
}

}  // namespace dpcache::text
