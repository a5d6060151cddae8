// Lists of words in log lines: one parameter whatever their length, separator and order of arrival,
// and nothing that only looks like a list.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpcache/templates.h"
#include "hash.h"
#include "native/support.h"
#include "text/template_state.h"

namespace dpcache {
namespace {

using testing::Bytes;
using testing::Random;

using Lines = std::vector<std::string>;

Templates learned(const Lines& lines) {
  Templates templates;
  for (const std::string& line : lines) EXPECT_TRUE(templates.learn(line)) << line;
  return templates;
}

Lines texts_of(const Templates& templates) {
  Lines texts;
  for (const TemplateId id : templates.ids()) texts.push_back(templates.get(id)->text);
  return texts;
}

Lines texts_of(const Lines& lines) {
  return texts_of(learned(lines));
}

constexpr std::array<std::string_view, 24> kItems = {
    "alpha", "beta",  "gamma",  "wheel", "adm",    "staff", "kafka",    "proxy-a",
    "mail",  "Index", "shard",  "cache", "replic", "edge",  "it's-own", "omega",
    "Ünder", "x",     "lambda", "theta", "audio",  "video", "NETWORK",  "sudo"};
constexpr std::array<std::string_view, 6> kOthers = {"22",   "web7",     "db.example.org",
                                                     "true", "10.0.0.7", "node_4"};

struct Style {
  std::string separator;
  std::string open = {};  // around each item
  std::string close = {};
  bool conjunction = false;
};

std::string list_of(Random& random, std::size_t size, const Style& style, bool mixed) {
  std::string list;
  for (std::size_t i = 0; i < size; ++i) {
    const bool last = i + 1 == size;
    if (i > 0 && style.conjunction && last && random.one_in(2)) {
      list += size > 2 && random.one_in(2) ? ", and " : random.one_in(2) ? " and " : " or ";
    } else if (i > 0) {
      list += style.separator;
    }
    const bool other = mixed && i > 0 && random.one_in(4);
    const std::string_view item =
        other ? kOthers[random.below(kOthers.size())] : kItems[random.below(kItems.size())];
    list.append(style.open).append(item).append(style.close);
  }
  return list;
}

std::string in_frame(std::string_view frame, std::string_view list) {
  const std::size_t at = frame.find('%');
  std::string line(frame.substr(0, at));
  return line.append(list).append(frame.substr(at + 1));
}

// Lists of 1 to 20 items in one frame, in random order.
Lines lines_of(Random& random, std::string_view frame, const Style& style, bool mixed) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 1; size <= 20; ++size) sizes.push_back(size);
  sizes.insert(sizes.end(), {1, 1, 2, 2, 3});
  for (std::size_t n = sizes.size(); n > 1; --n) std::swap(sizes[n - 1], sizes[random.below(n)]);
  Lines lines;
  for (const std::size_t size : sizes) {
    lines.push_back(in_frame(frame, list_of(random, size, style, mixed)));
  }
  return lines;
}

void expect_one_template_with_a_list(Random& random, std::string_view frame, const Style& style,
                                     bool mixed) {
  const Lines lines = lines_of(random, frame, style, mixed);
  const Templates templates = learned(lines);
  ASSERT_EQ(templates.size(), 1U) << ::testing::PrintToString(texts_of(templates)) << " of\n"
                                  << ::testing::PrintToString(lines);
  const Template one = *templates.get(1);
  EXPECT_EQ(one.count, lines.size());
  const auto list = std::find_if(one.parameters.begin(), one.parameters.end(),
                                 [](const Parameter& p) { return p.kind == "list"; });
  ASSERT_NE(list, one.parameters.end()) << one.text;
  for (const std::string& line : lines) {
    const std::optional<TemplateMatch> match = templates.match(line);
    ASSERT_TRUE(match) << line;
    // Whatever stands between the frame's words is a value.
    std::string rebuilt = one.text;
    for (const TemplateMatch::Value& value : match->values) {
      const std::size_t at = rebuilt.find("<" + value.name + ">");
      ASSERT_NE(at, std::string::npos) << one.text;
      rebuilt.replace(at, value.name.size() + 2, value.text);
    }
    EXPECT_EQ(rebuilt, line);
  }
}

TEST(TemplateLists, AreOneParameterWhateverTheirLengthAndOrder) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Random random(seed);
    for (const bool mixed : {false, true}) {
      for (const std::string separator : {", ", ",", " , "}) {
        for (const std::string_view frame :
             {"active nodes: %", "active nodes: % (all of them)", "the leader of rack six knows %",
              "job 17 on % took 5 ms", "the members [%] were seen", "the members {%} were seen",
              "the members (%) were seen", "host=web7 tags=[%] at=5",
              "the pools = % in rack six"}) {
          expect_one_template_with_a_list(random, frame, {separator}, mixed);
        }
      }
      expect_one_template_with_a_list(random, "active nodes: %", {", ", "", "", true}, mixed);
      expect_one_template_with_a_list(random, "rack six knows % of old", {", ", "", "", true},
                                      mixed);
      expect_one_template_with_a_list(random, "id=3 groups=% at=5", {","}, mixed);
      expect_one_template_with_a_list(random, "groups=%", {","}, mixed);
      for (const std::string separator : {"; ", ";", " | ", "|"}) {
        for (const std::string_view frame :
             {"active nodes: %", "the members [%] were seen", "the members of six = %"}) {
          expect_one_template_with_a_list(random, frame, {separator}, mixed);
        }
      }
      for (const std::string quote : {"\"", "'"}) {
        for (const std::string separator : {", ", ",", ";"}) {
          for (const std::string_view frame : {"active nodes: [%]", "the tags are: % at 5 ms"}) {
            expect_one_template_with_a_list(random, frame, {separator, quote, quote}, mixed);
          }
        }
      }
      for (const std::string separator : {"", " ", ", "}) {
        expect_one_template_with_a_list(random, "the locks held: %", {separator, "[", "]"}, mixed);
      }
    }
  }
}

TEST(TemplateLists, OfOtherScriptsToo) {
  EXPECT_EQ(texts_of({"节点在线 集群：甲、乙、丙", "节点在线 集群：甲", "节点在线 集群：乙、丙"}),
            Lines{"节点在线 集群：<list>"});
  EXPECT_EQ(texts_of({"nodes en ligne : Élan，Über，Ñandú", "nodes en ligne : Élan，Über"}),
            Lines{"nodes en ligne : <list>"});
}

TEST(TemplateLists, ShowWhatDoesNotVary) {
  EXPECT_EQ(texts_of({"modes known: fast, safe, auto", "modes known: fast, safe, auto"}),
            Lines{"modes known: fast, safe, auto"});
}

TEST(TemplateLists, AreNamedByTheirKeyAndKeepTheirValues) {
  const Templates templates = learned({"id=1 groups=wheel,adm", "id=2 groups=wheel,adm,users",
                                       "id=3 groups=wheel", "id=4 groups=wheel,adm"});
  ASSERT_EQ(templates.size(), 1U);
  const Template one = *templates.get(1);
  EXPECT_EQ(one.text, "id=<id> groups=<groups>");
  ASSERT_EQ(one.parameters.size(), 2U);
  EXPECT_EQ(one.parameters[1].kind, "list");
  ASSERT_EQ(one.parameters[1].values.size(), 3U);
  EXPECT_EQ(one.parameters[1].values[0].text, "wheel,adm");
  EXPECT_EQ(one.parameters[1].values[0].count, 2U);
}

TEST(TemplateLists, TellWhatTheyTakeIn) {
  Templates templates;
  EXPECT_EQ(templates.learn("active nodes: alpha")->id, 1U);
  EXPECT_EQ(templates.learn("active nodes: beta")->id, 2U);
  EXPECT_EQ(templates.learn("active nodes: beta, gamma")->id, 3U);
  EXPECT_EQ(templates.learn("all is well")->id, 4U);
  const Learned list = *templates.learn("active nodes: alpha, beta, gamma");
  EXPECT_EQ(list.id, 1U);
  EXPECT_EQ(list.lines, 4U);
  EXPECT_FALSE(list.opened);
  EXPECT_EQ(list.folded, (std::vector<TemplateId>{2, 3}));
  EXPECT_EQ(templates.next_id(), 5U);
  const Template one = *templates.get(1);
  ASSERT_EQ(one.parameters.size(), 1U);
  ASSERT_EQ(one.parameters[0].values.size(), 4U);
  EXPECT_EQ(one.parameters[0].values[0].text, "alpha");
  EXPECT_EQ(one.parameters[0].values[2].text, "beta, gamma");
  const Learned next = *templates.learn("active nodes: omega");
  EXPECT_EQ(next.id, 1U);
  EXPECT_EQ(next.similarity, 1.0F);
  EXPECT_EQ(templates.match("active nodes: x, y")->values[0].text, "x, y");
}

TEST(TemplateLists, HaveTheSameTemplatesInEveryOrder) {
  Lines lines = {"active nodes: alpha", "active nodes: beta, alpha",
                 "active nodes: alpha, gamma, beta", "active nodes: failed",
                 "active nodes: gamma and beta"};
  std::sort(lines.begin(), lines.end());
  do {
    const Templates templates = learned(lines);
    std::set<std::string> texts;
    for (const std::string& text : texts_of(templates)) texts.insert(text);
    EXPECT_EQ(texts, (std::set<std::string>{"active nodes: <list>", "active nodes: failed"}));
  } while (std::next_permutation(lines.begin(), lines.end()));
}

TEST(TemplateLists, NeverHoldWhatHappened) {
  EXPECT_EQ(texts_of({"job failed, retrying", "job failed, retrying, giving up", "job failed"}),
            (Lines{"job failed, retrying", "job failed, retrying, giving up", "job failed"}));
  static constexpr std::array<std::string_view, 12> kStates = {
      "failed", "retrying", "lost",   "restored", "denied", "timeout",
      "opened", "closed",   "paused", "ready",    "ERROR",  "Stopped"};
  for (const std::string_view frame :
       {"job %", "job 7: %", "the unit of hall six is % as of now", "state=[%]", "result: %",
        "checks [%] of alpha, beta, gamma"}) {
    for (const std::string separator : {", ", ",", "; ", " | ", " and "}) {
      Random random(1);
      Templates templates;
      std::set<std::string> different;
      for (int i = 0; i < 60; ++i) {
        std::string states;
        for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
          states.append(kStates[random.below(kStates.size())]).append(n > 1 ? separator : "");
        }
        const std::string line = in_frame(frame, states);
        different.insert(line);
        ASSERT_TRUE(templates.learn(line));
      }
      EXPECT_EQ(templates.size(), different.size()) << frame << separator;
    }
  }
}

TEST(TemplateLists, EndWhereAStateStands) {
  EXPECT_EQ(texts_of({"tests of core, text, train passed", "tests of core, text, train failed",
                      "tests of core, text passed", "tests of log passed"}),
            (Lines{"tests of <list> passed", "tests of core, text, train failed"}));
  EXPECT_EQ(texts_of({"hosts: alpha, beta, gamma", "hosts: alpha, down, gamma"}).size(), 2U);
}

TEST(TemplateLists, AreNotSentencesWithCommas) {
  for (const Lines& lines :
       std::vector<Lines>{{"Hello world, dear friend", "Hello moon, dear friend"},
                          {"disk sda is slow, see page", "disk sda is slow, ask us"},
                          {"user alice came, host web went", "user alice came, host web stayed"},
                          {"sorry, nothing here", "sorry, everything here"},
                          {"queue long, worker idle", "queue short, worker idle"}}) {
    EXPECT_EQ(texts_of(lines), lines);
  }
}

TEST(TemplateLists, AreNotFields) {
  for (const Lines& lines : std::vector<Lines>{
           {"[main] [db] [core] all fine here", "[worker] [net] [edge] all fine here"},
           {"gateway [main] [db] [core] fine", "gateway [worker] [net] [edge] fine"},
           {"INFO | main | db | core | fine", "INFO | worker | net | edge | fine"},
           {"gateway: main | db | core | all fine", "gateway: net | web | edge | all fine"},
           {"alpha, beta, gamma, delta", "omega, kappa, theta, delta"},
           {"the pools: alpha, beta; gamma, delta", "the pools: x, y; z, w"},
           {"alpha | beta | gamma", "omega | kappa | theta"}}) {
    EXPECT_EQ(texts_of(lines), lines);
  }
  EXPECT_EQ(texts_of({"name: alpha, size: big, hue: red", "name: beta, size: big, hue: red",
                      "name: alpha, size: big, form: red"})
                .size(),
            3U);
  EXPECT_EQ(texts_of({"a=alpha, b=beta, c=gamma", "a=omega, b=beta, c=x"}),
            Lines{"a=<a>, b=beta, c=<c>"});
}

TEST(TemplateLists, LeaveTheWordsBehindThemAsTheyAre) {
  const Lines lines = {"joined groups wheel, adm, users today",
                       "joined groups wheel, adm, users tomorrow"};
  EXPECT_EQ(texts_of(lines), lines);  // no user is called "today"
  // What is an item is not what stands behind the list.
  EXPECT_EQ(texts_of({"pools known: alpha, beta, gamma omega", "pools known: x, omega"}).size(),
            2U);
}

// Two words with a comma between them are items both, or none.
TEST(TemplateLists, TakeAllOfAChainOrNothing) {
  TemplateConfig config;
  config.tau = 0.4F;
  Templates templates = std::move(*Templates::create(config));
  EXPECT_TRUE(templates.learn("active nodes of s: x, y, z"));
  EXPECT_TRUE(templates.learn("active nodes of: omega, o"));
  EXPECT_EQ(templates.size(), 2U);
  EXPECT_TRUE(Templates::load(templates.save()));
}

TEST(TemplateLists, HoldPartsWithoutWordsToo) {
  const Templates templates = learned({"the pools = alpha, web7", "the pools = x, y, z",
                                       "the pools = beta, web7", "the pools = alpha, web7"});
  ASSERT_EQ(templates.size(), 1U);
  const Template one = *templates.get(1);
  EXPECT_EQ(one.text, "the pools = <pools>");
  ASSERT_EQ(one.parameters.size(), 1U);
  ASSERT_EQ(one.parameters[0].values.size(), 3U);
  EXPECT_EQ(one.parameters[0].values[1].text, "beta, web7");
  EXPECT_EQ(one.parameters[0].others, 1U);  // the first, whose parts were counted one by one
}

// One word, or two, where no longer list has shown that there are any.
TEST(TemplateLists, WantAListOfThreeItemsOnce) {
  EXPECT_EQ(texts_of({"active nodes: alpha", "active nodes: beta", "active nodes: alpha, beta"}),
            (Lines{"active nodes: alpha", "active nodes: beta", "active nodes: alpha, beta"}));
  // Behind one word alone a word is no list, two are.
  EXPECT_EQ(texts_of({"nodes: alpha, beta, gamma", "nodes: alpha", "nodes: alpha, beta"}),
            (Lines{"nodes: <list>", "nodes: alpha"}));
  EXPECT_EQ(texts_of({"nodes: alpha", "nodes: alpha, beta", "nodes: alpha, beta, gamma"}),
            (Lines{"nodes: alpha", "nodes: <list>"}));
  // Nor behind what announces a text, a code or a level.
  for (const std::string word : {"error", "FATAL", "reason", "status", "Warning"}) {
    EXPECT_EQ(
        texts_of({"app " + word + ": alpha, beta, gamma", "app " + word + ": overflow"}).size(),
        2U);
  }
  // What stands in front of it must be the same, and so must the words.
  EXPECT_EQ(texts_of({"active nodes: alpha, beta, gamma", "active nodes (alpha)",
                      "active nodes: alpha beta", "active nodes: alpha here"})
                .size(),
            4U);
  EXPECT_EQ(texts_of({"rack six of hall: alpha, beta, gamma", "rack six of hall (north)",
                      "rack six of hall at night"})
                .size(),
            3U);
}

TEST(TemplateLists, AreTextWhereStructureIsNotKnown) {
  TemplateConfig config;
  config.structure = Structure::plain;
  Templates templates = std::move(*Templates::create(config));
  for (const char* line : {"active nodes: alpha, beta, gamma", "active nodes: alpha, beta, x"}) {
    ASSERT_TRUE(templates.learn(line));
  }
  EXPECT_EQ(templates.size(), 2U);
}

TEST(TemplateLists, TakeConstantMemory) {
  Random random(3);
  Templates::State state{TemplateConfig{}};
  // Three words, in their places and moved by one, two and three words; and those.
  constexpr std::size_t postings = 3 + (3 + 1) + (3 + 2) + (3 + 3);
  for (int i = 0; i < 3000; ++i) {
    const std::string line =
        "the pools known: " + list_of(random, 1 + random.below(40), {", ", "", "", true}, true);
    text::Prepared prepared;
    ASSERT_TRUE(state.prepare(line, prepared));
    state.learn(prepared, "");
    if (i < 100) continue;
    ASSERT_EQ(state.entries.size(), 1U) << line;
    ASSERT_EQ(state.shapes.size(), 1U);
    ASSERT_EQ(state.postings.size(), postings);
    ASSERT_LE(state.entries[0]->shapes[0]->elements.back().values.size(), 8U);
  }
}

TEST(TemplateLists, MayBeLongerThanWhatIsReadOfALine) {
  std::string list = "alpha";
  for (int i = 0; i < 5000; ++i) list += ", beta";
  EXPECT_EQ(texts_of({"the pools " + list + " were seen", "the pools alpha, beta, x were seen",
                      "the pools alpha were lost"}),
            (Lines{"the pools <list> were seen", "the pools alpha were lost"}));
}

TEST(TemplateLists, AreFoundAgainFromAFile) {
  Random random(5);
  for (int round = 0; round < 20; ++round) {
    const Lines lines = lines_of(random, "active nodes: % at 5 ms", {", ", "", "", true}, true);
    Templates whole;
    Templates parts;
    for (const std::string& line : lines) {
      const Learned a = *whole.learn(line);
      const Learned b = *parts.learn(line);
      EXPECT_EQ(a.id, b.id);
      EXPECT_EQ(a.folded, b.folded);
      Result<Templates> loaded = Templates::load(parts.save());
      ASSERT_TRUE(loaded) << loaded.status.detail;
      parts = std::move(*loaded);
    }
    EXPECT_EQ(whole.save(), parts.save());
  }
}

// Files of before know no lists: each length is a template of its own in them, which the first list
// that comes takes in.
TEST(TemplateLists, TakeInThoseOfAnOldFile) {
  TemplateConfig config;
  config.structure = Structure::plain;  // as it was then, for these lines
  Templates old = std::move(*Templates::create(config));
  for (const char* line : {"active nodes: alpha", "active nodes: alpha, beta",
                           "active nodes: alpha, beta, gamma", "active nodes: alpha, beta and x"}) {
    ASSERT_TRUE(old.learn(line));
  }
  ASSERT_EQ(old.size(), 4U);
  Bytes file = old.save();
  const std::uint32_t version = 1;
  std::memcpy(file.data() + 8, &version, sizeof version);
  const std::size_t structure = 28 + 4 + 6;
  ASSERT_EQ(file[structure], static_cast<std::byte>(Structure::plain));
  file[structure] = static_cast<std::byte>(Structure::known);
  const std::uint64_t sum = hash64_with_blank(file, 20, 8);
  std::memcpy(file.data() + 20, &sum, sizeof sum);
  Result<Templates> loaded = Templates::load(file);
  ASSERT_TRUE(loaded) << loaded.status.detail;
  const Learned learned = *loaded->learn("active nodes: x, y, z");
  EXPECT_EQ(learned.id, 1U);
  EXPECT_EQ(learned.lines, 5U);
  EXPECT_EQ(texts_of(*loaded), Lines{"active nodes: <list>"});
}

}  // namespace
}  // namespace dpcache
