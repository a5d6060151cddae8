// Templates: what may vary in a line and what makes its kind, the nearest template by index and by
// scan, names and values of parameters, and learning that goes on from a file.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "dpcache/templates.h"
#include "hash.h"
#include "native/support.h"
#include "text/template_state.h"

namespace dpcache {
namespace {

using namespace std::string_view_literals;
using testing::Bytes;
using testing::Random;

Templates templates_of(TemplateConfig config = {}) {
  Result<Templates> templates = Templates::create(std::move(config));
  EXPECT_TRUE(templates) << templates.status.detail;
  return std::move(*templates);
}

void learn(Templates& templates, std::string_view line) {
  EXPECT_TRUE(templates.learn(line)) << line;
}

// The texts of the templates of these lines, in the order of their ids.
std::vector<std::string> texts_of(const std::vector<std::string>& lines,
                                  TemplateConfig config = {}) {
  Templates templates = templates_of(std::move(config));
  for (const std::string& line : lines) learn(templates, line);
  std::vector<std::string> texts;
  for (const TemplateId id : templates.ids()) texts.push_back(templates.get(id)->text);
  return texts;
}

using Texts = std::vector<std::string>;

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const std::size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

// Lines as programs write them, by a seed.
std::string random_line(Random& random) {
  static constexpr std::array<std::string_view, 14> kFrames = {
      "session opened for user % by (uid=#)",
      "connection from 10.0.0.# port # closed after # ms",
      "job % finished in # seconds with code #",
      "cache % is full, evicting # entries of pool % at once and going on",
      "ports: # # #",
      "{\"level\":\"info\",\"msg\":\"request % done\",\"id\":#}",
      "用户%登录成功",
      "disk /dev/sd% read error at block 0x#",
      "%",
      "a=% b=# c=%",
      "members of pool #: ^",
      "the pool has ^ in it for now",
      "pools [^] are known",
      "sum of all: @"};
  static constexpr std::array<std::string_view, 12> kWords = {
      "alice",  "bob",  "carol", "dave",  "eve",  "started",
      "failed", "小王", "小李",  "x.y.z", "true", "mallory"};
  std::string line;
  for (const char c : kFrames[random.below(kFrames.size())]) {
    if (c == '%') {
      line += kWords[random.below(kWords.size())];
    } else if (c == '@') {  // another shape each time
      for (std::uint64_t n = random.below(30); n > 0; --n) line += "(" + std::to_string(n) + ") ";
    } else if (c == '^') {
      const std::string separator = random.one_in(4) ? "," : ", ";
      for (std::uint64_t n = 1 + random.below(5); n > 0; --n) {
        line += kWords[random.below(kWords.size())];
        if (n > 1) line += n == 2 && random.one_in(3) ? " and " : separator;
      }
    } else if (c == '#') {
      line += std::to_string(random.below(1000));
      if (random.one_in(8)) line += " " + std::to_string(random.below(10));
    } else {
      line += c;
    }
  }
  if (random.one_in(20)) line += " again";
  return line;
}

TEST(Templates, KeepStatesAndOutcomesApart) {
  const std::vector<std::pair<std::string, std::string>> states = {{"Started", "Paused"},
                                                                   {"started", "stopped"},
                                                                   {"failed", "succeeded"},
                                                                   {"open", "close"},
                                                                   {"up", "down"},
                                                                   {"on", "off"},
                                                                   {"ERROR", "OK"},
                                                                   {"Loading", "Saving"},
                                                                   {"accept", "reject"},
                                                                   {"read", "write"},
                                                                   {"STATE_READY", "STATE_FAILED"}};
  for (const std::string frame :
       {"[instance: 11] VM % (Lifecycle Event)",
        "unit % after a long while for the very first time today", "state=% id=4",
        "the pump of tank seven in the east hall is now % again", "%"}) {
    for (const auto& [one, other] : states) {
      Templates templates = templates_of();
      for (const std::string& state : {one, other, one, other}) {
        learn(templates, replaced(frame, "%", state));
      }
      EXPECT_EQ(templates.size(), 2U) << frame << ' ' << one << ' ' << other;
    }
  }
}

TEST(Templates, NeverMakeAStateAParameterHoweverManyThereAre) {
  std::vector<std::string> lines;
  for (const char* state : {"started", "stopped", "paused", "resumed", "failed", "ready", "lost"}) {
    lines.push_back(std::string("the unit seven of the east hall ") + state);
  }
  EXPECT_EQ(texts_of(lines).size(), lines.size());
}

TEST(Templates, FindALineThatTheyHaveLearned) {
  Templates templates = templates_of();
  std::vector<TemplateId> ids;
  for (const char* line : {"training4Model start", "loadModel start", "loadModel stop"}) {
    ids.push_back(templates.learn(line)->id);
  }
  EXPECT_EQ(templates.size(), 3U);
  EXPECT_EQ(templates.match("loadModel start")->id, ids[1]);
  EXPECT_EQ(templates.match("loadModel stop")->id, ids[2]);
  EXPECT_EQ(templates.match("training9Model start")->id, ids[0]);
  EXPECT_FALSE(templates.match("saveModel start"));
  EXPECT_EQ(templates.lines(), 3U);
}

TEST(Templates, SeeKeysAndValuesInJsonWithoutBlanks) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 5; ++i) {
    const std::string n = std::to_string(i);
    lines.push_back("{\"ts\":\"2026-01-0" + n + "T10:00:0" + n + "Z\",\"user\":\"u" + n +
                    "\",\"host\":\"" + (i % 2 == 0 ? "web" : "db") + "\",\"ok\":true,\"n\":" + n +
                    ",\"msg\":\"all is well\"}");
  }
  EXPECT_EQ(
      texts_of(lines),
      Texts{
          R"({"ts":"<ts>","user":"u<user>","host":"<host>","ok":true,"n":<n>,"msg":"all is well"})"});
  lines.push_back(replaced(lines[0], "all is well", "disk is gone"));  // another message
  lines.push_back(replaced(lines[0], "true", "true,\"extra\":1"));     // another key
  EXPECT_EQ(texts_of(lines).size(), 3U);
}

TEST(Templates, SeeValuesBehindKeysAndMessagesInQuotes) {
  EXPECT_EQ(texts_of({"level=info msg=\"user came in\" user=alice took=5ms",
                      "level=info msg=\"user came in\" user=bob took=6ms",
                      "level=info msg=\"user went out\" user=bob took=6ms"}),
            (Texts{"level=info msg=\"user came in\" user=<user> took=<took>",
                   "level=info msg=\"user went out\" user=bob took=<took>"}));
}

TEST(Templates, SeeCellsInLinesWithoutBlanks) {
  for (const char delimiter : {',', ';', '|', '\t'}) {
    std::vector<std::string> lines = {"2026-01-01,host1,login,ok", "2026-01-02,host2,login,ok",
                                      "2026-01-02,alice,login,ok", "2026-01-02,bob,login,ok",
                                      "2026-01-02,bob,login,failed"};
    for (std::string& line : lines) std::replace(line.begin(), line.end(), ',', delimiter);
    EXPECT_EQ(texts_of(lines).size(), 2U) << delimiter;
  }
}

TEST(Templates, TakeStructureForPlainTextWhereToldSo) {
  TemplateConfig config;
  config.structure = Structure::plain;
  EXPECT_EQ(texts_of({"name=alice", "name=bob"}, config).size(), 2U);
  EXPECT_EQ(texts_of({"name=alice", "name=bob"}).size(), 1U);
}

TEST(Templates, KeepACodeAsAParameterWithCountsOrAsAWord) {
  const std::vector<std::string> lines = {"request failed with code 200",
                                          "request failed with code 500",
                                          "request failed with code 500"};
  Templates templates = templates_of();
  for (const std::string& line : lines) learn(templates, line);
  ASSERT_EQ(templates.size(), 1U);
  const Template one = *templates.get(1);
  EXPECT_EQ(one.text, "request failed with code <code>");
  ASSERT_EQ(one.parameters.size(), 1U);
  ASSERT_EQ(one.parameters[0].values.size(), 2U);
  EXPECT_EQ(one.parameters[0].values[0].text, "200");
  EXPECT_EQ(one.parameters[0].values[1].count, 2U);

  TemplateConfig config;
  config.codes = Codes::fixed;
  EXPECT_EQ(texts_of(lines, config),
            (Texts{"request failed with code 200", "request failed with code 500"}));
  EXPECT_EQ(texts_of({"took 200 ms", "took 500 ms"}, config).size(), 1U);
}

TEST(Templates, ReadScriptsWithoutBlanks) {
  EXPECT_EQ(texts_of({"用户小王登录成功", "用户小李登录成功", "用户欧阳娜娜登录成功"}),
            Texts{"用户<text>登录成功"});
  for (const auto& [one, other] : std::vector<std::pair<std::string, std::string>>{
           {"用户小李登录成功", "用户小李登录失败"},
           {"数据库服务启动", "数据库服务停止"},
           {"连接主服务器正常", "连接主服务器异常"},
           {"订单123已完成", "订单123已取消"},
           {"ユーザー田中の接続", "ユーザー田中の切断"}}) {
    EXPECT_EQ(texts_of({one, other}).size(), 2U) << one;
  }
  EXPECT_EQ(texts_of({"订单123已完成", "订单4567已完成"}), Texts{"订单<number>已完成"});
  EXPECT_EQ(texts_of({"ユーザー田中がログインしました", "ユーザー鈴木がログインしました"}).size(),
            1U);
  EXPECT_EQ(texts_of({"ผู้ใช้สมชายเข้าสู่ระบบ", "ผู้ใช้สมหญิงเข้าสู่ระบบ"}).size(), 1U);
}

TEST(Templates, TakeAListForOneParameter) {
  for (const std::string separator : {" ", ", "}) {
    Templates templates = templates_of();
    for (const int n : {1, 2, 3, 9}) {
      std::string line = "open ports: 22";
      for (int i = 1; i < n; ++i) line += separator + std::to_string(80 + i);
      learn(templates, line);
    }
    ASSERT_EQ(templates.size(), 1U);
    const Template one = *templates.get(1);
    ASSERT_EQ(one.parameters.size(), 1U);
    EXPECT_EQ(one.parameters[0].kind, "list");
    EXPECT_EQ(one.parameters[0].values[1].text, "22" + separator + "81");
  }
  EXPECT_EQ(texts_of({"hosts: a.example.org b.example.org", "hosts: c.example.org"}).size(), 1U);
  EXPECT_EQ(texts_of({"sent 5 bytes to peer", "sent 2048 bytes (2.00 KB) to peer"}).size(), 1U);
}

TEST(Templates, ShowLinesOfManyShapesByWhatTheyShare) {
  Templates templates = templates_of();
  std::string values;
  for (int i = 0; i < 40; ++i) {
    learn(templates, "sum of all: " + values + "is right");
    values += "(" + std::to_string(i) + ") ";
  }
  ASSERT_EQ(templates.size(), 1U);
  const Template one = *templates.get(1);
  EXPECT_EQ(one.text, "sum of all: (<list>) is right");
  EXPECT_EQ(one.count, 40U);
  const TemplateMatch match = *templates.match("sum of all: (7) (8) (9) is right");
  ASSERT_EQ(match.values.size(), 1U);
  EXPECT_EQ(match.values[0].text, "7) (8) (9");
  const Bytes file = templates.save();
  EXPECT_EQ(Templates::load(file)->save(), file);
}

TEST(Templates, TakeAnyBytes) {
  std::string long_line(1U << 20U, 'x');
  for (std::size_t i = 0; i < long_line.size(); i += 7) long_line[i] = ' ';
  std::string long_run;
  while (long_run.size() < 100'000) long_run += "用户";
  const std::vector<std::string> lines = {"",
                                          "   ",
                                          long_line,
                                          long_run,
                                          std::string("a\0b c\0", 6),
                                          "\xFF\xFE\x80 broken \xC3",
                                          "用\xE6\x88",
                                          "\t",
                                          "...",
                                          "=",
                                          "\"",
                                          "{\"a\":\"",
                                          "<number>",
                                          std::string(5000, '"'),
                                          std::string(5000, '=')};
  Templates templates = templates_of();
  for (int round = 0; round < 2; ++round) {
    for (const std::string& line : lines) {
      const Result<Learned> learned = templates.learn(line);
      ASSERT_TRUE(learned);
      EXPECT_TRUE(templates.match(line).has_value());
      EXPECT_EQ(learned->opened, round == 0 && learned->lines == 1);
    }
  }
  EXPECT_EQ(templates.learn("")->id, templates.learn("  ")->id);
  EXPECT_NE(templates.learn("")->id, templates.learn("...")->id);
  for (const TemplateId id : templates.ids()) EXPECT_TRUE(templates.get(id));
}

TEST(Templates, NameTheirParameters) {
  Templates templates = templates_of();
  learn(templates, "user alice logged in from 10.0.0.1 in 42 ms");
  EXPECT_EQ(templates.get(1)->text, "user alice logged in from <ip> in <number> ms");
  learn(templates, "user bob logged in from 10.0.0.2 in 7 ms");
  const Template one = *templates.get(1);
  EXPECT_EQ(one.text, "user <user> logged in from <ip> in <number> ms");
  ASSERT_EQ(one.parameters.size(), 3U);
  EXPECT_EQ(one.parameters[0].name, "user");
  EXPECT_EQ(one.parameters[1].kind, "ip");
  EXPECT_EQ(one.parameters[2].kind, "number");
  const TemplateMatch match = *templates.match("user carol logged in from 10.0.0.3 in 1 ms");
  ASSERT_EQ(match.values.size(), 3U);
  EXPECT_EQ(match.values[0].text, "carol");
  EXPECT_EQ(match.values[1].name, "ip");
  EXPECT_EQ(match.values[1].text, "10.0.0.3");
  EXPECT_EQ(match.values[2].text, "1");
  EXPECT_EQ(texts_of({"from 10.0.0.1 to 10.0.0.2", "x y"})[0], "from <ip> to <ip2>");
  EXPECT_EQ(texts_of({"node-7 uid=3 gid=4 went away"})[0],
            "node-<number> uid=<uid> gid=<gid> went away");
}

// A pattern that finds the text between two marks, blanks and all.
Pattern bracketed() {
  Pattern pattern;
  pattern.name = "box";
  pattern.source = "<<.*?>>";
  pattern.find = [](std::string_view text, std::size_t from) -> std::optional<Range> {
    const std::size_t begin = text.find("<<", from);
    if (begin == std::string_view::npos) return Range{};
    const std::size_t end = text.find(">>", begin);
    if (end == std::string_view::npos) return Range{};
    return Range{begin, end + 2};
  };
  return pattern;
}

TEST(Templates, GiveTheValuesOfOwnMasksThatContainBlanks) {
  TemplateConfig config;
  config.masks.own.push_back(bracketed());
  Templates templates = templates_of(config);
  learn(templates, "Rule /Common/a <<HTTP REQUEST>>: client 10.0.0.1 says <<a b>> c");
  learn(templates, "Rule /Common/b <<CLIENT ACCEPTED>>: client 10.0.0.2 says <<d>> c");
  ASSERT_EQ(templates.size(), 1U);
  EXPECT_EQ(templates.get(1)->text, "Rule <path> <box>: client <ip> says <box2> c");
  const TemplateMatch match =
      *templates.match("Rule /Common/c <<X Y Z>>: client 10.0.0.3 says <<>> c");
  ASSERT_EQ(match.values.size(), 4U);
  EXPECT_EQ(match.values[1].text, "<<X Y Z>>");
  EXPECT_EQ(match.values[2].text, "10.0.0.3");
  EXPECT_EQ(match.values[3].text, "<<>>");
  EXPECT_EQ(templates.get(1)->parameters[1].values[1].text, "<<CLIENT ACCEPTED>>");
}

TEST(Templates, ChangeNothingWhereAnOwnMaskFails) {
  TemplateConfig config;
  Pattern pattern = bracketed();
  pattern.find = [](std::string_view text, std::size_t) -> std::optional<Range> {
    if (text.find('!') != std::string_view::npos) return std::nullopt;
    return Range{};
  };
  config.masks.own.push_back(std::move(pattern));
  Templates templates = templates_of(config);
  learn(templates, "all is well");
  const Bytes before = templates.save();
  EXPECT_EQ(templates.learn("oh no!").status.code, Error::bad_request);
  EXPECT_FALSE(templates.match("oh no!"));
  EXPECT_EQ(templates.save(), before);
}

TEST(Templates, MakeAParameterOfAPlaceWithManyValues) {
  std::vector<std::string> lines;
  for (const char* name : {"apple", "pear", "plum"}) {
    lines.push_back(std::string("basket of ") + name + " sold");
  }
  EXPECT_EQ(texts_of(lines).size(), 3U);
  lines.emplace_back("basket of fig sold");
  EXPECT_EQ(texts_of(lines), Texts{"basket of <word> sold"});
  lines.emplace_back("basket of kiwi sold");
  EXPECT_EQ(texts_of(lines), Texts{"basket of <word> sold"});
}

TEST(Templates, TellWhatTheyFoldTogether) {
  Templates templates = templates_of();
  for (const char* name : {"apple", "pear", "plum"}) {
    learn(templates, std::string("basket of ") + name + " sold");
  }
  const Learned learned = *templates.learn("basket of fig sold");
  EXPECT_EQ(learned.id, 1U);
  EXPECT_EQ(learned.lines, 4U);
  EXPECT_FALSE(learned.opened);
  EXPECT_EQ(learned.folded, (std::vector<TemplateId>{2, 3}));
  EXPECT_EQ(templates.next_id(), 4U);
  const Template one = *templates.get(1);
  ASSERT_EQ(one.parameters.size(), 1U);
  EXPECT_EQ(one.parameters[0].values.size(), 4U);
  EXPECT_EQ(one.examples.size(), 3U);
}

TEST(Templates, JoinALongLineThatDiffersInOneWord) {
  const std::string line = "the quick brown fox jumps over the lazy dog near our barn";
  EXPECT_EQ(texts_of({line, replaced(line, "barn", "pond")}).size(), 1U);
  EXPECT_EQ(texts_of({line, replaced(line, "the quick", "one quick")}).size(), 2U);  // the first
  EXPECT_EQ(texts_of({"fox near our barn", "fox near our pond"}).size(), 2U);        // short
  TemplateConfig config;
  config.tau = 0.0F;
  EXPECT_EQ(texts_of({line, replaced(line, "barn", "pond")}, config).size(), 2U);
}

TEST(Templates, GoToTheOldestOfEquallyNearOnes) {
  TemplateConfig config;
  Templates templates = templates_of(config);
  const std::string frame = "one two three four five six seven eight nine X ten Y";
  const auto line = [&frame](const char* x, const char* y) {
    return replaced(replaced(frame, "X", x), "Y", y);
  };
  // Two differ in two of twelve words; the third differs from each in one.
  learn(templates, line("barn", "pond"));
  learn(templates, line("lake", "hill"));
  ASSERT_EQ(templates.size(), 2U);
  EXPECT_EQ(templates.learn(line("barn", "hill"))->id, 1U);
}

TEST(Templates, FindByTheIndexWhatAScanFinds) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    TemplateConfig config;
    config.tau = random.one_of({0.0F, 0.125F, 0.3F, 0.5F});
    config.max_templates = random.one_of({5U, 40U, 10000U});
    Templates::State state(config);
    text::TemplateLexer lexer(state.lex_options);
    for (int i = 0; i < 300; ++i) {
      const std::string line = random_line(random);
      text::Prepared prepared;
      ASSERT_TRUE(state.prepare(line, prepared));
      const text::Line read = state.read(prepared.text, lexer);
      const auto words = state.words_of(read);
      const text::Nearest by_index = state.nearest(words);
      const text::Nearest by_scan = state.nearest_by_scan(words);
      ASSERT_EQ(by_index.entry, by_scan.entry) << line;
      ASSERT_EQ(by_index.similarity, by_scan.similarity);
      ASSERT_EQ(by_index.differences, by_scan.differences);
      state.learn(prepared, "");
    }
  }
}

TEST(Templates, StayAsTheyAreWhenTheirLinesComeAgain) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    std::vector<std::string> lines;
    for (int i = 0; i < 400; ++i) lines.push_back(random_line(random));
    Templates templates = templates_of();
    for (const std::string& line : lines) learn(templates, line);
    const std::vector<TemplateId> ids = templates.ids();
    for (const std::string& line : lines) {
      const auto match = templates.match(line);
      ASSERT_TRUE(match) << line;
      const Learned learned = *templates.learn(line);
      EXPECT_EQ(match->id, learned.id) << line;
      EXPECT_FALSE(learned.opened) << line;
      EXPECT_TRUE(learned.folded.empty()) << line;
    }
    EXPECT_EQ(templates.ids(), ids);
  }
}

TEST(Templates, CountEachLineOnceAndEachValueOfIt) {
  Random random(7);
  Templates templates = templates_of();
  for (int i = 0; i < 1000; ++i) learn(templates, random_line(random));
  std::uint64_t lines = 0;
  for (const TemplateId id : templates.ids()) {
    const Template one = *templates.get(id);
    lines += one.count;
    EXPECT_EQ(one.count, templates.count(id));
    for (const Parameter& parameter : one.parameters) {
      std::uint64_t values = parameter.others;
      for (const auto& value : parameter.values) values += value.count;
      EXPECT_LE(values, one.count) << one.text;
      EXPECT_NE(one.text.find("<" + parameter.name + ">"), std::string::npos) << one.text;
    }
  }
  EXPECT_EQ(lines, 1000U);
  EXPECT_EQ(templates.lines(), 1000U);
}

TEST(Templates, ForgetTheRarestBeyondTheirBudget) {
  TemplateConfig config;
  config.max_templates = 2;
  Templates templates = templates_of(config);
  learn(templates, "alpha beta");
  learn(templates, "gamma delta");
  learn(templates, "alpha beta");
  const Learned learned = *templates.learn("epsilon zeta");
  EXPECT_EQ(learned.evicted, std::vector<TemplateId>{2});
  EXPECT_EQ(templates.ids(), (std::vector<TemplateId>{1, 3}));
  EXPECT_FALSE(templates.get(2));
  EXPECT_EQ(templates.count(2), 0U);
  EXPECT_FALSE(templates.match("gamma delta"));
  EXPECT_EQ(templates.lines(), 4U);
  EXPECT_EQ(templates.learn("gamma delta")->id, 4U);  // ids are not used again
}

TEST(Templates, RefuseSettingsByName) {
  const auto pointer_of = [](auto change) {
    TemplateConfig config;
    change(config);
    const Result<Templates> templates = Templates::create(config);
    EXPECT_EQ(templates.status.code, Error::bad_config);
    return templates.status.pointer;
  };
  using Config = TemplateConfig;
  EXPECT_EQ(pointer_of([](Config& c) { c.tau = 0.51F; }), "/tau");
  EXPECT_EQ(pointer_of([](Config& c) { c.tau = -0.1F; }), "/tau");
  EXPECT_EQ(pointer_of([](Config& c) { c.tau = __builtin_nanf(""); }), "/tau");
  EXPECT_EQ(pointer_of([](Config& c) { c.max_templates = 0; }), "/max_templates");
  EXPECT_EQ(pointer_of([](Config& c) { c.max_line = 63; }), "/max_line");
  EXPECT_EQ(pointer_of([](Config& c) { c.examples = 0; }), "/examples");
  EXPECT_EQ(pointer_of([](Config& c) { c.values = 65; }), "/values");
  EXPECT_EQ(pointer_of([](Config& c) {
              c.masks.own.push_back({"Bad name", "", {}});
            }),
            "/masks/own/0/name");
}

TEST(Templates, GoOnFromAFileAsIfTheyHadNeverStopped) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    TemplateConfig config;
    config.max_templates = random.one_of({8U, 10000U});
    config.codes = random.one_of({Codes::vary, Codes::fixed});
    Templates whole = templates_of(config);
    Templates parts = templates_of(config);
    for (int i = 0; i < 400; ++i) {
      const std::string line = random_line(random);
      const Learned a = *whole.learn(line, "f:1");
      const Learned b = *parts.learn(line, "f:1");
      ASSERT_EQ(a.id, b.id) << line;
      ASSERT_EQ(a.similarity, b.similarity);
      ASSERT_EQ(a.folded, b.folded);
      ASSERT_EQ(a.evicted, b.evicted);
      if (!random.one_in(10)) continue;
      Result<Templates> loaded = Templates::load(parts.save());
      ASSERT_TRUE(loaded) << loaded.status.detail;
      parts = std::move(*loaded);
    }
    ASSERT_EQ(whole.save(), parts.save());
    EXPECT_EQ(whole.config(), parts.config());
  }
}

Bytes saved_example() {
  Random random(3);
  Templates templates = templates_of();
  for (int i = 0; i < 60; ++i) learn(templates, random_line(random));
  return templates.save();
}

TEST(Templates, RefuseAFileThatIsCutOrChanged) {
  const Bytes file = saved_example();
  ASSERT_TRUE(Templates::load(file));
  for (std::size_t size = 0; size < file.size(); size += size < 200 ? 1 : 37) {
    EXPECT_EQ(Templates::load(std::span(file).first(size)).status.code, Error::bad_snapshot);
  }
  Bytes longer = file;
  longer.push_back(std::byte{0});
  EXPECT_EQ(Templates::load(longer).status.code, Error::bad_snapshot);
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    Bytes changed = file;
    changed[random.below(file.size())] ^= static_cast<std::byte>(1U << random.below(8));
    const Result<Templates> loaded = Templates::load(changed);
    EXPECT_EQ(loaded.status.code, Error::bad_snapshot);
    EXPECT_FALSE(loaded.status.detail.empty());
  }
}

void seal(Bytes& file) {
  const std::uint64_t size = file.size();
  std::memcpy(file.data() + 12, &size, sizeof size);
  const std::uint64_t sum = hash64_with_blank(file, 20, 8);
  std::memcpy(file.data() + 20, &sum, sizeof sum);
}

TEST(Templates, AreUsableOrRefusedWhateverAFileWithARightChecksumSays) {
  const Bytes file = saved_example();
  Random random(2);
  int refused = 0;
  for (int i = 0; i < 1500; ++i) {
    Bytes lie = file;
    const std::size_t at = 28 + random.below(file.size() - 32);
    if (random.one_in(3)) {
      const std::uint32_t number = random.one_of({0U, 1U, 0x7FFFFFFFU, 0xFFFFFFFFU, 100000U});
      std::memcpy(lie.data() + at, &number, sizeof number);
    } else {
      lie[at] ^= static_cast<std::byte>(1U + random.below(255));
    }
    seal(lie);
    Result<Templates> loaded = Templates::load(lie);
    if (!loaded) {
      EXPECT_TRUE(loaded.status.code == Error::bad_snapshot ||
                  loaded.status.code == Error::encoder_mismatch);
      ++refused;
      continue;
    }
    Random lines(static_cast<std::uint64_t>(i));
    for (int k = 0; k < 10; ++k) {
      const std::string line = random_line(lines);
      loaded->match(line);
      learn(*loaded, line);
    }
    for (const TemplateId id : loaded->ids()) loaded->get(id);
    EXPECT_TRUE(Templates::load(loaded->save()));
  }
  EXPECT_GT(refused, 100);
}

TEST(Templates, AskForTheOwnMasksThatTheyWereMadeWith) {
  TemplateConfig config;
  config.masks.own.push_back(bracketed());
  Templates templates = templates_of(config);
  learn(templates, "a <<b c>> d");
  const Bytes file = templates.save();
  EXPECT_EQ(Templates::load(file).status.code, Error::encoder_mismatch);
  const auto patterns = Templates::patterns_of(file);
  ASSERT_TRUE(patterns);
  ASSERT_EQ(patterns->size(), 1U);
  EXPECT_EQ((*patterns)[0].source, "<<.*?>>");
  Result<Templates> loaded = Templates::load(file, {bracketed()});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->learn("a <<e>> d")->id, 1U);
}

TEST(Templates, AreTheSameOnEveryPlatform) {
  Random random(11);
  Templates templates = templates_of();
  for (int i = 0; i < 3000; ++i) learn(templates, random_line(random));
  const Bytes file = templates.save();
  EXPECT_EQ(hash64(file, 0), 8646157479124467258U);
}

}  // namespace
}  // namespace dpcache
