// The masks: what each one replaces and what it leaves, that masking twice changes nothing more,
// that the pass is linear on hostile texts (by counted reads), and the caller's own masks.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dpcache/text.h"
#include "native/support.h"
#include "text/mask_scan.h"

namespace dpcache {
namespace {

Encoder encoder_with(std::string_view names, std::vector<Pattern> own = {}) {
  EncoderConfig config;
  config.masks = *Masks::parse(names);
  config.masks.own = std::move(own);
  auto encoder = Encoder::create(config);
  EXPECT_TRUE(encoder) << encoder.status.detail;
  return *encoder;
}

std::string mask(std::string_view names, std::string_view text) {
  return *encoder_with(names).mask(text);
}

struct Case {
  std::string_view text;
  std::string_view masked;
};

void expect_all(std::string_view names, std::initializer_list<Case> cases) {
  const Encoder encoder = encoder_with(names);
  for (const Case& c : cases) EXPECT_EQ(*encoder.mask(c.text), c.masked) << "'" << c.text << "'";
}

TEST(Masks, NumbersAreReplacedWhereverTheyStand) {
  expect_all("number", {
                           {"42", "<number>"},
                           {"There are 37 snapshots", "There are <number> snapshots"},
                           {"-3.5 +7", "<number> <number>"},
                           {"1e9 1e-9 2.5E+10", "<number> <number> <number>"},
                           {"10,000 and 1.2.3", "<number> and <number>"},
                           {"5ms 10KB 3rd", "<number> <number> <number>"},
                           {"blk_42 node-7 jk2_init", "blk_<number> node-<number> jk<number>_init"},
                           {"blk_-42", "blk_<number>"},
                           {"a1b2", "a<number>"},
                           {"x=5,y=-6", "x=<number>,y=<number>"},
                           {"5-3", "<number>-<number>"},
                           {"5. 6, (7)", "<number>. <number>, (<number>)"},
                           {"37个", "<number>个"},
                           {"0xBEEF", "<number>"},
                       });
}

TEST(Masks, NumbersLeaveWordsAndLoneSigns) {
  expect_all("number", {{"no digits at all", "no digits at all"},
                        {"- + -- a-b", "- + -- a-b"},
                        {"٣ Ⅷ ½", "٣ Ⅷ ½"},  // only ASCII digits are digits
                        {"", ""}});
}

TEST(Masks, HexIsReplacedWithAPrefixOrWithDigitAndLetterInSix) {
  expect_all("hex", {
                        {"0x0 0xBEEF 0Xff", "<hex> <hex> <hex>"},
                        {"deadbeef1", "<hex>"},
                        {"a1b2c3 31bf3856ad364e35", "<hex> <hex>"},
                        {"Foo@1a2b3c4d", "Foo@<hex>"},
                        {"#ff00aa", "#<hex>"},
                        {"00:1b:44:11:3a:b7 00-1B-44-11-3A-B7", "<hex> <hex>"},
                    });
  expect_all("hex", {
                        {"facade 123456", "facade 123456"},  // a word; a number
                        {"a1b2c 0x 0xfz", "a1b2c 0x 0xfz"},
                        {"a1b2c3x", "a1b2c3x"},
                        {"00:1b:44:11:3a", "00:1b:44:11:3a"},
                        {"00:1b:44:11:3a:b7:c8", "00:1b:44:11:3a:b7:c8"},
                    });
}

TEST(Masks, AddressesAreReplacedWithTheirPort) {
  expect_all("ip", {
                       {"10.251.91.84 10.251.91.84:50010", "<ip> <ip>"},
                       {"src: /10.0.0.1:80, dest", "src: /<ip>, dest"},
                       {"from 10.0.0.1.", "from <ip>."},
                       {"10.0.0.1:abc", "<ip>:abc"},
                       {"[::1] ::1 fe80::1", "[<ip>] <ip> <ip>"},
                       {"2001:0db8:85a3:0000:0000:8a2e:0370:7334", "<ip>"},
                       {"0:0:0:0:0:0:0:0:2181", "<ip>"},
                       {"::ffff:192.0.2.1", "<ip>"},
                       {"2001:db8::", "<ip>"},
                       {"2001:db8::1: down", "<ip>: down"},
                   });
  expect_all("ip", {
                       {"256.1.1.1 1.2.3 1.2.3.4.5", "256.1.1.1 1.2.3 1.2.3.4.5"},
                       {"v1.2.3.4 1.2.3.4x", "v1.2.3.4 1.2.3.4x"},
                       {"12:30:45 std::byte a::b::c", "12:30:45 std::byte a::b::c"},
                       {"1:2:3:4:5:6:7 ::", "1:2:3:4:5:6:7 ::"},
                       {"1::2::3", "1::2::3"},
                   });
}

TEST(Masks, UuidsAreReplacedWhole) {
  expect_all("uuid", {
                         {"550e8400-e29b-41d4-a716-446655440000", "<uuid>"},
                         {"{550E8400-E29B-41D4-A716-446655440000}", "{<uuid>}"},
                         {"id_550e8400-e29b-41d4-a716-446655440000.log", "id_<uuid>.log"},
                     });
  expect_all("uuid",
             {
                 {"550e8400-e29b-41d4-a716-44665544000", "550e8400-e29b-41d4-a716-44665544000"},
                 {"550e8400-e29b-41d4-a716-4466554400001", "550e8400-e29b-41d4-a716-4466554400001"},
                 {"550e8400e29b41d4a716446655440000", "550e8400e29b41d4a716446655440000"},
             });
}

TEST(Masks, DatesAndTimesAreReplacedWhole) {
  for (const std::string_view text : {
           "2026-11-29",
           "2026/11/29",
           "2026.11.29",
           "29.11.2026",
           "11/29/2026",
           "17/06/09",
           "12:00",
           "12:00:01",
           "12:00:01.5",
           "12:00:01,045",
           "22:15:29:606",
           "3:45 PM",
           "3:45pm",
           "12:00:01Z",
           "12:00:01+02:00",
           "12:00:01 -0700",
           "12:00 UTC",
           "2026-11-29T12:00:00Z",
           "2026-11-29T12:00:00.123456+02:00",
           "2026-11-29 12:00:01,045",
           "2016/9/28:16:00:46.635",
           "2005-07-15-23.49.42.308319",
           "03-17 16:15:08.066",
           "07.26 13:30:49",
           "17/06/09 20:10:58",
           "20171223-22:15:29:606",
           "20261129T120001Z",
           "Nov 29",
           "November 29",
           "Jul  9",
           "Nov 29 2026",
           "Nov 29, 2026",
           "29 Nov 2026",
           "29/Nov/2026:12:00:01 -0700",
           "29-Nov-2026",
           "Jul  9 12:16:49",
           "Dec 10 07:28:03 2005",
           "Sun Dec 04 20:32:37 2005",
           "Sat Jul  9 12:16:49 CEST 2005",
           "Sun, 06 Nov 1994 08:49:37 GMT",
           "Sunday, November 6 1994",
       }) {
    EXPECT_EQ(mask("time", text), "<time>") << "'" << text << "'";
    EXPECT_EQ(mask("all", text), "<time>") << "'" << text << "'";
    const std::string within = "[" + std::string(text) + "] x, " + std::string(text) + ", y";
    EXPECT_EQ(mask("time", within), "[<time>] x, <time>, y") << "'" << within << "'";
  }
}

TEST(Masks, WhatOnlyLooksLikeATimeIsLeft) {
  for (const std::string_view text : {
           "1.2.3",      "10-11-12",   "1:1:1:1",      "12:60",        "25:00",    "12:00:61x",
           "2026-13-01", "2026-11-32", "2026-11-29-7", "2026.11.29.1", "may 5",    "Nov",
           "Nov 32",     "November",   "Sun",          "Sun 5",        "Marvin 5", "Novel 29",
           "12:00x",     "x12:00",     "123/45/6789",  "1/2",
       }) {
    EXPECT_EQ(mask("time", text), text);
  }
}

TEST(Masks, PathsAreReplacedWithoutThePunctuationAround) {
  expect_all("path", {
                         {"/var/log/x", "<path>"},
                         {"file /etc/passwd.", "file <path>."},
                         {"(/usr/bin)", "(<path>)"},
                         {"open '/a b'", "open '<path> b'"},
                         {"./run ../up ~/home", "<path> <path> <path>"},
                         {"C:\\x\\y c:/x", "<path> <path>"},
                         {"\\\\host\\share \\x\\y", "<path> <path>"},
                         {"see https://host/x?a=1#b, or", "see <path>, or"},
                         {"hdfs://10.10.34.11:9000/a/b.txt:0+7292", "<path>"},
                         {"/ü/文件", "<path>"},
                         {"key=/a/b;", "key=<path>;"},
                     });
  expect_all("path", {
                         {"and/or n/a 1/2 km/h", "and/or n/a 1/2 km/h"},
                         {"/ // a / b", "/ // a / b"},
                         {"</b> <br/>", "</b> <br/>"},
                         {"a\\nb \\n", "a\\nb \\n"},
                         {"http://", "http://"},
                         {"x: /...", "x: /..."},
                         {"std::cout", "std::cout"},
                     });
}

TEST(Masks, TheMoreParticularMaskComesFirst) {
  expect_all("all", {
                        {"[Sun Dec 04 20:32:37 2005] [error] [client 10.0.0.1] denied: /var/www",
                         "[<time>] [error] [client <ip>] denied: <path>"},
                        {"081110 220637 32 INFO blk_-1608999687919862906 to /10.251.39.209:50010",
                         "<number> <number> <number> INFO blk_<number> to /<ip>"},
                        {"0x1F 550e8400-e29b-41d4-a716-446655440000 00:1b:44:11:3a:b7 fe80::1",
                         "<hex> <uuid> <hex> <ip>"},
                        {"http://10.0.0.1/a 10.0.0.1/a", "<path> <ip>/a"},
                        {"user alice logged in from 10.0.0.1 in 42 ms",
                         "user alice logged in from <ip> in <number> ms"},
                    });
}

TEST(Masks, PlaceholdersOfMasksThatAreOnAreLeftAsTheyAre) {
  expect_all("number", {{"<number>", "<number>"},
                        {"a<number>5", "a<number><number>"},
                        {"<<number>>", "<<number>>"},
                        {"<number", "<number"},
                        {"<hex> <Number> <>", "<hex> <Number> <>"}});
}

TEST(Masks, BytesThatAreNoTextPassThrough) {
  using namespace std::string_view_literals;
  expect_all("all", {{"a\0b 5\0 6"sv, "a\0b <number>\0 <number>"sv}, {"\0"sv, "\0"sv}});
  // Invalid UTF-8 is seen as U+FFFD.
  expect_all("all", {{"\xff 5", "\xEF\xBF\xBD <number>"}, {"5\xC3", "<number>\xEF\xBF\xBD"}});
}

TEST(Masks, CombinedAndDecomposedLettersAreMaskedAlike) {
  EXPECT_EQ(mask("all", "5\u00E9"), mask("all", "5e\u0301"));
  EXPECT_EQ(mask("all", "K5 \u212A5"), "K<number> K<number>");  // the kelvin sign is a K
}

// --- masking twice ------------------------------------------------------------------------------

std::string random_text(testing::Random& random) {
  static constexpr std::string_view kParts[] = {"0",
                                                "1",
                                                "12",
                                                "255",
                                                "2026",
                                                "-",
                                                "/",
                                                ":",
                                                ".",
                                                ",",
                                                "T",
                                                "Z",
                                                "x",
                                                "0x",
                                                "ff",
                                                "abcdef12",
                                                "deadbeef",
                                                " ",
                                                "  ",
                                                "Nov",
                                                "Sun",
                                                "Jul 9",
                                                "10.0.0.1",
                                                "::",
                                                "fe80",
                                                "C:\\",
                                                "\\",
                                                "~",
                                                "./",
                                                "../",
                                                "http://",
                                                "<",
                                                "<number>",
                                                "<time>",
                                                "<path>",
                                                ">",
                                                "a",
                                                "_",
                                                "(",
                                                "=",
                                                "e",
                                                "E5",
                                                "+",
                                                "am",
                                                "PM",
                                                "UTC",
                                                "CEST",
                                                "+02:00",
                                                "550e8400-e29b-41d4-a716-446655440000",
                                                "12:30",
                                                "12:30:45",
                                                "2026-11-29",
                                                "29",
                                                "11",
                                                "é",
                                                "用",
                                                "\xff",
                                                "%",
                                                "?",
                                                "!",
                                                "'",
                                                "\"",
                                                "00:1b:44:11:3a:b7",
                                                "1:2:3:4:5:6:7:8",
                                                "17/06/09",
                                                "10/Oct/2000",
                                                "20261129"};
  std::string text;
  const std::uint64_t parts = 1 + random.bits() % 9;
  for (std::uint64_t i = 0; i < parts; ++i) {
    text += kParts[random.bits() % std::size(kParts)];
  }
  return text;
}

TEST(Masks, MaskingTwiceIsMaskingOnceForEverySetOfMasks) {
  testing::Random random(7);
  for (unsigned set = 0; set < 64; ++set) {
    EncoderConfig config;
    Masks& masks = config.masks;
    masks.number = (set & 1U) != 0;
    masks.hex = (set & 2U) != 0;
    masks.ip = (set & 4U) != 0;
    masks.uuid = (set & 8U) != 0;
    masks.time = (set & 16U) != 0;
    masks.path = (set & 32U) != 0;
    const Encoder encoder = *Encoder::create(config);
    for (int i = 0; i < 1500; ++i) {
      const std::string text = random_text(random);
      const std::string once = *encoder.mask(text);
      ASSERT_EQ(*encoder.mask(once), once) << masks.names() << " on '" << text << "'";
      std::vector<float> of_text(config.dimension);
      std::vector<float> of_masked(config.dimension);
      ASSERT_TRUE(encoder.encode(text, of_text));
      ASSERT_TRUE(encoder.encode(once, of_masked));
      ASSERT_EQ(of_text, of_masked) << masks.names() << " on '" << text << "'";
    }
  }
}

// --- linear time --------------------------------------------------------------------------------

class CountingBytes {
 public:
  explicit CountingBytes(std::string_view text) : bytes_(text) {}
  std::size_t size() const { return bytes_.size(); }
  unsigned char operator[](std::size_t i) const {
    ++reads_;
    return bytes_[i];
  }
  std::uint64_t reads() const { return reads_; }

 private:
  text::Bytes bytes_;
  mutable std::uint64_t reads_ = 0;
};

struct NoSink final : text::TextSink {
  void literal(std::size_t /*begin*/, std::size_t /*end*/) override {}
  void masked(std::string_view /*name*/) override {}
};

double reads_a_byte(std::string_view text, unsigned masks) {
  const CountingBytes bytes(text);
  NoSink sink;
  text::MaskScanner<CountingBytes>(bytes, masks, {}, sink).run();
  return static_cast<double>(bytes.reads()) / static_cast<double>(text.size());
}

// A byte is read again by each mask that looks ahead over it; this many times at most. A quadratic
// pass over these texts would read a byte some 10,000 times.
constexpr double kMostReads = 60.0;

TEST(Masks, HostileTextsAreReadInLinearTime) {
  for (const std::string_view part : {
           "1:",
           "0x",
           "/",
           "//",
           "1",
           "12",
           "a",
           "a1",
           "f",
           "f:",
           "::",
           ":",
           "-",
           "-1",
           "+1",
           "--1",
           ".",
           "./",
           "../",
           "~/",
           "/.",
           "/?",
           "/./",
           "\\",
           "\\.",
           "\\-",
           "\\a",
           "\\.\\",
           "1.",
           "1,",
           "1e",
           "1e-",
           "1.1.1.",
           "255.255.255.255.",
           "1:1:1:1:",
           "::1",
           "::1:",
           "12:00:",
           "12:00:00.",
           "2026-11-",
           "2026-11-29-",
           "2026-11-29T12:00:",
           "Nov ",
           "Nov 2",
           "Sun ",
           "Sun, ",
           "Nov 29 12:00:00 +",
           "<",
           "<number",
           "<number>",
           "<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
           "http://",
           "http://.",
           "://",
           "C:\\",
           "C:/",
           "550e8400-e29b-41d4-a716-",
           "00:1b:44:11:3a:",
           "deadbeef",
           "\xC3\xA9",
           "\xff",
           "e",
           "E+",
           "_1",
           "a/",
           "1/",
           "1/1/",
           "(/",
           "-/",
           "~/-",
           "(/.",
           "\"/",
           " /",
           " /.",
           " -1x",
           " 1:0",
       }) {
    std::string text;
    while (text.size() < (1U << 16U)) text += part;
    for (const std::string_view tail : {"", "....", "1", " ", "/", "\\"}) {
      const std::string whole = text + std::string(tail);
      EXPECT_LT(reads_a_byte(whole, 63), kMostReads)
          << "'" << part << "' with tail '" << tail << "'";
    }
    for (unsigned kind = 0; kind < text::kBuiltinMasks; ++kind) {
      EXPECT_LT(reads_a_byte(text, 1U << kind), kMostReads)
          << "'" << part << "' with " << text::kMaskNames[kind] << " alone";
    }
  }
}

TEST(Masks, RandomTextsAreReadInLinearTime) {
  testing::Random random(11);
  for (int i = 0; i < 200; ++i) {
    const std::string part = random_text(random);
    std::string text;
    while (text.size() < (1U << 16U)) text += part;
    EXPECT_LT(reads_a_byte(text, 63), kMostReads) << "'" << part << "'";
  }
}

// --- own masks ----------------------------------------------------------------------------------

// Finds the letters of `word` wherever they stand.
Pattern finds(std::string name, const std::string& word) {
  return {std::move(name), word, [word](std::string_view text, std::size_t from) {
            const std::size_t at = text.find(word, from);
            return at == text.npos ? Range{} : Range{at, at + word.size()};
          }};
}

TEST(OwnMasks, ReplaceTheirMatchesBeforeTheBuiltInOnes) {
  const Encoder encoder = encoder_with("all", {finds("order", "ORD-")});
  EXPECT_EQ(*encoder.mask("ORD-17 of 3"), "<order><number> of <number>");
  EXPECT_EQ(*encoder.mask("ORD-ORD-"), "<order><order>");
  EXPECT_EQ(*encoder.mask("nothing"), "nothing");
}

TEST(OwnMasks, TheEarliestMatchWinsAndThenTheFirstMask) {
  const Encoder first =
      encoder_with("none", {finds("ab", "ab"), finds("abc", "abc"), finds("xa", "xa")});
  EXPECT_EQ(*first.mask("abc"), "<ab>c");
  EXPECT_EQ(*first.mask("xabc"), "<xa>bc");
  const Encoder second = encoder_with("none", {finds("abc", "abc"), finds("ab", "ab")});
  EXPECT_EQ(*second.mask("abc ab"), "<abc> <ab>");
}

TEST(OwnMasks, TheirPlaceholdersCountAsWordsAndAreLeftAsTheyAre) {
  const Encoder encoder = encoder_with("all", {finds("host", "srv")});
  EXPECT_EQ(*encoder.mask("srv/5"), "<host>/<number>");
  EXPECT_EQ(*encoder.mask("<host>/5"), "<host>/<number>");
}

TEST(OwnMasks, SeeTheTextAsItIsWritten) {
  EXPECT_EQ(*encoder_with("none", {finds("cafe", "caf\u00E9")}).mask("un caf\u00E9"), "un <cafe>");
}

TEST(OwnMasks, RangesThatMakeNoSenseAreNoMatch) {
  for (const Range range :
       {Range{0, 0}, Range{2, 1}, Range{0, 100}, Range{100, 200}, Range{3, 3}}) {
    const Pattern pattern{"bad", "?", [range](std::string_view, std::size_t) { return range; }};
    EXPECT_EQ(*encoder_with("none", {pattern}).mask("abcd"), "abcd");
  }
  // One that ignores `from` and finds the beginning again and again.
  const Pattern stuck{"stuck", "?", [](std::string_view, std::size_t) { return Range{0, 1}; }};
  EXPECT_EQ(*encoder_with("none", {stuck}).mask("abcd"), "<stuck>bcd");
}

TEST(OwnMasks, OneThatFailsIsAnErrorAndNotAMissingMatch) {
  for (const std::size_t good : {0, 1, 2}) {  // matches before it fails
    Pattern failing = finds("x", "x");
    failing.find = [good, find = failing.find](std::string_view text, std::size_t from) {
      return from < 2 * good ? find(text, from) : std::nullopt;
    };
    const Encoder encoder = encoder_with("all", {finds("rare", "zebra"), failing});
    const Status masking = encoder.mask("x x x x").status;
    std::vector<float> vector(encoder.config().dimension, 7.0F);
    for (const Status& status : {masking, encoder.encode("x x x x", vector)}) {
      EXPECT_EQ(status.code, Error::bad_request);
      EXPECT_EQ(status.pointer, "/text");
      EXPECT_EQ(status.detail, "an own mask failed on this text");
    }
    EXPECT_EQ(vector, std::vector<float>(vector.size(), 7.0F)) << "written to";
  }
}

TEST(OwnMasks, AreAskedAboutOnceAMatch) {
  auto calls = std::make_shared<int>(0);
  Pattern counted = finds("x", "x");
  counted.find = [calls, find = counted.find](std::string_view text, std::size_t from) {
    ++*calls;
    return find(text, from);
  };
  Pattern rare = finds("rare", "zebra");
  rare.find = [calls, find = rare.find](std::string_view text, std::size_t from) {
    ++*calls;
    return find(text, from);
  };
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "x ";
  *encoder_with("none", {counted, rare}).mask(text + "zebra");
  EXPECT_LE(*calls, 1000 + 1 + 2);
}

// --- names --------------------------------------------------------------------------------------

TEST(MaskNames, AreReadAndPrinted) {
  EXPECT_EQ(Masks::parse("all")->names(), "number,hex,ip,uuid,time,path");
  EXPECT_EQ(Masks::all().names(), "number,hex,ip,uuid,time,path");
  EXPECT_EQ(Masks::parse("none")->names(), "none");
  EXPECT_EQ(Masks{}.names(), "none");
  EXPECT_EQ(Masks::parse("path,number,path")->names(), "number,path");
  for (const std::string_view name : text::kMaskNames) EXPECT_EQ(Masks::parse(name)->names(), name);
}

TEST(MaskNames, UnknownOnesAreRefused) {
  for (const std::string_view names :
       {"", ",", "number,", ",number", "numbers", "Number", "number hex", "all,number", "none,hex",
        " number", "number,,hex"}) {
    const auto masks = Masks::parse(names);
    EXPECT_EQ(masks.status.code, Error::bad_config) << "'" << names << "'";
    EXPECT_NE(masks.status.detail, "");
  }
}

}  // namespace
}  // namespace dpcache
