// The encoder: unit vectors that depend on the text and the config alone, one vector for
// canonically equivalent texts, every fault of UTF-8, ids, and the same bits on every platform.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dpcache/dpcache.h"
#include "hash.h"
#include "native/allocation_watch.h"
#include "native/support.h"
#include "text/unicode.h"
#include "text/unicode_tables.h"
#include "utf8.h"

namespace dpcache {
namespace {

using namespace std::string_view_literals;

Encoder encoder_of(std::string_view masks, std::uint32_t dimension = 256, std::uint64_t seed = 0) {
  EncoderConfig config;
  config.dimension = dimension;
  config.seed = seed;
  config.masks = *Masks::parse(masks);
  return *Encoder::create(config);
}

std::vector<float> encode(const Encoder& encoder, std::string_view text) {
  std::vector<float> vector(encoder.config().dimension);
  EXPECT_TRUE(encoder.encode(text, vector));
  return vector;
}

std::vector<float> encode(std::string_view text) {
  static const Encoder kEncoder = encoder_of("none");
  return encode(kEncoder, text);
}

float cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * double{b[i]};
  return static_cast<float>(sum);
}

// How many slots the texts open, in their order.
std::size_t slots_of(std::string_view masks, std::initializer_list<std::string_view> texts,
                     float tau = kTextTau) {
  const Encoder encoder = encoder_of(masks);
  Cache cache = testing::make_cache(testing::plain_config(256, tau));
  for (const std::string_view text : texts) {
    const std::vector<float> key = encode(encoder, text);
    EXPECT_TRUE(cache.observe(testing::item_of(key)));
  }
  return cache.stats().slots;
}

std::string utf8(std::u32string_view codes) {
  std::string out;
  for (const char32_t code : codes) append_utf8(code, out);
  return out;
}

// --- vectors ------------------------------------------------------------------------------------

TEST(Text, GivesUnitVectorsOfTheDimension) {
  for (const std::uint32_t dimension : {16U, 17U, 100U, 256U, 1000U, 4096U}) {
    const Encoder encoder = encoder_of("all", dimension);
    for (const std::string_view text : {"", "a", "one two three 4", "用户小王登录成功"}) {
      const std::vector<float> vector = encode(encoder, text);
      double squares = 0.0;
      for (const float x : vector) {
        ASSERT_TRUE(std::isfinite(x));
        squares += double{x} * double{x};
      }
      EXPECT_NEAR(squares, 1.0, 1e-6) << dimension << " '" << text << "'";
    }
  }
}

TEST(Text, RefusesAVectorOfAnotherLengthAndLeavesItAlone) {
  const Encoder encoder = encoder_of("none");
  for (const std::size_t length : {std::size_t{0}, std::size_t{255}, std::size_t{257}}) {
    std::vector<float> vector(length, 7.0F);
    EXPECT_EQ(encoder.encode("text", vector).code, Error::bad_shape);
    EXPECT_EQ(vector, std::vector<float>(length, 7.0F));
  }
}

TEST(Text, DependsOnTheTextTheSeedTheDimensionAndTheMasks) {
  const std::vector<float> vector = encode(encoder_of("none"), "request 17 failed");
  EXPECT_EQ(vector, encode(encoder_of("none"), "request 17 failed"));
  EXPECT_NE(vector, encode(encoder_of("none"), "request 18 failed"));
  EXPECT_NE(vector, encode(encoder_of("number"), "request 17 failed"));
  EXPECT_LT(std::abs(cosine(vector, encode(encoder_of("none", 256, 1), "request 17 failed"))), .3F);
}

TEST(Text, OfBlanksAloneHasOneFixedVector) {
  std::vector<float> fixed(256);
  fixed[0] = 1.0F;
  for (const std::string_view text :
       {""sv, " "sv, "   "sv, "\t\r\n\v\f "sv, "\u00A0"sv, "\u2003\u3000 "sv, "\u2028\u0085"sv}) {
    EXPECT_EQ(encode(text), fixed);
  }
  EXPECT_NE(encode("-"), fixed);
  EXPECT_NE(encode("\0"sv), fixed);
}

TEST(Text, BlanksOnlySeparateWords) {
  EXPECT_EQ(encode("one two"), encode("  one \t two\u00A0"));
  EXPECT_NE(encode("one two"), encode("onetwo"));
}

TEST(Text, NulIsACharacterLikeAnyOther) {
  const std::array texts = {"ab"sv, "a\0b"sv, "a b"sv, "a\0"sv, "\0a"sv, "a"sv, "\0"sv, "\0\0"sv};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(encode(texts[i]), encode(texts[j])) << i << j;
  }
}

TEST(Text, TheOrderOfWordsCounts) {
  EXPECT_NE(encode("dog bites man"), encode("man bites dog"));
  EXPECT_GT(cosine(encode("dog bites man"), encode("man bites dog")), .6F);
}

TEST(Text, AWordInFrontChangesLittleOfWhatFollows) {
  const std::string message = "Connection closed by peer while reading the response header";
  EXPECT_GT(cosine(encode(message), encode("proxy " + message)), .85F);
}

TEST(Text, UnrelatedTextsAreNearlyOrthogonal) {
  double worst = 0.0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Encoder encoder = encoder_of("none", 256, seed);
    const double similarity = cosine(encode(encoder, "the quick brown fox jumped over lazy dogs"),
                                     encode(encoder, "PANIC: cannot mount root filesystem"));
    worst = std::max(worst, std::abs(similarity));
  }
  EXPECT_LT(worst, .35);
}

// --- the cases of users -------------------------------------------------------------------------

TEST(TextCases, NumbersMakeOneSlotMaskedAndEightUnmasked) {
  const auto texts = {"There are 37 snapshots available"sv,   "There are 15 snapshots available"sv,
                      "There are 11 snapshots available"sv,   "There are 7 snapshots available"sv,
                      "There are 1024 snapshots available"sv, "There are 38 snapshots available"sv,
                      "There are 0 snapshots available"sv,    "There are 51 snapshots available"sv};
  EXPECT_EQ(slots_of("number", texts), 1U);
  EXPECT_EQ(slots_of("none", texts), 8U);
}

TEST(TextCases, HeadingsThatDifferInTheirNumberStayDistinctUnmasked) {
  const auto texts = {"Tarea 5"sv, "Tarea 6"sv, "§4 Formato"sv, "§5 Formato"sv};
  EXPECT_EQ(slots_of("none", texts), 4U);
  EXPECT_EQ(slots_of("all", texts), 2U);
}

TEST(TextCases, TextsWithoutFeaturesHaveTheirOwnSlot) {
  EXPECT_EQ(slots_of("all", {""sv, "   "sv, "a line with \0 and \xff\xfe"sv, "\t"sv}), 2U);
}

TEST(TextCases, CompactJsonWithOtherTimesIsOneTemplate) {
  EXPECT_EQ(slots_of("all", {R"({"ts":"2026-01-01T00:00:00Z","level":"info","msg":"started"})",
                             R"({"ts":"2026-01-01T00:00:05Z","level":"info","msg":"started"})",
                             R"({"ts":"2026-01-01T10:00:00Z","level":"info","msg":"started"})"}),
            1U);
}

TEST(TextCases, CommasSeparateColumns) {
  EXPECT_EQ(slots_of("all", {"2026-01-01,host1,login,ok", "2026-01-01,host2,login,ok"}), 1U);
}

TEST(TextCases, AListOfNumbersIsOneTemplate) {
  EXPECT_EQ(slots_of("all", {"open ports: 22", "open ports: 22 80", "open ports: 22 80 443"}), 1U);
  const Encoder encoder = encoder_of("all");
  EXPECT_EQ(encode(encoder, "ask to delete blk_1"),
            encode(encoder, "ask to delete blk_1 blk_22 blk_-3 blk_4"));
  EXPECT_NE(encode("again and again"), encode("again again and again"));  // nothing is masked
}

TEST(TextCases, ScriptsWithoutBlanksAreComparedByTheirCharacters) {
  EXPECT_EQ(slots_of("none", {"用户小王登录成功", "用户小李登录成功"}), 1U);
  EXPECT_EQ(slots_of("none", {"用户小王登录成功", "用户小李登录失败"}), 2U);
}

// What a hashed encoder does not see; guards for it belong to another layer.
TEST(TextCases, AParaphraseInOtherWordsIsNewAndATurnedMeaningIsNear) {
  const float paraphrase = cosine(encode("How do I enable two-factor authentication?"),
                                  encode("What are the steps to turn on 2FA?"));
  const float opposite = cosine(encode("Please turn on the lights in the living room now"),
                                encode("Please turn off the lights in the living room now"));
  EXPECT_LT(paraphrase, .3F);
  EXPECT_GT(opposite, .8F);
}

// --- canonical equivalence ----------------------------------------------------------------------

TEST(TextUnicode, EveryDecompositionGivesTheVectorOfItsParts) {
  std::size_t count = 0;
  const auto expect_same = [&count](char32_t whole, std::u32string_view parts) {
    const std::string composed = "x" + utf8(std::u32string(1, whole)) + " y";
    const std::string decomposed = "x" + utf8(parts) + " y";
    ASSERT_EQ(encode(composed), encode(decomposed)) << std::hex << std::uint32_t{whole};
    ++count;
  };
  std::size_t next = 0;  // of the decompositions below 0x10000
  for (char32_t whole = 0; whole < 0x10000; ++whole) {
    const std::size_t page = text::unicode::kPageOf[whole >> 8U];
    if (page == 0) continue;
    const std::uint64_t marks = text::unicode::kMarks[4 * (page - 1) + (whole >> 6U & 3U)];
    if ((marks >> (whole & 63U) & 1U) == 0) continue;
    const char32_t first = text::unicode::kFirstHigh[next];
    const char32_t second = text::unicode::kSecond[next];
    std::u32string parts(1, first << 8U | text::unicode::kFirstLow[next]);
    if (second == 1) parts[0] += 0x20000;
    if (second > 1) parts.push_back(second);
    expect_same(whole, parts);
    ++next;
  }
  EXPECT_EQ(next, std::size(text::unicode::kSecond));
  for (std::size_t i = 0; i < std::size(text::unicode::kSupplement); ++i) {
    const bool plane = (text::unicode::kSupplementPlane[i / 8] >> (i % 8) & 1U) != 0;
    const char32_t part = text::unicode::kSupplement[i] + (plane ? char32_t{0x20000} : 0);
    expect_same(static_cast<char32_t>(text::unicode::kSupplementBegin + i),
                std::u32string(1, part));
  }
  for (std::size_t i = 0; i < std::size(text::unicode::kOthers); i += 3) {
    std::u32string parts(1, text::unicode::kOthers[i + 1]);
    if (text::unicode::kOthers[i + 2] != 0) parts.push_back(text::unicode::kOthers[i + 2]);
    expect_same(text::unicode::kOthers[i], parts);
  }
  EXPECT_EQ(count, 2061U);  // of Unicode 15.0.0, Hangul aside
}

TEST(TextUnicode, EveryHangulSyllableGivesTheVectorOfItsJamo) {
  for (char32_t i = 0; i < 11172; ++i) {
    std::u32string jamo = {0x1100 + i / 588, 0x1161 + i % 588 / 28};
    if (i % 28 != 0) jamo.push_back(0x11A7 + i % 28);
    const std::string syllable = utf8(std::u32string(1, 0xAC00 + i));
    ASSERT_EQ(text::decomposed(syllable), utf8(jamo));
    if (i % 97 == 0) {
      ASSERT_EQ(encode(syllable), encode(utf8(jamo)));
    }
  }
}

TEST(TextUnicode, KnownTextsAreDecomposedAndReordered) {
  struct Case {
    std::u32string_view text;
    std::u32string_view expected;
  };
  for (const Case& c : {
           Case{U"é", U"e\u0301"},
           Case{U"\u1E69", U"s\u0323\u0307"},         // two marks, in two steps
           Case{U"s\u0307\u0323", U"s\u0323\u0307"},  // marks out of order
           Case{U"\u1E0B\u0323", U"d\u0323\u0307"},
           Case{U"a\u0315\u0300\u05AE\u0062", U"a\u05AE\u0300\u0315b"},
           Case{U"a\u0301\u0300", U"a\u0301\u0300"},  // of one class: they keep their order
           Case{U"\u0301a", U"\u0301a"},
           Case{U"\u212B", U"A\u030A"},
           Case{U"\u1F82", U"\u03B1\u0313\u0300\u0345"},
           Case{U"\uFACF", U"\U0002284A"},
           Case{U"\U0002F800", U"\u4E3D"},
           Case{U"\U0001D160", U"\U0001D158\U0001D165\U0001D16E"},
           Case{U"한글", U"\u1112\u1161\u11AB\u1100\u1173\u11AF"},
           Case{U"plain ASCII 1", U"plain ASCII 1"},
       }) {
    EXPECT_EQ(text::decomposed(utf8(c.text)), utf8(c.expected));
    EXPECT_EQ(encode(utf8(c.text)), encode(utf8(c.expected)));
  }
}

TEST(TextUnicode, LongRunsOfMarksAreSortedStably) {
  // Grave (class 230) and dot below (220) in turns, and acute (230): all dots come first.
  std::u32string mixed = U"a";
  std::u32string ordered = U"a";
  for (int i = 0; i < 1000; ++i) mixed += i % 3 == 0 ? U"\u0300\u0323" : U"\u0301\u0323";
  for (int i = 0; i < 1000; ++i) ordered += U'\u0323';
  for (int i = 0; i < 1000; ++i) ordered += i % 3 == 0 ? U'\u0300' : U'\u0301';
  EXPECT_EQ(text::decomposed(utf8(mixed)), utf8(ordered));
}

#ifndef __EMSCRIPTEN__
TEST(TextUnicode, PassesUnicodesOwnTest) {
  std::FILE* file = ::popen("bzcat /usr/share/unicode/NormalizationTest.txt.bz2 2>/dev/null", "r");
  ASSERT_NE(file, nullptr);
  std::size_t lines = 0;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), file) != nullptr) {
    if (buffer[0] == '#' || buffer[0] == '@') continue;
    std::array<std::string, 5> columns;
    std::string_view rest = buffer.data();
    for (std::string& column : columns) {
      std::string codes(rest.substr(0, rest.find(';')));
      rest.remove_prefix(rest.find(';') + 1);
      const char* at = codes.c_str();
      char* end = nullptr;
      for (unsigned long code = std::strtoul(at, &end, 16); end != at;
           code = std::strtoul(at, &end, 16)) {
        append_utf8(static_cast<char32_t>(code), column);
        at = end;
      }
    }
    ASSERT_EQ(text::decomposed(columns[0]), columns[2]) << buffer.data();
    ASSERT_EQ(text::decomposed(columns[1]), columns[2]) << buffer.data();
    ASSERT_EQ(text::decomposed(columns[2]), columns[2]) << buffer.data();
    ASSERT_EQ(text::decomposed(columns[3]), columns[4]) << buffer.data();
    ASSERT_EQ(text::decomposed(columns[4]), columns[4]) << buffer.data();
    ++lines;
  }
  ::pclose(file);
  if (lines == 0) GTEST_SKIP() << "SKIPPED: needs the Debian packages unicode-data and bzip2";
  EXPECT_GT(lines, 18000U);
}
#endif

// --- faults of UTF-8 ----------------------------------------------------------------------------

// The WHATWG decoder, written as its state machine and not as a table of ranges.
std::u32string decoded(std::string_view bytes) {
  std::u32string out;
  char32_t code = 0;
  int needed = 0;
  int seen = 0;
  unsigned least = 0x80;
  unsigned most = 0xBF;
  for (std::size_t i = 0; i < bytes.size();) {
    const unsigned byte = static_cast<unsigned char>(bytes[i]);
    if (needed == 0) {
      ++i;
      if (byte < 0x80) {
        out += static_cast<char32_t>(byte);
      } else if (byte >= 0xC2 && byte <= 0xDF) {
        needed = 1;
        code = byte & 0x1FU;
      } else if (byte >= 0xE0 && byte <= 0xEF) {
        if (byte == 0xE0) least = 0xA0;
        if (byte == 0xED) most = 0x9F;
        needed = 2;
        code = byte & 0xFU;
      } else if (byte >= 0xF0 && byte <= 0xF4) {
        if (byte == 0xF0) least = 0x90;
        if (byte == 0xF4) most = 0x8F;
        needed = 3;
        code = byte & 0x7U;
      } else {
        out += U'\uFFFD';
      }
      continue;
    }
    if (byte < least || byte > most) {
      out += U'\uFFFD';  // and this byte is looked at again
      needed = seen = 0;
      least = 0x80;
      most = 0xBF;
      continue;
    }
    ++i;
    least = 0x80;
    most = 0xBF;
    code = code << 6U | (byte & 0x3FU);
    if (++seen == needed) {
      out += code;
      needed = seen = 0;
    }
  }
  if (needed != 0) out += U'\uFFFD';
  return out;
}

TEST(TextUnicode, EveryKindOfBrokenUtf8IsReadAsReplacementCharacters) {
  // One byte from each class that the decoder tells apart, in all sequences of four.
  const std::string bytes =
      "a\x80\x8F\x90\x9F\xA0\xBF\xC0\xC1\xC2\xDF\xE0\xE1\xED\xEF\xF0\xF1\xF4\xF5\xFF";
  for (const char a : bytes) {
    for (const char b : bytes) {
      for (const char c : bytes) {
        for (const char d : bytes) {
          const std::string text = {a, b, c, d};
          std::u32string read;
          for (std::size_t at = 0; at < text.size();) {
            const CodePoint next = read_utf8(text, at);
            read += next.value;
            at += next.size;
          }
          ASSERT_EQ(read, decoded(text)) << ::testing::PrintToString(text);
        }
      }
    }
  }
}

TEST(TextUnicode, BrokenUtf8HasTheVectorOfItsReplacement) {
  struct Case {
    std::string_view broken;
    std::string_view replaced;
  };
  for (const Case& c : {
           Case{"a\x80z", "a\uFFFDz"},  // a continuation byte alone
           Case{"a\xC3", "a\uFFFD"},    // cut at the end
           Case{"a\xC3z", "a\uFFFDz"},  // cut by a letter
           Case{"\xE2\x82", "\uFFFD"},  // one for a maximal subpart
           Case{"\xF0\x9F\x98", "\uFFFD"},
           Case{"\xC0\xAF", "\uFFFD\uFFFD"},  // over-long
           Case{"\xE0\x80\xAF", "\uFFFD\uFFFD\uFFFD"},
           Case{"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},            // a surrogate
           Case{"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // above U+10FFFF
           Case{"\xF8\x88\x80\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"},
           Case{"\xFE\xFF", "\uFFFD\uFFFD"},
           Case{"e\xCC\x81\xCC", "\u00E9\uFFFD"},
       }) {
    EXPECT_EQ(encode(c.broken), encode(c.replaced));
    EXPECT_EQ(encode(encoder_of("all"), c.broken), encode(encoder_of("all"), c.replaced));
  }
}

TEST(TextUnicode, EveryByteStringHasAVector) {
  testing::Random random(3);
  const Encoder encoder = encoder_of("all", 64);
  for (int i = 0; i < 5000; ++i) {
    std::string text(random.below(40), ' ');
    for (char& c : text) c = static_cast<char>(random.bits());
    double squares = 0.0;
    for (const float x : encode(encoder, text)) squares += double{x} * double{x};
    ASSERT_NEAR(squares, 1.0, 1e-6);
  }
}

// --- long texts ---------------------------------------------------------------------------------

TEST(Text, AMegabyteOfAnythingHasAVector) {
  for (const std::string_view part :
       {"a", "word ", "\u0301", "\u0301\u0323", "用", "\xff", "<", "12:", "é"}) {
    std::string text;
    while (text.size() < 1'000'000) text += part;
    const std::vector<float> vector = encode(encoder_of("all"), text);
    double squares = 0.0;
    for (const float x : vector) squares += double{x} * double{x};
    EXPECT_NEAR(squares, 1.0, 1e-6) << part;
  }
}

TEST(Text, OfAsciiIsEncodedWithoutAllocating) {
  const Encoder encoder = encoder_of("all");
  std::string text;
  while (text.size() < 100'000) text += "12:00:01 word 42 /a/b 10.0.0.1 <number> x=y ";
  std::vector<float> vector(256);
  const testing::AllocationWatch watch;
  EXPECT_TRUE(encoder.encode(text, vector));
  EXPECT_TRUE(encoder.encode("", vector));
  EXPECT_EQ(watch.count(), 0U);
}

TEST(Text, OfHostileBytesTakesBoundedMemory) {
  const Encoder encoder = encoder_of("all");
  for (const std::string_view part :
       {"\xff", "\u0301\u0323", "\u0344\u0323", "\u1F82", "\U0001D160", "\uAC01", "用"}) {
    std::string text;
    while (text.size() < 100'000) text += part;
    std::vector<float> vector(256);
    const testing::AllocationWatch watch;
    EXPECT_TRUE(encoder.encode(text, vector));
    // A buffer that grows by doubling has had as much before as it has now.
    EXPECT_LE(watch.largest(), 6 * text.size()) << part;
    EXPECT_LE(watch.bytes(), 14 * text.size()) << part;
  }
}

TEST(Text, ALongWordIsHeldInParts) {  // longer than the trigrams that are held back
  const std::string word(500, 'q');
  EXPECT_NE(encode(word), encode(word + "r"));
  EXPECT_GT(cosine(encode("x " + word + " y"), encode("x " + word + "r y")), .5F);
  EXPECT_EQ(encode(encoder_of("all"), word + "5 " + word),
            encode(encoder_of("all"), word + "6 " + word));
}

// --- settings and ids ---------------------------------------------------------------------------

Status create_status(EncoderConfig config) {
  return Encoder::create(std::move(config)).status;
}

Pattern own_pattern(std::string name, std::string source) {
  return {std::move(name), std::move(source),
          [](std::string_view, std::size_t) { return Range{}; }};
}

TEST(EncoderConfigs, OutOfRangeAreRefusedAtTheirField) {
  for (const std::uint32_t dimension : {0U, 15U, 4097U, 0xFFFFFFFFU}) {
    EncoderConfig config;
    config.dimension = dimension;
    EXPECT_EQ(create_status(config).code, Error::bad_config);
    EXPECT_EQ(create_status(config).pointer, "/dimension");
  }
  for (const std::uint32_t dimension : {16U, 17U, 4096U}) {
    EncoderConfig config;
    config.dimension = dimension;
    EXPECT_TRUE(create_status(config));
  }
  EncoderConfig config;
  config.seed = std::uint64_t{1} << 53U;
  EXPECT_EQ(create_status(config).pointer, "/seed");
  config.seed -= 1;
  EXPECT_TRUE(create_status(config));
}

TEST(EncoderConfigs, OwnMasksNeedAGoodNameOfTheirOwnAndAFunction) {
  const auto status = [](std::vector<Pattern> own) {
    EncoderConfig config;
    config.masks.own = std::move(own);
    return create_status(config);
  };
  EXPECT_TRUE(status({own_pattern("order", "x"), own_pattern("o_2", "x")}));
  EXPECT_TRUE(status({own_pattern(std::string(32, 'a'), "x")}));
  const std::vector<std::string> bad_names = {
      "", "Order", "2x", "_x", "a-b", "a b", "a>", "é", std::string(33, 'a'), "number", "path"};
  for (const std::string& name : bad_names) {
    EXPECT_EQ(status({own_pattern(name, "x")}).code, Error::bad_config) << name;
    EXPECT_EQ(status({own_pattern(name, "x")}).pointer, "/masks/own/0/name") << name;
  }
  EXPECT_EQ(status({own_pattern("a", "x"), own_pattern("a", "y")}).pointer, "/masks/own/1/name");
  EXPECT_EQ(status({{"a", "x", nullptr}}).pointer, "/masks/own/0/find");
}

TEST(EncoderIds, SpellOutEverythingAndComeBack) {
  EXPECT_EQ(Encoder().id(), "dpcache-text/1 dimension=256 seed=0 masks=none");
  EXPECT_EQ(encoder_of("path,number", 128, 7).id(),
            "dpcache-text/1 dimension=128 seed=7 masks=number,path");
  std::vector<std::string> ids;
  for (const std::string_view masks : {"none", "all", "number", "hex,ip"}) {
    for (const std::uint32_t dimension : {16U, 256U, 4096U}) {
      for (const std::uint64_t seed :
           {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 53U) - 1}) {
        const Encoder encoder = encoder_of(masks, dimension, seed);
        const auto back = Encoder::from_id(encoder.id());
        ASSERT_TRUE(back) << encoder.id();
        EXPECT_EQ(back->id(), encoder.id());
        EXPECT_EQ(encode(*back, "the 5th of /x"), encode(encoder, "the 5th of /x"));
        for (const std::string& other : ids) EXPECT_NE(other, encoder.id());
        ids.push_back(encoder.id());
      }
    }
  }
}

TEST(EncoderIds, OwnMasksAreNamedByAHashOfTheirNamesSourcesAndOrder) {
  const auto with = [](std::vector<Pattern> own) {
    EncoderConfig config;
    config.masks.own = std::move(own);
    return Encoder::create(config)->id();
  };
  const std::vector<std::string> ids = {
      with({}),
      with({own_pattern("a", "x")}),
      with({own_pattern("a", "y")}),
      with({own_pattern("b", "x")}),
      with({own_pattern("ax", "")}),
      with({own_pattern("a", "x"), own_pattern("b", "y")}),
      with({own_pattern("b", "y"), own_pattern("a", "x")}),
      with({own_pattern("a", "xb"), own_pattern("y", "")}),
  };
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(ids[i], ids[j]);
  }
  const std::vector<Pattern> own = {own_pattern("a", "x")};
  const auto back = Encoder::from_id(ids[1], own);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->id(), ids[1]);
  EXPECT_EQ(Encoder::from_id(ids[1]).status.code, Error::encoder_mismatch);
  EXPECT_EQ(Encoder::from_id(ids[2], own).status.code, Error::encoder_mismatch);
  EXPECT_EQ(Encoder::from_id(ids[0], own).status.code, Error::encoder_mismatch);
  EXPECT_EQ(Encoder::from_id(ids[1], {own_pattern("A", "x")}).status.code, Error::bad_config);
}

TEST(EncoderIds, OfOtherVersionsAreAMismatchAndAnythingElseIsNoId) {
  for (const std::string_view id :
       {"dpcache-text/2 dimension=256 seed=0 masks=none", "dpcache-text/10 anything",
        "dpcache-text/0", "dpcache-text/"}) {
    EXPECT_EQ(Encoder::from_id(id).status.code, Error::encoder_mismatch) << id;
  }
  for (const std::string_view id :
       {""sv,
        "text"sv,
        "dpcache-text"sv,
        "dpcache-text/1"sv,
        "dpcache-text/1 "sv,
        "dpcache-text/1 dimension=256"sv,
        "dpcache-text/1 dimension=256 seed=0"sv,
        "dpcache-text/1 dimension=256 seed=0 masks="sv,
        "dpcache-text/1 dimension=256 seed=0 masks=numbers"sv,
        "dpcache-text/1 dimension=256 seed=0 masks=path,number"sv,  // not as this encoder spells it
        "dpcache-text/1 dimension=0256 seed=0 masks=none"sv,
        "dpcache-text/1 dimension=-1 seed=0 masks=none"sv,
        "dpcache-text/1 dimension=8 seed=0 masks=none"sv,
        "dpcache-text/1 dimension=99999999999 seed=0 masks=none"sv,
        "dpcache-text/1 dimension=256 seed=9007199254740992 masks=none"sv,
        "dpcache-text/1 dimension=256 seed=0 masks=none "sv,
        "dpcache-text/1 dimension=256 seed=0 masks=none own="sv,
        "dpcache-text/1 dimension=256 seed=0 masks=none x=1"sv,
        "dpcache-text/1  dimension=256 seed=0 masks=none"sv,
        "dpcache-text/1 seed=0 dimension=256 masks=none"sv,
        "dpcache-text/1 dimension=256 seed=0 masks=none\0"sv}) {
    EXPECT_EQ(Encoder::from_id(id).status.code, Error::bad_request) << id;
  }
}

// --- the same bits ------------------------------------------------------------------------------

struct Golden {
  std::string_view text;
  std::uint64_t unmasked;  // hash64 of the vector's bytes, d = 256, seed 0
  std::uint64_t masked;    // the same with all masks, d = 100, seed 5
};

std::uint64_t hash_of(const std::vector<float>& vector) {
  return hash64(std::as_bytes(std::span(vector)), 0);
}

constexpr Golden kGolden[] = {
    {""sv, 0x47917A4B4FFEC8CE, 0xA8B46A2B48C2C8BC},
    {" "sv, 0x47917A4B4FFEC8CE, 0xA8B46A2B48C2C8BC},
    {"a"sv, 0x22C07BA0325ABCDD, 0x87EB0E7D32FDE666},
    {"A"sv, 0xF12E80B6340AAA04, 0x4D4E0C5A44A61F1A},
    {"ab"sv, 0xCCAAAEA5E4A43F53, 0x274C6C90030F39BD},
    {"-"sv, 0x03B7569EC98BF7EE, 0xC262624C16906C54},
    {"\0"sv, 0x75BB5A1A0D918C98, 0x93398D20AA774255},
    {"0"sv, 0x93B46B5DE8B9828E, 0x20D7A6F925F1EF11},
    {"hello world"sv, 0x2A05D45CE669F3F5, 0xDCF51538D548A5A1},
    {"Hello, world!"sv, 0x36A08AD09714B2E2, 0x09BA0845591FB8E1},
    {"The quick brown fox jumps over the lazy dog"sv, 0x32B5AA8CFF922C90, 0xBC3D9740A275759E},
    {"There are 37 snapshots available"sv, 0x67F9933ADEC479F8, 0xB8EC7163A524A7D3},
    {"What is 1+1?"sv, 0x1F0C49093041A375, 0x3D2CB46B43E5FAE8},
    {"[Sun Dec 04 20:32:37 2005] [error] mod_jk child workerEnv in error state 6"sv,
     0x83F796C6A998FEDB, 0x79287BCA8BCF99A8},
    {"081110 220637 32 INFO dfs.DataNode: Received block blk_-7541 from /10.251.214.32"sv,
     0x0DB30EC2DAD489D7, 0xFCA0B7A007701816},
    {"Jul  9 12:16:49 combo sshd(pam_unix)[23142]: session opened for user root by (uid=0)"sv,
     0x83C73B7424297BF9, 0x11A951BF10E71131},
    {"2026-11-29T12:00:00.5+02:00 WARN id=550e8400-e29b-41d4-a716-446655440000"sv,
     0x80911EB177D31730, 0xB9AAA67E13EFF0F6},
    {"GET https://host/x?a=1 0xBEEF deadbeef1 fe80::1 00:1b:44:11:3a:b7 C:\\x\\y"sv,
     0xE32753B622F4108F, 0x40966EE4A960A76A},
    {"{\"ts\":\"2026-01-01T00:00:00Z\",\"level\":\"info\",\"msg\":\"started\"}"sv,
     0x1A7CFFD5A08869EE, 0xA21517F20BDBEBC4},
    {"a=1,b=2;c=3|d=4 (e) [f] {g} <h>"sv, 0x373239B283921C3B, 0xB89AF940F16E8EE3},
    {"<number> <hex> <ip> <uuid> <time> <path> <own>"sv, 0x444BB728F347C532, 0xA0A6B02A0080261E},
    {"one  two\tthree\nfour\r\n"sv, 0x01C90941CCB81082, 0x33747143FD0F0EE7},
    {"supercalifragilisticexpialidocious"sv, 0x4B88FF30D12C2F96, 0x7B65C3A015E4CBDA},
    {"pneumonoultramicroscopicsilicovolcanoconiosis_pneumonoultramicroscopicsilicovolcanoconiosis"sv,
     0x633DCA4B2C4E50FB, 0x5F5991AD7213A0CA},
    {"Caf\u00E9 cr\u00E8me"sv, 0x2EDEA8CCE6A441EA, 0x04C796DF259B2755},
    {"Cafe\u0301 cre\u0300me"sv, 0x2EDEA8CCE6A441EA, 0x04C796DF259B2755},
    {"\u1E69\u0323 \u1E0B\u0323"sv, 0xC773AF4261FE452E, 0x171BFE39827526A7},
    {"\uD55C\uAE00 \uC0AC\uC6A9\uC790"sv, 0x6E6DCCA202407EB1, 0x4C0626158EA0DA4E},
    {"\u7528\u6237\u5C0F\u738B\u767B\u5F55\u6210\u529F"sv, 0x775659A0042C551A, 0xBD0DAA2904732F9B},
    {"\u3053\u3093\u306B\u3061\u306F\u3001\u4E16\u754C"sv, 0x649EC02CBB9AAD63, 0xF9021B760D4366E2},
    {"\u041E\u0448\u0438\u0431\u043A\u0430 \u0447\u0442\u0435\u043D\u0438\u044F \u0444\u0430\u0439\u043B\u0430 42"sv,
     0x9FE12294454D2F48, 0xB6912D8A59818143},
    {"\u0645\u0631\u062D\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645"sv,
     0x0A6530E05D91F1C7, 0x9445C54FBAB06448},
    {"\u0928\u092E\u0938\u094D\u0924\u0947 \u0926\u0941\u0928\u093F\u092F\u093E"sv,
     0x47F98D87EED85A0B, 0x3AEC3513A6EB20E4},
    {"\U0001F600\U0001F468\u200D\U0001F469\u200D\U0001F467"sv, 0x0CAB67E3A4685E5A,
     0x81D1FB035A5B3F32},
    {"\U0002F800\uFACF\U0001D160"sv, 0xF997A85280921880, 0xB9AA33246EAB299E},
    {"\u00A0\u3000"sv, 0x47917A4B4FFEC8CE, 0xA8B46A2B48C2C8BC},
    {"\uFFFD"sv, 0x8C0C255593D4112C, 0xE724AB744C4BB080},
    {"\xFF"sv, 0x8C0C255593D4112C, 0xE724AB744C4BB080},
    {"\xC0\xAF \xED\xA0\x80 \xF4\x90\x80\x80 \xE2\x82"sv, 0xB2BF5DAD96A7B685, 0x5DA84015281DE655},
    {"nul\0in the\0middle"sv, 0x6718ED4FEFF25ADC, 0xEEA6EDE61C937F89},
    {"a a a a a a a a a a a a a a a a a a a a"sv, 0x3FB12B8FFC62FCC5, 0x6EED779978759A56},
    {"1.5e-3 -42 +7 10,000 3.14.15 5ms"sv, 0xF0EDB7E0453347F2, 0x20D7A6F925F1EF11},
};

TEST(TextBits, AreThoseOfEveryPlatform) {
  const Encoder unmasked = encoder_of("none");
  const Encoder masked = encoder_of("all", 100, 5);
  std::string found;
  for (const Golden& golden : kGolden) {
    const std::uint64_t hashes[] = {hash_of(encode(unmasked, golden.text)),
                                    hash_of(encode(masked, golden.text))};
    EXPECT_EQ(hashes[0], golden.unmasked) << golden.text;
    EXPECT_EQ(hashes[1], golden.masked) << golden.text;
    std::array<char, 64> line{};
    std::snprintf(line.data(), line.size(), "0x%016llX, 0x%016llX\n",
                  static_cast<unsigned long long>(hashes[0]),
                  static_cast<unsigned long long>(hashes[1]));
    found += line.data();
  }
  if (HasFailure()) std::printf("found:\n%s", found.c_str());
}

}  // namespace
}  // namespace dpcache
