// The guards: what each stops and what it lets pass, by kind; what holds for all texts; other
// languages; facts that are kept; hostile texts.
#include "dpcache/guards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guard_vectors.h"
#include "native/support.h"
#include "text/guard_table.h"

namespace dpcache {
namespace {

using testing::Random;

struct Pair {
  std::string_view a;
  std::string_view b;
};

GuardSet between(std::string_view a, std::string_view b,
                 const GuardLanguage& language = GuardLanguage::english()) {
  return guards_between(guard_facts(a, language), guard_facts(b, language));
}

std::string names(std::string_view a, std::string_view b) {
  return between(a, b).names();
}

void expect_guard(Guard guard, std::initializer_list<Pair> pairs) {
  for (const auto& [a, b] : pairs) {
    const GuardSet found = between(a, b);
    EXPECT_TRUE(found.has(guard)) << to_string(guard) << ": '" << a << "' '" << b << "' has "
                                  << found.names();
    EXPECT_EQ(between(b, a), found) << a << " / " << b;
  }
}

void expect_none(std::initializer_list<Pair> pairs) {
  for (const auto& [a, b] : pairs) {
    EXPECT_EQ(names(a, b), "none") << "'" << a << "' '" << b << "'";
    EXPECT_EQ(names(b, a), "none") << "'" << b << "' '" << a << "'";
  }
}

// --- Numbers

TEST(GuardNumber, AnotherNumberIsAnotherThing) {
  expect_guard(Guard::number, {
                                  {"set a timer for 5 minutes", "set a timer for 15 minutes"},
                                  {"order 1234 is late", "order 1243 is late"},
                                  {"what is 1+1", "what is 21+1"},
                                  {"it is -5 outside", "it is 5 outside"},
                                  {"send 1,000 to Ann", "send 10,000 to Ann"},
                                  {"half of 0.5", "half of 5"},
                                  {"two rooms", "four rooms"},
                                  {"twenty-five people", "twenty-six people"},
                                  {"three hundred and five", "three hundred and six"},
                                  {"open valve 2", "open the valve"},
                                  {"the first chapter", "the third chapter"},
                                  {"3 million", "3 billion"},
                                  {"5G network", "4G network"},
                                  {"vitamin B12", "vitamin B6"},
                                  {"COVID-19 in 2020", "COVID-19 in 2021"},
                                  {"after World War I ended", "after World War II ended"},
                                  {"who was Henry VIII", "who was Henry VII"},
                              });
}

TEST(GuardNumber, OneNumberHasManyForms) {
  expect_none({
      {"send 1,000 to Ann", "send 1000 to Ann"},
      {"a five minute timer", "a 5 minute timer"},
      {"twenty-five people", "25 people"},
      {"three hundred and five cars", "305 cars"},
      {"pay 2,500,000", "pay 2.5 million"},
      {"10k steps", "10,000 steps"},
      {"1e3 steps", "1000 steps"},
      {"the 3rd floor", "the third floor"},
      {"0.50 is a lot", ".5 is a lot"},
      {"the 2.0 release", "the 2 release"},
      {"Python3 is here", "Python 3 is here"},
      {"charged twice", "charged two times"},
      {"a dozen eggs", "12 eggs"},
      {"one of these", "some of these"},
      {"after World War II ended", "after World War 2 ended"},
  });
}

TEST(GuardNumber, UnitsBelongToTheNumber) {
  expect_guard(Guard::number, {
                                  {"run 5 km", "run 5 miles"},
                                  {"300 euros", "300 dollars"},
                                  {"$300", "300 euros"},
                                  {"2 days late", "2 weeks late"},
                                  {"5 mg of it", "5 g of it"},
                                  {"7 am", "7 pm"},
                                  {"20 percent", "20 dollars"},
                              });
  expect_none({
      {"run 5 km", "run 5 kilometers"},
      {"run 5km", "run 5000 m"},
      {"50% off", "50 percent off"},
      {"costs $5", "costs 5 dollars"},
      {"costs 5 USD", "costs 5 bucks"},
      {"0.5 kg of flour", "500 grams of flour"},
      {"a 20 MB file", "a 20,000 kb file"},
      {"20 °C", "20 degrees Celsius"},
      {"€20", "20 euros"},
  });
}

TEST(GuardNumber, DatesAndTimesOfDay) {
  expect_none({
      {"on 2024-03-05", "on March 5, 2024"},
      {"on 5 March 2024", "on March 5, 2024"},
      {"on 05/03/2024", "on 5 March 2024"},
      {"on 03/05/2024", "on March 5, 2024"},
      {"on 5.3.2024", "on 2024-03-05"},
      {"at 15:00", "at 3 pm"},
      {"at 7 am", "at 7 in the morning"},
      {"at 7:30 p.m.", "at 19:30"},
      {"wake me at six thirty", "wake me at 6:30"},
      {"open on Sundays", "open on Sunday"},
      {"I may go", "May I go"},
  });
  expect_guard(Guard::number, {
                                  {"on 2024-03-05", "on 2024-03-06"},
                                  {"on 5 March", "on 5 May"},
                                  {"on 31/03/2024", "on 30/03/2024"},
                                  {"at 3:15 pm", "at 3:45 pm"},
                                  {"at 15:00", "at 5 pm"},
                                  {"at 15:15", "at 3:15 am"},
                                  {"at 3:15 pm", "at 3:15 am"},
                                  {"remind me on Tuesday", "remind me on Thursday"},
                                  {"closed in March", "closed in April"},
                              });
}

TEST(GuardNumber, Versions) {
  expect_guard(Guard::number, {
                                  {"update to 2.0", "update to 2.0.1"},
                                  {"update to 1.2.3", "update to 1.2.4"},
                                  {"v1.10.1", "v1.1.1"},
                              });
  expect_none({{"update to v1.2.3", "update to 1.2.3"}, {"version 2.0.0", "version 2.0"}});
}

// --- Negation and opposites

TEST(GuardNegation, ADenialIsHeard) {
  expect_guard(Guard::negation,
               {
                   {"the payment went through", "the payment did not go through"},
                   {"the shop accepts cards", "the shop doesn't accept cards"},
                   {"the shop accepts cards", "the shop doesnt accept cards"},
                   {"the shop accepts cards", "the shop doesn’t accept cards"},
                   {"the printer works", "the printer no longer works"},
                   {"he drinks tea", "he drinks tea without sugar"},
                   {"we saw them", "we never saw them"},
                   {"there are nuts in it", "it is free of nuts"},
                   {"she can see it", "she can hardly see it"},
                   {"he opened the file", "he failed to open the file"},
                   {"make my dog bark", "make my dog stop barking"},
                   {"he won", "he almost won"},
                   {"open on Sundays", "open only on Sundays"},
                   {"Not on Friday but on Saturday.", "On Friday but not on Saturday."},
               });
}

TEST(GuardNegation, TwoDenialsTakeEachOtherBack) {
  expect_none({
      {"it is possible", "it is not impossible"},
      {"it is impossible", "it is not possible"},
      {"the door is unlocked", "the door is not locked"},
      {"she is happy", "she is not unhappy"},
      {"that was fair", "that was not unfair"},
      {"it is closed", "it is not open"},
      {"he is never without it", "he is with it"},
      {"I cannot log in", "I am unable to log in"},
      {"the printer no longer works", "the printer stopped working"},
      {"it is good, isn't it?", "it is good, is it?"},
      {"not only fast", "fast"},
  });
  expect_guard(Guard::antonym, {{"I am not unhappy", "I am not happy"},
                                {"it is not possible", "it is not impossible"}});
}

TEST(GuardAntonym, OppositesByTableAndByForm) {
  expect_guard(Guard::antonym, {
                                   {"turn on dark mode", "turn off dark mode"},
                                   {"turn the heating up", "turn the heating down"},
                                   {"enable two factors", "disable two factors"},
                                   {"enable the camera", "turn the camera off"},
                                   {"higher taxes", "lower taxes"},
                                   {"the cheapest hotel", "the most expensive hotel"},
                                   {"flights to Rome", "flights from Rome"},
                                   {"pills before meals", "pills after meals"},
                                   {"is it legal", "is it illegal"},
                                   {"subscribe", "unsubscribe"},
                                   {"a careful driver", "a careless driver"},
                                   {"the import of cars", "the export of cars"},
                                   {"upstream errors", "downstream errors"},
                                   {"taxes increased", "taxes decreased"},
                                   {"I pickled it", "I unpickled it"},
                                   {"a flammable gas", "a nonflammable gas"},
                                   {"non-standard parts", "standard parts"},
                                   {"buy the stock", "sell the stock"},
                                   {"turn left", "turn right"},
                               });
  expect_none({
      {"turn on the lights", "turn the lights on"},
      {"turn on the lights", "switch on the lights"},
      {"switch off notifications", "disable notifications"},
      {"put milk on my list", "add milk to my list"},
  });
}

// --- Names

TEST(GuardIdentifier, NamesOfMachines) {
  expect_guard(Guard::identifier, {
                                      {"run it with --verbose", "run it with --quiet"},
                                      {"run it with -v", "run it with -V"},
                                      {"delete report.pdf", "delete invoice.pdf"},
                                      {"delete /etc/hosts", "delete /etc/passwd"},
                                      {"delete C:\\a\\b", "delete C:\\a\\c"},
                                      {"ping db1.example.com", "ping db2.example.com"},
                                      {"ping 10.0.0.1", "ping 10.0.0.2"},
                                      {"open https://example.com/a", "open https://example.com/b"},
                                      {"mail ann@example.com", "mail bob@example.com"},
                                      {"print $HOME", "print $PATH"},
                                      {"what does max_tokens do", "what does min_tokens do"},
                                      {"call getUser here", "call setUser here"},
                                      {"show commit 3f2a9bc1d0", "show commit 7e1b44aa90"},
                                      {"how to use curl", "how to use curl on example.org"},
                                  });
  expect_none({{"ping DB1.example.com", "ping db1.example.com"},
               {"open `notes.txt`", "open notes.txt"},
               {"tea and/or coffee", "tea and / or coffee"}});
}

TEST(GuardEntity, NamesOfThingsAndPeople) {
  expect_guard(Guard::entity,
               {
                   {"Tell me who wrote Emma", "Tell me who wrote Persuasion"},
                   {"the height of Mount Everest", "the height of Mount Kilimanjaro"},
                   {"I work at company A", "I just joined company B"},
                   {"what is \"grep\" for", "what is \"sed\" for"},
                   {"is C++ hard", "is C# hard"},
               });
  expect_none({
      {"how do I install Python", "how do i install python"},
      {"HOW DO I INSTALL PYTHON", "how do I install Python"},
      {"the United States of America won", "the USA won"},
      {"How To Reset Your Password", "How To Change Your Password"},
      {"what is \"grep\" for", "what is grep for"},
  });
}

TEST(GuardReplaced, OneThingInThePlaceOfAnother) {
  expect_guard(Guard::replaced, {
                                    {"delete this branch", "delete this repo"},
                                    {"how do i cook salmon", "how do i cook chicken"},
                                    {"is the pharmacy open", "is the bakery open"},
                                    {"call my mother today", "call my landlord today"},
                                    {"where can I park near the museum",
                                     "please tell me where can I park near the station"},
                                    {"the claim was approved", "the loan was approved"},
                                });
  expect_none({
      {"how do I reset my password", "how can I change my password back"},
      {"who wrote it", "who is the author of it"},
      {"buy a ticket", "purchase a ticket"},
      {"is it cheap", "is it inexpensive"},
      {"which is the largest ocean", "which is the biggest ocean"},
      {"the shop sells the book", "the shop offers the book"},
  });
}

TEST(GuardOrder, TwoWordsChangePlaces) {
  expect_guard(Guard::order,
               {
                   {"from Berlin to Madrid", "from Madrid to Berlin"},
                   {"the dog bit the man", "the man bit the dog"},
                   {"wash before drying", "dry before washing"},
                   {"translate English into French", "translate French into English"},
                   {"merge main into the feature branch", "merge the feature branch into main"},
                   {"room 3/5", "room 5/3"},
                   {"does the cat chase the dog", "does the dog chase the cat"},
               });
  expect_none({
      {"a flight from Berlin to Madrid", "a flight to Madrid from Berlin"},
      {"flights between Rome and Oslo", "flights between Oslo and Rome"},
      {"buy milk, bread and eggs", "buy eggs, milk and bread"},
      {"the dog bit the man", "the man was bitten by the dog"},
      {"before drying, wash", "wash before drying"},
      {"remind me to call tomorrow", "remind me tomorrow to call"},
      {"the capital of France", "France's capital"},
      {"on 5 March", "on March 5"},
  });
}

// --- What went wrong for others

TEST(GuardCases, WhatMustNotHit) {
  EXPECT_NE(names("How do I turn on dark mode?", "How do I turn off dark mode?"), "none");
  EXPECT_EQ(names("How do I enable 2FA?", "How do I turn on 2FA?"), "none");
  EXPECT_NE(names("Alice arrived before Bob", "Bob arrived before Alice"), "none");
  EXPECT_NE(names("What is 1+1?", "What is 21+1?"), "none");
  EXPECT_NE(names("delete this branch", "delete this repo"), "none");
  EXPECT_NE(names("I work at company A", "I just joined company B"), "none");
}

TEST(GuardCases, WhatMustHit) {
  EXPECT_EQ(names("capital of France?", "France's capital?"), "none");
  const std::string_view some = "There are 37 snapshots available";
  const std::string_view others = "There are 15 snapshots available";
  EXPECT_EQ(names(some, others), "number");
  GuardSet on = GuardSet::all();
  on.remove(Guard::number);
  EXPECT_TRUE(guards_between(guard_facts(some), guard_facts(others), on).empty());
}

TEST(GuardCases, HeadingsStayApart) {
  expect_guard(Guard::number, {{"Tarea 5", "Tarea 6"}, {"§4 Formato", "§5 Formato"}});
  expect_none({{"Tarea 5", "tarea 5"}});
}

// --- Properties

const std::vector<std::string>& samples() {
  static const std::vector<std::string> kSamples = {
      "",
      " ",
      "How do I turn off the lights in room 5?",
      "the import of 5 km cables, not the export",
      "it's not impossible, is it?",
      "ping 10.0.0.1 -v --force $HOME ~/x ./y C:\\z a@b.cd",
      "on 2024-03-05 at 19:30:15, $5 or €6 or 7 % of 1,234,567.89",
      "\"quoted 'names' and\" `code`",
      "from Berlin to Madrid, from Madrid to Berlin",
      "two hundred thousand and five hundred million billion",
      "Größe über alles, ça va? Привет, мир! 你好世界 ２０２４年",
      std::string("nul \0 in it", 11),
      "\xFF\xFE broken \xC3( utf8 \xE2\x82",
      "turn turn turn the the the off off on on up",
      "un non-un dis- in-in -- - . , ; : ! ? ' \" ` ( [ {",
      "don't can't won't shan't ain't isn't it's he's we'll I'd o'clock l'eau rock'n'roll",
  };
  return kSamples;
}

TEST(GuardProperties, SymmetricAndSilentOnTheSame) {
  for (const std::string& a : samples()) {
    const GuardFacts facts = guard_facts(a);
    EXPECT_TRUE(guards_between(facts, facts).empty()) << a;
    EXPECT_EQ(guard_facts(a), facts) << a;
    for (const std::string& b : samples()) {
      EXPECT_EQ(between(a, b), between(b, a)) << a << " / " << b;
    }
  }
}

TEST(GuardProperties, NothingIsSaidOfNothing) {
  const GuardFacts none;
  EXPECT_TRUE(none.empty());
  for (const std::string& a : samples()) {
    EXPECT_TRUE(guards_between(none, guard_facts(a)).empty());
    EXPECT_TRUE(guards_between(guard_facts(a), none).empty());
  }
}

// Sentences of random words, of which many mean something to the guards. Names are few, as a text
// whose every word has a capital has no names.
std::string random_text(Random& random) {
  constexpr std::string_view kWords[] = {
      "not",   "never", "open", "closed", "the",     "5",   "km",     "miles",  "berlin", "on",
      "off",   "from",  "to",   "turn",   "dog",     "man", "unable", "able",   "7",      "pm",
      "March", "only",  "-v",   "a.b.cd", "without", "in",  "out",    "twenty", "five",   "hundred",
      "is",    "it",    "'s",   "can't",  "and",     ",",   "12:30",  "x_y"};
  std::string text;
  for (std::uint64_t n = random.below(12); n > 0; --n) {
    text.append(kWords[random.below(std::size(kWords))]).append(" ");
  }
  return text;
}

TEST(GuardProperties, WhatBothEndWithChangesNothing) {
  Random random(1);
  for (int i = 0; i < 4000; ++i) {
    const std::string a = random_text(random);
    const std::string b = random_text(random);
    const std::string tail = ". Zebra, " + random_text(random) + ".";
    EXPECT_EQ(between(a + ".", b + "."), between(a + tail, b + tail))
        << a << "/ " << b << "/" << tail;
    EXPECT_EQ(between(a, b), between(b, a)) << a << "/ " << b;
    EXPECT_TRUE(between(a, a).empty()) << a;
  }
}

TEST(GuardProperties, EachGuardIsOnOrOffByItself) {
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    const GuardFacts a = guard_facts(random_text(random));
    const GuardFacts b = guard_facts(random_text(random));
    const GuardSet all = guards_between(a, b);
    const GuardSet some = GuardSet::of_bits(static_cast<std::uint32_t>(random.bits()));
    EXPECT_EQ(guards_between(a, b, some), all & some);
  }
  EXPECT_FALSE(between("tenant a", "tenant b").has(Guard::scope));
}

TEST(GuardProperties, CaseAndUnicodeFormDoNotMatter) {
  expect_none({{"Caf\u00E9 Z\u00FCrich", "Cafe\u0301 Zu\u0308rich"},
               {"das B\u00DCRO", "das b\u00FCro"},
               {"\u041C\u041E\u0421\u041A\u0412\u0410", "\u043C\u043E\u0441\u043A\u0432\u0430"},
               {"\uFF12\uFF10 km", "20 km"},
               {"\u0665 km", "5 km"},
               {"don\u2019t go", "don't go"}});
}

TEST(GuardProperties, ExplanationsAgreeWithTheGuards) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const std::string a = random_text(random);
    const std::string b = random_text(random);
    GuardSet found;
    for (const GuardFinding& finding : explain_guards(a, b)) {
      found.add(finding.guard);
      EXPECT_FALSE(finding.a.empty() && finding.b.empty()) << a << "/ " << b;
      EXPECT_NE(a.find(finding.a), std::string::npos) << finding.a;
      EXPECT_NE(b.find(finding.b), std::string::npos) << finding.b;
    }
    EXPECT_EQ(found, between(a, b));
  }
  const auto findings = explain_guards("run 5 km", "run 5 miles");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].a, "5 km");
  EXPECT_EQ(findings[0].b, "5 miles");
}

// --- Facts that are kept

TEST(GuardFactsKept, CellsGiveTheFactsBack) {
  for (const std::string& a : samples()) {
    const GuardFacts facts = guard_facts(a);
    const auto back = GuardFacts::from_cells(facts.cells());
    ASSERT_TRUE(back) << back.status.detail;
    EXPECT_EQ(*back, facts);
  }
  EXPECT_TRUE(GuardFacts::from_cells({})->empty());
}

TEST(GuardFactsKept, AreThoseOfTheVectors) {
  std::ifstream file(DPCACHE_TEST_DATA "/guards/pairs.json");
  const vectors::Json there = vectors::Json::parse(file);
  ASSERT_GT(there["pairs"].size(), 10U);
  EXPECT_EQ(vectors::guard_vectors(), there);
}

TEST(GuardFactsKept, DamagedCellsAreRefusedOrHarmless) {
  Random random(4);
  const GuardFacts other = guard_facts(samples()[6]);
  for (const std::string& a : samples()) {
    const GuardFacts facts = guard_facts(a);
    const std::vector<std::uint64_t> cells(facts.cells().begin(), facts.cells().end());
    for (std::size_t size = 1; size < cells.size(); ++size) {
      const auto cut = GuardFacts::from_cells(std::span(cells).first(size));
      EXPECT_FALSE(cut);
      EXPECT_EQ(cut.status.code, Error::bad_snapshot);
    }
    for (int i = 0; i < 200; ++i) {
      auto damaged = cells;
      for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
        damaged[random.below(damaged.size())] ^= std::uint64_t{1} << random.below(64);
      }
      const auto read = GuardFacts::from_cells(damaged);
      if (read)
        guards_between(*read, other);  // says something or nothing, and reads no other memory
    }
  }
}

TEST(GuardFactsKept, FactsOfTwoLanguagesAreNotCompared) {
  const auto other = GuardLanguage::parse("negation: nicht");
  ASSERT_TRUE(other);
  GuardSet all = GuardSet::all();
  all.remove(Guard::scope);
  EXPECT_EQ(guards_between(guard_facts("x", *other), guard_facts("x")), all);
}

// --- Languages

TEST(GuardLanguages, EnglishIsAValidTable) {
  const auto read = GuardLanguage::parse(GuardLanguage::english_table());
  ASSERT_TRUE(read) << read.status.detail;
  EXPECT_EQ(read->id(), GuardLanguage::english().id());
}

TEST(GuardLanguages, AnotherOneIsATableOfText) {
  const auto german = GuardLanguage::parse(
      "# Deutsch\n"
      "negation: nicht nie kein keine ohne\n"
      "function: wie ich das die der ist in mein\n"
      "article: das die der ein mein\n"
      "opposite: an ein | aus ab\n"
      "opposite: größer | kleiner\n"
      "number 2: zwei\n"
      "unit meter 3: km Kilometer kilometer\n"
      "prefix 3: un\n");
  ASSERT_TRUE(german) << german.status.detail;
  EXPECT_EQ(between("das Licht ist an", "das Licht ist aus", *german).names(), "antonym");
  EXPECT_EQ(between("die Tür ist offen", "die Tür ist nicht offen", *german).names(), "negation");
  EXPECT_EQ(between("das ist möglich", "das ist unmöglich", *german).names(), "antonym");
  EXPECT_EQ(between("das ist nicht möglich", "das ist unmöglich", *german).names(), "none");
  EXPECT_EQ(between("zwei km", "2 Kilometer", *german).names(), "none");
  EXPECT_EQ(between("Es wird größer", "Es wird kleiner", *german).names(), "antonym");
  EXPECT_EQ(between("GRÖSSER", "größer", *german).names(), "none");
  const auto chinese = GuardLanguage::parse("negation: 不 没\nopposite: 开 | 关\n");
  ASSERT_TRUE(chinese);
  EXPECT_EQ(between("我要去", "我不要去", *chinese).names(), "negation");
  EXPECT_TRUE(between("开灯", "关灯", *chinese).has(Guard::antonym));
}

TEST(GuardLanguages, LinesMayBeAppendedToEnglish) {
  const auto more = GuardLanguage::parse(std::string(GuardLanguage::english_table()) +
                                         "same: bill beak\nopposite: draft | publish\n");
  ASSERT_TRUE(more) << more.status.detail;
  EXPECT_EQ(between("the bill of a bird", "the beak of a bird").names(), "replaced");
  EXPECT_EQ(between("the bill of a bird", "the beak of a bird", *more).names(), "none");
  EXPECT_TRUE(between("draft the post", "publish the post", *more).has(Guard::antonym));
  EXPECT_NE(more->id(), GuardLanguage::english().id());
}

TEST(GuardLanguages, WithoutATableNumbersAndNamesRemain) {
  const GuardLanguage none;
  EXPECT_EQ(between("abc 5", "abc 6", none).names(), "number");
  EXPECT_EQ(between("run x.example.com", "run y.example.com", none).names(), "identifier");
  EXPECT_EQ(between("it is on", "it is not on", none).names(), "none");
}

TEST(GuardLanguages, ABadLineIsNamed) {
  struct Bad {
    std::string_view table;
    std::string_view pointer;
    std::string_view detail;
  };
  const std::string long_word(65, 'x');
  const std::string long_table = "negation: " + long_word;
  const Bad bad[] = {
      {"negation: not\nnegatoin: no", "/line/2", "no rule 'negatoin'"},
      {"negation not", "/line/1", "has no colon"},
      {"number: two", "/line/1", "whole number"},
      {"number -2: two", "/line/1", "whole number"},
      {"number 20000000000: two", "/line/1", "whole number"},
      {"number 2 3: two", "/line/1", "something else"},
      {"scale 31: lots", "/line/1", "power of ten"},
      {"unit meter: m", "/line/1", "power of ten"},
      {"unit meter 31: m", "/line/1", "power of ten"},
      {"opposite: on off", "/line/1", "two groups"},
      {"opposite: a | b | c", "/line/1", "two groups"},
      {"negation: a | b", "/line/1", "no groups"},
      {"same: a_b_c_d", "/line/1", "two or three words"},
      {"same: _a", "/line/1", "two or three words"},
      {"prefix 3: unbelievably", "/line/1", "eight letters"},
      {"stem: latin", "/line/1", "english or none"},
      {long_table, "/line/1", "64 bytes"},
  };
  for (const auto& [table, pointer, detail] : bad) {
    const auto read = GuardLanguage::parse(table);
    EXPECT_FALSE(read) << table;
    EXPECT_EQ(read.status.code, Error::bad_config) << table;
    EXPECT_EQ(read.status.pointer, pointer) << table;
    EXPECT_NE(read.status.detail.find(detail), std::string::npos) << read.status.detail;
  }
}

// --- Sets of guards

TEST(GuardSets, NamesGoThereAndBack) {
  EXPECT_EQ(GuardSet::all().names(),
            "number,negation,antonym,identifier,entity,replaced,order,scope");
  EXPECT_EQ(GuardSet().names(), "none");
  for (std::uint32_t bits = 0; bits < 1U << kGuards; ++bits) {
    const GuardSet set = GuardSet::of_bits(bits);
    EXPECT_EQ(set.bits(), bits);
    EXPECT_EQ(*GuardSet::parse(set.names()), set);
  }
  EXPECT_EQ(*GuardSet::parse("all"), GuardSet::all());
  for (const std::string_view name :
       {"", "numbers", "number,", ",number", "number, order", "NUMBER"}) {
    const auto read = GuardSet::parse(name);
    EXPECT_FALSE(read) << name;
    EXPECT_EQ(read.status.code, Error::bad_config);
    EXPECT_EQ(read.status.pointer, "/guards");
    EXPECT_NE(read.status.detail.find("scope"), std::string::npos);
  }
}

// --- Hostile texts

TEST(GuardHostile, AMegabyteIsReadUpToALimit) {
  constexpr std::size_t kSize = 1U << 20U;
  const std::string_view units[] = {"a",  "a ",     "not ",   "5",  "5 ", "1,000", "1,",
                                    "'",  "n't ",   "-",      "/",  ".",  "a.",    "turn ",
                                    "un", "one ",   "\xFF",   "\"", "a_", "3:",    "hundred ",
                                    "\n", "\u0301", "\u4F60", "@",  "\\", "A",     "on off "};
  for (const std::string_view unit : units) {
    std::string text;
    while (text.size() < kSize) text.append(unit);
    const GuardFacts facts = guard_facts(text);
    EXPECT_LE(facts.cells().size(), 4 * kMaxGuardWords + 2) << unit;
    EXPECT_TRUE(guards_between(facts, facts).empty());
    const GuardFacts other = guard_facts("turn off 5 lights " + text);
    EXPECT_EQ(guards_between(facts, other), guards_between(other, facts)) << unit;
  }
}

TEST(GuardHostile, RandomBytesAreText) {
  Random random(5);
  GuardFacts before;
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (std::uint64_t n = random.below(120); n > 0; --n) {
      text.push_back(random.one_in(2) ? " 5-./:'\"$%#@\\,n"[random.below(15)]
                                      : static_cast<char>(random.below(256)));
    }
    const GuardFacts facts = guard_facts(text);
    EXPECT_TRUE(GuardFacts::from_cells(facts.cells()));
    EXPECT_TRUE(guards_between(facts, facts).empty());
    EXPECT_EQ(guards_between(facts, before), guards_between(before, facts));
    before = facts;
  }
}

}  // namespace
}  // namespace dpcache
