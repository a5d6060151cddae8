// The library's JSON against nlohmann/json, and its digits against printf and strtod.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "digits.h"
#include "json_oracle.h"
#include "json_text.h"
#include "native/support.h"

namespace dpcache {
namespace {

using testing::Random;

std::string printed(const char* format, int precision, double x) {
  std::vector<char> text(2000);
  std::snprintf(text.data(), text.size(), format, precision, x);
  return text.data();
}

// --- Digits

double any_double(Random& random) {
  for (;;) {
    const auto x = std::bit_cast<double>(random.bits());
    if (std::isfinite(x)) return x;
  }
}

void expect_parsed(const std::string& text) {
  const double expected = std::strtod(text.c_str(), nullptr);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(parse_decimal(text)),
            std::bit_cast<std::uint64_t>(expected))
      << text;
}

TEST(Digits, ParseRoundsAsStrtodDoes) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const double x = any_double(random);
    expect_parsed(printed("%.*e", static_cast<int>(random.below(25)), x));
    expect_parsed(std::to_string(random.bits()) + "e" +
                  std::to_string(static_cast<int>(random.below(660)) - 340));
  }
  for (const char* text : {"0",
                           "-0",
                           "0.0",
                           "-0.000e5",
                           "0e999999999999999999999",
                           "1e400",
                           "-1e400",
                           "1e-400",
                           "1e99999999999999999999999",
                           "1e-99999999999999999999999",
                           "0.1e1",
                           "100E-2",
                           "1E+2",
                           "4.9e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "1e-323",
                           "1e-325",
                           "2.2250738585072011e-308",
                           "2.2250738585072014e-308",
                           "1.7976931348623157e308",
                           "1.7976931348623158e308",
                           "1.797693134862315807e308",
                           "1.797693134862315808e308",
                           "1.7976931348623159e308",
                           "2e308",
                           "9.9e308",
                           "1e309",
                           "9007199254740993",
                           "9007199254740993.00000000000000000000000000000000000000000000000000001",
                           "123456789012345678901234567890",
                           "0.000000000000000000000000000000000001"}) {
    expect_parsed(text);
  }
}

// A double and its neighbour meet at a decimal of up to 767 digits; one more digit decides.
TEST(Digits, ParseRoundsHalfToEvenAtAnyLength) {
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    const auto bits = random.bits() >> 1U;
    const auto x = std::bit_cast<double>(i % 10 == 0 ? bits >> (11 + random.below(50)) : bits);
    if (!std::isfinite(x)) continue;
    const std::uint64_t fraction =
        std::bit_cast<std::uint64_t>(x) & ((std::uint64_t{1} << 52U) - 1);
    const int field = static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52U);
    // Half a unit above x: an odd integer of 54 bits times a power of two, spelled exactly.
    const std::uint64_t odd = 2 * (fraction | (field == 0 ? 0 : std::uint64_t{1} << 52U)) + 1;
    int exponent = std::max(field, 1) - 1076;
    std::string digits = std::to_string(odd);
    int point = 0;  // digits behind the point
    const auto times = [&digits](int factor) {
      int carry = 0;
      for (auto at = digits.rbegin(); at != digits.rend(); ++at) {
        carry += (*at - '0') * factor;
        *at = static_cast<char>('0' + carry % 10);
        carry /= 10;
      }
      if (carry != 0) digits.insert(digits.begin(), static_cast<char>('0' + carry));
    };
    for (; exponent > 0; --exponent) times(2);
    for (; exponent < 0; ++exponent, ++point) times(5);
    const std::string ten_to = "e-" + std::to_string(point);
    expect_parsed(digits + ten_to);
    expect_parsed(digits + std::string(random.below(300), '0') + ".0" + ten_to);
    expect_parsed(digits + "." + std::string(random.below(900), '0') + "1" + ten_to);
    if (digits.back() == '0') continue;
    std::string below = digits;
    --below.back();
    expect_parsed(below + "." + std::string(random.below(900), '9') + ten_to);
  }
}

TEST(Digits, ParseTakesTextsOfAnyLength) {
  expect_parsed("0." + std::string(100000, '0') + "1e100000");
  expect_parsed("1" + std::string(100000, '0') + "e-100000");
  expect_parsed(std::string(400, '7'));
  expect_parsed(std::string(400, '7') + "e-200");
  expect_parsed("0." + std::string(300, '0') + std::string(400, '3'));
}

TEST(Digits, DecimalIsWhatPrintfMakesOfIt) {
  Random random(3);
  for (int i = 0; i < 3000; ++i) {
    double x = any_double(random);
    if (i % 3 == 0) x = static_cast<double>(random.below(2000)) / 8.0;  // many lie half way
    if (i % 3 == 1) x = static_cast<double>(random.below(2000000)) / 1e9;
    for (int digits = 1; digits <= 17; ++digits) {
      EXPECT_EQ(decimal(x, digits), printed("%.*g", digits, x));
    }
  }
  for (const double x : {0.0, -0.0, 9.5, 99.5, 999.5, 0.00099999, 1e-4, 9.9995e-5, 1e22, 5e-324,
                         std::numeric_limits<double>::max()}) {
    for (int digits = 1; digits <= 17; ++digits) {
      EXPECT_EQ(decimal(x, digits), printed("%.*g", digits, x));
    }
  }
}

TEST(Digits, ShortestIsTheFirstThatPrintfAndStrtodGiveBack) {
  Random random(4);
  std::size_t longer = 0;
  constexpr int kFloats = 30000;
  for (int i = 0; i < kFloats; ++i) {
    auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
    if (i % 3 == 0) x = static_cast<float>(random.below(100000)) / 1e5F;
    if (i % 3 == 1) x = static_cast<float>(random.below(1U << 24U)) / 4.0F;
    if (!std::isfinite(x)) continue;
    double value = 0.0;
    for (int digits = 1; digits <= 9; ++digits) {
      value = std::strtod(printed("%.*g", digits, static_cast<double>(x)).c_str(), nullptr);
      if (static_cast<float>(value) == x) break;
    }
    std::string text = shortest_decimal(x);
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
    // nlohmann/json spells a double in the same way, but now and then in 17 digits where fewer do.
    JsonObject object;
    object.number("x", x);
    const std::string ours = std::move(object).text();
    const std::string theirs = "{\"x\":" + oracle::Json(value).dump() + "}";
    if (ours == theirs) continue;
    EXPECT_LT(ours.size(), theirs.size()) << theirs;
    ++longer;
  }
  EXPECT_LT(longer, kFloats / 100U);
}

TEST(Digits, HexHasSixteenDigits) {
  EXPECT_EQ(hex(0), "0000000000000000");
  EXPECT_EQ(hex(0x0123456789ABCDEFULL), "0123456789abcdef");
}

// --- Reading

void expect_read_alike(const std::string& text) {
  ASSERT_EQ(oracle::tokens_of(text), oracle::expected_tokens(text))
      << ::testing::PrintToString(text);
}

// All texts of a few bytes from those that the grammar tells apart.
TEST(JsonReader, ReadsEveryShortTextAsTheOracle) {
  constexpr std::string_view kBytes = "{}[]\":,0-1.eE+ \\u\x7f";
  constexpr std::size_t kLongest = 4;
  for (std::size_t length = 0; length <= kLongest; ++length) {
    std::size_t count = 1;
    for (std::size_t i = 0; i < length; ++i) count *= kBytes.size();
    for (std::size_t n = 0; n < count; ++n) {
      std::string text;
      for (std::size_t i = 0, rest = n; i < length; ++i, rest /= kBytes.size()) {
        text += kBytes[rest % kBytes.size()];
      }
      expect_read_alike(text);
      if (length <= 3) expect_read_alike("[" + text + "]");
      if (length <= 3) expect_read_alike("{\"a\":" + text + "}");
      if (length <= 3) expect_read_alike("\"" + text + "\"");
    }
  }
}

class Generator {
 public:
  explicit Generator(Random& random) : random_(random) {}

  std::string value(int depth) {
    static constexpr std::array kPlain = {"null", "true", "false", "0", "-0", "{}", "[]", "\"\""};
    const std::size_t kind = random_.below(depth > 0 ? 9 : 6);
    if (kind == 0) return kPlain[random_.below(kPlain.size())];
    if (kind < 4) return number();
    if (kind < 6) return string();
    std::string out = kind == 6 ? "[" : "{";
    const std::size_t count = random_.below(4);
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out += blank() + ",";
      if (kind != 6) out += blank() + string() + blank() + ":";
      out += blank() + value(depth - 1);
    }
    return out + blank() + (kind == 6 ? "]" : "}");
  }

 private:
  std::string blank() {
    static constexpr std::array kBlanks = {"", "", "", " ", "\n", "\t\r ", "  "};
    return kBlanks[random_.below(kBlanks.size())];
  }
  std::string number() {
    const std::uint64_t bits = random_.bits() >> random_.below(64);
    switch (random_.below(6)) {
      case 0:
        return std::to_string(bits);
      case 1:
        return "-" + std::to_string(bits);
      case 2:  // about 2^63 and 2^64
        return (random_.below(2) == 0 ? "-" : "") +
               std::string(random_.below(2) == 0 ? "922337203685477580" : "1844674407370955161") +
               std::to_string(random_.below(20));
      case 3:
        return std::to_string(bits) + "." + std::to_string(random_.bits());
      case 4:
        return std::to_string(random_.below(100)) + (random_.below(2) == 0 ? "e" : "E-") +
               std::to_string(random_.below(400));
      default:
        return printed("%.*g", 1 + static_cast<int>(random_.below(17)), any_double(random_));
    }
  }
  std::string string() {
    static constexpr std::array kParts = {"a",
                                          "key",
                                          " ",
                                          "\\n",
                                          "\\\"",
                                          "\\\\",
                                          "\\/",
                                          "\\u0000",
                                          "\\u00e9",
                                          "\\uD83D",
                                          "\\uDE00",
                                          "\\uFFFF",
                                          "\xC3\xA9",
                                          "{",
                                          "\x7f",
                                          "\\ud7ff",
                                          "\\b\\f\\r\\t",
                                          "\xEF\xBF\xBD",
                                          "\xF0\x9F\x98\x80",
                                          "\\uD83D\\uDE00"};
    std::string out = "\"";
    for (std::size_t left = random_.below(5); left > 0; --left) {
      out += kParts[random_.below(kParts.size())];
    }
    return out + '"';
  }

  Random& random_;
};

TEST(JsonReader, ReadsGeneratedAndMutatedTextsAsTheOracle) {
  static constexpr std::array kPieces = {"{",
                                         "}",
                                         "[",
                                         "]",
                                         ",",
                                         ":",
                                         "\"",
                                         "\\u",
                                         "-",
                                         ".",
                                         "e",
                                         "0",
                                         "null",
                                         "tru",
                                         " ",
                                         "\xEF\xBB\xBF",
                                         "//",
                                         "\xC3",
                                         "\xED\xA0\x80",
                                         "\xF4\x90\x80\x80",
                                         "\xC0\x80",
                                         "\x01",
                                         "\xE2\x82",
                                         "NaN",
                                         "1e999"};
  Random random(5);
  Generator generator(random);
  for (int i = 0; i < 20000; ++i) {
    std::string text = generator.value(4);
    expect_read_alike(text);
    for (std::size_t left = 1 + random.below(3); left > 0; --left) {
      const std::size_t at = random.below(text.size() + 1);
      switch (random.below(3)) {
        case 0:
          text.erase(at, 1 + random.below(2));
          break;
        case 1:
          text.insert(at, kPieces[random.below(kPieces.size())]);
          break;
        default:
          if (at < text.size()) text[at] = static_cast<char>(random.bits());
      }
      expect_read_alike(text);
    }
  }
}

TEST(JsonReader, PassesOverAByteOrderMarkInFrontOnly) {
  EXPECT_TRUE(oracle::tokens_of("\xEF\xBB\xBF{}"));
  EXPECT_FALSE(oracle::tokens_of("{\xEF\xBB\xBF}"));
  EXPECT_FALSE(oracle::tokens_of("\xEF\xBB\xBF\xEF\xBB\xBF{}"));
}

TEST(JsonReader, RefusesNulBytesAnywhere) {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {"\0"sv, "{}\0"sv, "\0{}"sv, "\"\0\""sv, "[1,\0]"sv, "1\0"sv}) {
    EXPECT_FALSE(oracle::tokens_of(text));
  }
}

TEST(JsonReader, GoesAnyDepth) {
  constexpr std::size_t kDepth = 1000000;
  const std::string open(kDepth, '[');
  EXPECT_TRUE(oracle::tokens_of(open + std::string(kDepth, ']')));
  EXPECT_FALSE(oracle::tokens_of(open + std::string(kDepth - 1, ']')));
  EXPECT_FALSE(oracle::tokens_of(open));
}

TEST(JsonReader, FindsNothingBehindAFault) {
  JsonReader reader("[1,] []");
  EXPECT_EQ(reader.next(), JsonToken::begin_array);
  EXPECT_EQ(reader.next(), JsonToken::natural);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(reader.next(), JsonToken::fault);
}

TEST(JsonReader, SaysWhereATokenEnds) {
  const std::string_view text = "{ \"a\" : [1] }";
  JsonReader reader(text);
  EXPECT_EQ(reader.next(), JsonToken::begin_object);
  EXPECT_EQ(reader.position(), 1U);
  EXPECT_EQ(reader.next(), JsonToken::key);
  EXPECT_EQ(reader.position(), text.find(':') + 1);
  EXPECT_EQ(reader.next(), JsonToken::begin_array);
  EXPECT_EQ(reader.next(), JsonToken::natural);
  EXPECT_EQ(reader.next(), JsonToken::end_array);
  EXPECT_EQ(reader.position(), text.find(']') + 1);
}

// --- Writing

TEST(JsonObject, QuotesAsTheOracle) {
  Random random(6);
  static constexpr std::array kPieces = {
      "\xC3", "\xA9", "\xE2\x82\xAC", "\xED", "\xA0", "\xF0\x9F", "\x98\x80",
      "\"",   "\\",   "\n",           "\x01", "\x1f", "a",        "\x7f"};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t left = random.below(12); left > 0; --left) {
      if (random.below(3) == 0) {
        text += static_cast<char>(random.bits());
      } else {
        text += kPieces[random.below(kPieces.size())];
      }
    }
    std::string quoted;
    append_quoted(text, quoted);
    ASSERT_EQ(quoted, oracle::expected_quoted(text)) << ::testing::PrintToString(text);
  }
}

TEST(JsonObject, WritesEachKindOfField) {
  JsonObject object;
  object.natural("n", std::numeric_limits<std::uint64_t>::max());
  object.integer("i", std::numeric_limits<std::int64_t>::min());
  object.number("a", 0.4F);
  object.number("b", -1024.0F);
  object.number("c", 1e-5F);
  object.number("d", -0.0F);
  object.number("e", 1e20F);
  object.number("f", std::numeric_limits<float>::quiet_NaN());
  object.number("g", std::numeric_limits<float>::infinity());
  object.boolean("y", true);
  object.string("\"", "\t");
  object.raw("r", "[]");
  EXPECT_EQ(std::move(object).text(),
            R"({"n":18446744073709551615,"i":-9223372036854775808,"a":0.4,"b":-1024.0,"c":1e-05,)"
            R"("d":-0.0,"e":1e+20,"f":null,"g":null,"y":true,"\"":"\t","r":[]})");
  EXPECT_EQ(JsonObject().text(), "{}");
}

}  // namespace
}  // namespace dpcache
