// What broke other parsers of log lines, each as its whole kind: compact JSON, cells, masks of
// one's own, codes, scripts without blanks, and the names of parameters.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpcache/templates.h"
#include "native/support.h"

namespace dpcache {
namespace {

using testing::Random;

Templates templates_of(TemplateConfig config = {}) {
  Result<Templates> templates = Templates::create(std::move(config));
  EXPECT_TRUE(templates) << templates.status.detail;
  return std::move(*templates);
}

std::string word(Random& random) {
  static constexpr std::array<std::string_view, 16> kWords = {
      "alice", "bob",     "web", "db",   "eth",   "omega",  "kafka", "north-2",
      "Zoë",   "mallory", "x",   "blue", "a.b.c", "disk_1", "v",     "proxy"};
  return std::string(kWords[random.below(kWords.size())]);
}

std::string number(Random& random) {
  return std::to_string(random.below(100000));
}

std::string time(Random& random) {
  const auto two = [&](std::uint64_t from, std::uint64_t count) {
    const std::uint64_t n = from + random.below(count);
    return (n < 10 ? "0" : "") + std::to_string(n);
  };
  return "2026-" + two(1, 12) + "-" + two(1, 28) + "T" + two(0, 24) + ":" + two(0, 60) + ":" +
         two(0, 60) + "Z";
}

// A value of one of seven kinds, as JSON without blanks.
std::string json_value(Random& random, std::uint64_t kind) {
  switch (kind) {
    case 0:
      return number(random);
    case 1:
      return "\"" + word(random) + "\"";
    case 2:
      return "\"" + time(random) + "\"";
    case 3:
      return random.one_of<std::string>({"true", "false", "null"});
    case 4: {
      std::string list = "[";
      for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
        list += "\"" + word(random) + (n > 1 ? "\"," : "\"");
      }
      return list + "]";
    }
    case 5:
      return "{\"inner\":" + number(random) + ",\"deep\":\"" + word(random) + "\"}";
    default:
      return "-" + number(random) + "." + number(random);
  }
}

std::string json_line(Random& random, const std::vector<std::string>& keys,
                      const std::vector<std::uint64_t>& kinds) {
  std::string line = "{";
  for (std::size_t i = 0; i < keys.size(); ++i) {
    line += (i > 0 ? ",\"" : "\"") + keys[i] + "\":" + json_value(random, kinds[i]);
  }
  return line + "}";
}

TEST(TemplateCases, CompactJsonIsOneTemplateForItsKeys) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    std::vector<std::string> keys = {"ts", "who", "host", "port", "ratio", "id", "flag", "tags"};
    for (std::size_t n = keys.size(); n > 1; --n) std::swap(keys[n - 1], keys[random.below(n)]);
    keys.resize(2 + random.below(keys.size() - 1));
    std::vector<std::uint64_t> kinds(keys.size());
    for (std::uint64_t& kind : kinds) kind = random.below(7);
    Templates templates = templates_of();
    for (int i = 0; i < 40; ++i) {
      const std::string line = json_line(random, keys, kinds);
      ASSERT_TRUE(templates.learn(line));
      ASSERT_EQ(templates.size(), 1U) << line << '\n' << templates.get(1)->text;
    }
    const Template one = *templates.get(1);
    for (const Parameter& parameter : one.parameters) {
      const bool named = std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
        return parameter.name.starts_with(key);
      });
      EXPECT_TRUE(named || parameter.name.starts_with("inner") ||
                  parameter.name.starts_with("deep"))
          << parameter.name;
    }
    keys.emplace_back("more");
    kinds.push_back(0);
    ASSERT_TRUE(templates.learn(json_line(random, keys, kinds)));
    EXPECT_EQ(templates.size(), 2U);
  }
}

TEST(TemplateCases, CellsAreOneTemplateForEachOutcome) {
  static constexpr std::array<std::string_view, 5> kOutcomes = {"ok", "failed", "timeout",
                                                                "accepted", "DROP"};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const std::string delimiter = random.one_of<std::string>({",", ";", "|", "\t"});
    std::vector<std::uint64_t> columns(2 + random.below(8));
    for (std::uint64_t& column : columns) column = random.below(4);
    const std::uint64_t outcome_at = random.below(columns.size() + 1);
    Templates templates = templates_of();
    std::set<std::string_view> outcomes;
    for (int i = 0; i < 60; ++i) {
      std::string line;
      for (std::size_t c = 0; c <= columns.size(); ++c) {
        if (c > 0) line += delimiter;
        if (c == outcome_at) {
          const std::string_view outcome = kOutcomes[random.below(kOutcomes.size())];
          outcomes.insert(outcome);
          line += outcome;
          continue;
        }
        const std::uint64_t column = columns[c - (c > outcome_at ? 1 : 0)];
        if (column == 0) line += number(random);
        if (column == 1) line += word(random);
        if (column == 2) line += time(random);
        if (column == 3 && random.one_in(2)) line += "10.0.0." + std::to_string(random.below(200));
      }
      ASSERT_TRUE(templates.learn(line));
    }
    EXPECT_EQ(templates.size(), outcomes.size()) << templates.get(1)->text;
  }
}

// Text between two marks, blanks and all.
Pattern between(const std::string& name, const std::string& open, const std::string& close) {
  Pattern pattern;
  pattern.name = name;
  pattern.source = open + ".*?" + close;
  pattern.find = [open, close](std::string_view text, std::size_t from) -> std::optional<Range> {
    const std::size_t begin = text.find(open, from);
    if (begin == std::string_view::npos) return Range{};
    const std::size_t end = text.find(close, begin + open.size());
    if (end == std::string_view::npos) return Range{};
    return Range{begin, end + close.size()};
  };
  return pattern;
}

TEST(TemplateCases, OwnMasksWithBlanksGiveEveryValue) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    TemplateConfig config;
    config.masks.own.push_back(between("box", "<<", ">>"));
    config.masks.own.push_back(between("note", "/*", "*/"));
    Templates templates = templates_of(config);
    const std::uint64_t parts = 1 + random.below(4);
    std::vector<bool> is_box(parts);
    for (std::size_t i = 0; i < parts; ++i) is_box[i] = random.one_in(2);
    const auto content = [&] {
      std::string text;
      for (std::uint64_t n = random.below(4); n > 0; --n) {
        text += random.one_in(2) ? word(random) : number(random);
        text += random.one_of<std::string>({" ", ", ", ": ", "  "});
      }
      return text;
    };
    for (int i = 0; i < 20; ++i) {
      std::string line = "Rule fired";
      std::vector<std::string> expected;
      for (std::size_t part = 0; part < parts; ++part) {
        expected.push_back(is_box[part] ? "<<" + content() + ">>" : "/*" + content() + "*/");
        line += random.one_of<std::string>({" at ", " at "}) + expected.back();
      }
      line += " in zone";
      ASSERT_TRUE(templates.learn(line));
      ASSERT_EQ(templates.size(), 1U) << line;
      const std::optional<TemplateMatch> match = templates.match(line);
      ASSERT_TRUE(match);
      ASSERT_EQ(match->values.size(), parts) << line << '\n' << templates.get(1)->text;
      for (std::size_t part = 0; part < parts; ++part) {
        EXPECT_EQ(match->values[part].text, expected[part]) << line;
        EXPECT_TRUE(match->values[part].name.starts_with(is_box[part] ? "box" : "note"));
      }
    }
    EXPECT_EQ(templates.get(1)->parameters.size(), parts);
  }
}

TEST(TemplateCases, CodesAreParametersWithCountsOrWords) {
  for (const std::string name : {"code", "status", "errno", "rc", "ret", "retcode", "exit",
                                 "response", "statuscode", "exit_code", "Status", "http"}) {
    for (const std::string between : {" ", "=", ": "}) {
      const auto line = [&](const std::string& value) {
        return "the request ended with " + name + between + value;
      };
      Templates templates = templates_of();
      for (const char* value : {"200", "500", "500", "404", "-1"}) {
        ASSERT_TRUE(templates.learn(line(value)));
      }
      ASSERT_EQ(templates.size(), 1U) << line("200");
      const Template one = *templates.get(1);
      ASSERT_EQ(one.parameters.size(), 1U) << one.text;
      std::uint64_t counted = 0;
      for (const Parameter::Value& value : one.parameters[0].values) {
        counted += value.count;
        EXPECT_EQ(value.count, value.text == "500" ? 2U : 1U);
      }
      EXPECT_EQ(counted, 5U) << one.text;
      TemplateConfig config;
      config.codes = Codes::fixed;
      Templates fixed = templates_of(config);
      for (const char* value : {"200", "500", "500", "404"}) ASSERT_TRUE(fixed.learn(line(value)));
      EXPECT_EQ(fixed.size(), 3U) << line("200");
      EXPECT_EQ(fixed.match(line("500"))->id, 2U);
      EXPECT_FALSE(fixed.match(line("503"))) << line("503");
    }
  }
}

TEST(TemplateCases, ScriptsWithoutBlanksHaveATemplateForEachOutcome) {
  const std::vector<std::string> names = {"王",   "小李", "欧阳娜", "张三",
                                          "赵六", "陈",   "田中",   "鈴木"};
  struct Case {
    std::string front;
    std::vector<std::string> outcomes;
  };
  for (const Case& one : std::vector<Case>{
           {"用户",
            {"登录系统成功", "登录系统失败", "登录系统超时", "修改密码完成", "已被管理员锁定"}},
           {"数据库服务", {"实例现在启动", "实例现在停止", "实例现在关闭", "实例现在重启"}},
           {"ユーザー",
            {"さんが接続しました", "さんが切断しました", "さんの登録を拒否しました"}}}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      Random random(seed);
      Templates templates = templates_of();
      std::set<std::string> seen;
      for (int i = 0; i < 60; ++i) {
        const std::string& outcome = one.outcomes[random.below(one.outcomes.size())];
        seen.insert(outcome);
        ASSERT_TRUE(templates.learn(one.front + names[random.below(names.size())] + outcome));
      }
      std::string texts;
      for (const TemplateId id : templates.ids()) texts += templates.get(id)->text + "\n";
      EXPECT_EQ(templates.size(), seen.size()) << texts;
    }
  }
}

TEST(TemplateCases, EveryMaskNamesItsParameters) {
  const std::vector<std::pair<std::string, std::array<std::string, 3>>> values = {
      {"number", {"17", "18", "1900"}},
      {"hex", {"0x1f", "0xdeadbeef", "0xA0"}},
      {"ip", {"10.0.0.1", "192.168.7.7", "fe80::1"}},
      {"uuid",
       {"c5d4d5e6-b330-493b-af2b-a278331dbaee", "00000000-0000-4000-8000-000000000000",
        "11111111-2222-4333-8444-555555555555"}},
      {"time", {"2026-03-01T00:00:04Z", "2026-04-01T10:00:04Z", "2026-05-01T00:59:04Z"}},
      {"path", {"/var/log/a.log", "/etc/passwd", "/home/x/y"}}};
  for (const auto& [kind, list] : values) {
    Templates templates = templates_of();
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(templates.learn("alice moved it from " + list[i] + " over " + list[(i + 1) % 3] +
                                  " to " + list[(i + 2) % 3] + " at once"));
    }
    ASSERT_EQ(templates.size(), 1U) << kind;
    const Template one = *templates.get(1);
    EXPECT_EQ(one.text,
              "alice moved it from <" + kind + "> over <" + kind + "2> to <" + kind + "3> at once");
    ASSERT_EQ(one.parameters.size(), 3U);
    for (const Parameter& parameter : one.parameters) {
      EXPECT_EQ(parameter.kind, kind);
      EXPECT_EQ(parameter.values.size(), 3U);
    }
    const TemplateMatch match = *templates.match("alice moved it from " + list[2] + " over " +
                                                 list[2] + " to " + list[0] + " at once");
    ASSERT_EQ(match.values.size(), 3U);
    EXPECT_EQ(match.values[0].text, list[2]);
    EXPECT_EQ(match.values[2].text, list[0]);
  }
  // Side by side, each by its own name, and what no mask knows by its place.
  Templates mixed = templates_of();
  std::string line = "user alice";
  for (const auto& [kind, list] : values) line += " then " + list[0];
  ASSERT_TRUE(mixed.learn(line));
  line = "user bob";
  for (const auto& [kind, list] : values) line += " then " + list[1];
  ASSERT_TRUE(mixed.learn(line));
  EXPECT_EQ(mixed.get(1)->text,
            "user <user> then <number> then <hex> then <ip> then <uuid> then <time> then <path>");
}

}  // namespace
}  // namespace dpcache
