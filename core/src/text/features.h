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

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "numerics.h"
#include "text/mask_scan.h"

namespace dpcache::text {

// The trigrams of a word are held back until it is known whether the word is partly masked; of a
// longer word, until this many have come.
inline constexpr std::size_t kHeldTrigrams = 64;

// What a character does to the word around it.
enum class Effect : std::uint8_t { word_part, punctuation, separator, gap };

// `sums` holds `dimension` components and begins as zeros.
class Features final : public TextSink {
 public:
  Features(std::string_view text, std::uint64_t seed, std::span<float> sums)
      : text_(text),
        word_key_(mix64(4 * seed + 1)),
        pair_key_(mix64(4 * seed + 2)),
        trigram_key_(mix64(4 * seed + 3)),
        sums_(sums) {}

  void literal(std::size_t begin, std::size_t end) override;
  void masked(std::string_view name) override;
  // Ends the last word and takes the roots. False: the text has no features.
  bool finish();

 private:
  // Beside the characters, which end at 0x10FFFF.
  static constexpr std::uint64_t kBegin = 0x110000;
  static constexpr std::uint64_t kEnd = 0x110001;
  static constexpr std::uint64_t kMaskMark = 0x110002;
  static constexpr std::uint64_t kThreeCharacters = (std::uint64_t{1} << 63U) - 1;  // of 21 bits

  void add_wide(char32_t code);
  void add(std::uint64_t character, Effect effect);
  void put(std::uint64_t character);
  void hold(std::uint64_t character);
  void release();
  void end_word();
  void add_word();
  void feature(std::uint64_t value, int weight);

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
  int previous_weight_ = 256;  // of a word of five letters
  std::array<std::uint64_t, kHeldTrigrams> trigrams_{};
  std::size_t held_ = 0;
};

}  // namespace dpcache::text

#endif  // DPCACHE_SRC_TEXT_FEATURES_H_
