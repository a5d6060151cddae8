// The studies on real embeddings, where different items overlap: what a threshold can part, what a
// budget costs, and pairs that look alike and differ.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dpcache/text.h"
#include "dpcache/train.h"
#include "paper/data.h"
#include "paper/grouped.h"
#include "paper/lineup.h"
#include "paper/mechanism.h"
#include "paper/table.h"
#include "studies/bound.h"
#include "studies/studies.h"

namespace dpcache::paper {
namespace {

using studies::Random;
using studies::Spread;
using studies::Stream;
using Embedding = std::function<std::optional<Key>(const std::string&)>;

std::optional<Key> by_encoder(const std::string& text) {
  static const Encoder kEncoder;  // no masks: numbers count
  Key key(kEncoder.config().dimension);
  if (!kEncoder.encode(text, key)) return std::nullopt;
  return key;
}

const std::vector<double>& thresholds() {
  static const std::vector<double> kList = {.3,  .4, .5,  .55, .6,  .65, .7,
                                            .75, .8, .85, .9,  .95, .98};
  return kList;
}

// A stream of what was said, and what is asked afterwards.
struct Talk {
  std::vector<Key> keys;
  std::vector<std::size_t> items;  // what each key is of
  std::vector<Key> queries;
  std::vector<std::size_t> query_items;
  std::vector<std::size_t> classes;  // of the items
};

// Two thirds are written in random order, one third is asked; each intent has a random class.
Talk talk_of(const std::vector<Utterance>& utterances, const Embedding& embedding,
             std::uint64_t seed) {
  Random random(seed);
  Talk talk;
  std::map<std::string, std::size_t> intents;
  std::vector<std::pair<Key, std::size_t>> all;
  for (const Utterance& one : utterances) {
    const std::optional<Key> key = embedding(one.text);
    if (!key) continue;
    const std::size_t item = intents.try_emplace(one.intent, intents.size()).first->second;
    if (item == talk.classes.size()) talk.classes.push_back(random.below(kClasses));
    all.emplace_back(*key, item);
  }
  random.shuffle(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool written = i < 2 * all.size() / 3;
    (written ? talk.keys : talk.queries).push_back(all[i].first);
    (written ? talk.items : talk.query_items).push_back(all[i].second);
  }
  return talk;
}

// A real stream whose items are their texts; each item is asked by its own text.
Talk talk_of(const RealStream& real, const Embedding& embedding, std::size_t most_events) {
  Talk talk;
  std::vector<bool> seen(real.texts.size(), false);
  std::vector<std::size_t> asked;
  talk.classes = real.classes;
  std::vector<std::optional<Key>> keys;
  for (const std::string& text : real.texts) keys.push_back(embedding(text));
  for (const Event& event : real.events) {
    if (!keys[event.text] || talk.keys.size() == most_events) continue;
    talk.keys.push_back(*keys[event.text]);
    talk.items.push_back(event.item);
    if (seen[event.text]) continue;
    seen[event.text] = true;
    asked.push_back(event.text);
  }
  Random random(0);
  random.shuffle(asked);  // so that the first of them are drawn at random
  for (std::size_t text : asked) {
    talk.queries.push_back(*keys[text]);
    talk.query_items.push_back(text);
  }
  return talk;
}

Stream stream_of(const Talk& talk) {
  Stream stream;
  stream.keys = talk.keys;
  stream.queries = talk.queries;
  for (std::size_t item : talk.items) stream.classes.push_back(talk.classes[item]);
  for (std::size_t item : talk.query_items) stream.answers.push_back(talk.classes[item]);
  return stream;
}

// Whoever keeps all tokens of a long stream is asked 1,000 of its items.
double recall(const Mechanism& mechanism, const Stream& stream) {
  const std::size_t asked = mechanism.slots() > 30000.0
                                ? std::min<std::size_t>(stream.queries.size(), 1000)
                                : stream.queries.size();
  double right = 0.0;
  for (std::size_t i = 0; i < asked; ++i) {
    if (mechanism.answer(stream.queries[i]) == stream.answers[i]) ++right;
  }
  return right / static_cast<double>(asked);
}

// Slots, recall, and the share of merges that joined a slot which another item had opened, for each
// threshold; full attention beside them.
void put_thresholds(const std::string& series, const std::vector<Talk>& seeds) {
  for (double least : thresholds()) {
    Spread slots;
    Spread recalls;
    Spread wrong;
    for (const Talk& talk : seeds) {
      const Stream stream = stream_of(talk);
      studies::Memory memory(studies::settings(least, stream.keys[0].size()));
      std::map<SlotId, std::size_t> openers;
      double merges = 0.0;
      double false_merges = 0.0;
      for (std::size_t t = 0; t < stream.keys.size(); ++t) {
        const Decision decision = memory.observe(stream.keys[t], stream.classes[t]);
        const auto [at, opened] = openers.try_emplace(decision.slot, talk.items[t]);
        if (opened) continue;
        ++merges;
        if (at->second != talk.items[t]) ++false_merges;
      }
      slots.add(memory.slots());
      recalls.add(memory.recall(stream));
      wrong.add(false_merges / std::max(merges, 1.0));
    }
    put("overlap", series, least, "slots", slots);
    put("overlap", series, least, "recall", recalls);
    put("overlap", series, least, "wrong merges", wrong);
  }
  Spread all;
  Spread written;
  Spread distinct;
  for (const Talk& talk : seeds) {
    const Stream stream = stream_of(talk);
    written.add(static_cast<double>(stream.keys.size()));
    distinct.add(
        static_cast<double>(std::set<std::size_t>(talk.items.begin(), talk.items.end()).size()));
    FullAttention attention;
    for (std::size_t t = 0; t < stream.keys.size(); ++t) {
      attention.write(stream.keys[t], stream.classes[t]);
    }
    all.add(recall(attention, stream));
  }
  put("overlap", series, 0, "full attention", all);
  put("overlap", series, 0, "written", written);
  put("overlap", series, 0, "distinct", distinct);
}

// A stricter dpcache too: the threshold limits it as much as the budget.
void put_frontier(const std::string& series, const std::vector<Talk>& seeds) {
  struct Case {
    std::string name;
    const Contender* contender;
    double least;
  };
  std::vector<Case> cases;
  for (const Contender& one : budgeted_contenders()) cases.push_back({one.name, &one, 0.6});
  cases.insert(cases.begin() + 1, {"dpcache, s* = .85", cases[0].contender, 0.85});
  for (const Case& one : cases) {
    for (std::size_t budget : {25U, 50U, 100U, 200U, 400U, 800U, 1600U}) {
      Spread recalls;
      Spread slots;
      Spread floats;
      for (std::size_t seed = 0; seed < seeds.size(); ++seed) {
        const Stream stream = stream_of(seeds[seed]);
        Setting setting;
        setting.dimension = stream.keys[0].size();
        setting.budget = budget;
        setting.least_similarity = one.least;
        setting.seed = seed;
        const std::unique_ptr<Mechanism> mechanism = one.contender->make(setting);
        for (std::size_t t = 0; t < stream.keys.size(); ++t) {
          mechanism->write(stream.keys[t], stream.classes[t]);
        }
        mechanism->finish();
        recalls.add(recall(*mechanism, stream));
        slots.add(mechanism->slots());
        floats.add(mechanism->floats());
      }
      put("overlap_frontier:" + series, one.name, static_cast<double>(budget), "floats", floats);
      put("overlap_frontier:" + series, one.name, static_cast<double>(budget), "recall", recalls);
      put("overlap_frontier:" + series, one.name, static_cast<double>(budget), "slots", slots);
    }
  }
}

// The chance that of one pair of either kind the same is the more alike; equal ones count half.
double area(const std::vector<double>& same, std::vector<double> different) {
  std::sort(different.begin(), different.end());
  double sum = 0.0;
  for (double s : same) {
    const auto below = std::lower_bound(different.begin(), different.end(), s);
    const auto equal = std::upper_bound(below, different.end(), s);
    sum +=
        static_cast<double>(below - different.begin()) + 0.5 * static_cast<double>(equal - below);
  }
  return sum / static_cast<double>(same.size()) / static_cast<double>(different.size());
}

double share_from(const std::vector<double>& list, double least) {
  const auto above = std::count_if(list.begin(), list.end(), [&](double s) { return s >= least; });
  return static_cast<double>(above) / static_cast<double>(list.size());
}

struct Compared {
  std::vector<double> same;
  std::vector<double> different;
  std::map<std::string, std::vector<double>> kinds;
};

// Both texts of a pair need a sentence embedding, so that all embeddings judge the same pairs.
void put_pairs(const std::string& set, const std::vector<TextPair>& pairs,
               const SentenceVectors& sentences, const WordVectors& words) {
  const std::vector<std::pair<const char*, Embedding>> embeddings = {
      {"sentences", [&](const std::string& text) { return sentences.of(text); }},
      {"words", [&](const std::string& text) { return words.of(text); }},
      {"built-in encoder", by_encoder}};
  for (const auto& [name, embedding] : embeddings) {
    Compared found;
    for (const TextPair& pair : pairs) {
      if (!sentences.of(pair.a) || !sentences.of(pair.b)) continue;
      const std::optional<Key> a = embedding(pair.a);
      const std::optional<Key> b = embedding(pair.b);
      if (!a || !b) continue;
      const double similarity = cosine(*a, *b);
      (pair.same ? found.same : found.different).push_back(similarity);
      if (!pair.kind.empty()) found.kinds[pair.kind].push_back(similarity);
    }
    const std::string study = "pairs:" + set;
    put(study, name, 0, "same", static_cast<double>(found.same.size()));
    put(study, name, 0, "different", static_cast<double>(found.different.size()));
    put(study, name, 0, "area", area(found.same, found.different));
    for (int step = 0; step <= 40; ++step) {
      const double least = 0.025 * step;
      put(study, name, least, "same merged", share_from(found.same, least));
      put(study, name, least, "different merged", share_from(found.different, least));
    }
    const double text_least = 1.0 - static_cast<double>(kTextTau);
    put(study, name, text_least, "same merged", share_from(found.same, text_least));
    put(study, name, text_least, "different merged", share_from(found.different, text_least));
    for (auto& [kind, list] : found.kinds) {
      std::sort(list.begin(), list.end());
      put(study, name, 0, "median " + kind, list[list.size() / 2]);
    }
  }
}

// How often the stated bound on false merges is broken, of sets drawn from the different pairs.
void put_bounds(const std::string& name, const std::vector<TextPair>& pairs) {
  std::vector<Trial> pool;
  for (const TextPair& pair : pairs) {
    if (pair.same) continue;
    const std::optional<Key> a = by_encoder(pair.a);
    const std::optional<Key> b = by_encoder(pair.b);
    if (!a || !b) continue;
    pool.push_back(trial_of({*novelty_between(*a, *b), Verdict::different}));
  }
  for (const studies::BoundCase& one_case : studies::kBoundCases) {
    put_tally(
        name, one_case,
        studies::bound_on_a_pool(pool, one_case, Per::pair, kBoundSets, Random(one_case.pairs)));
  }
}

}  // namespace

void overlap() {
  const SentenceVectors sentences;
  const WordVectors words;
  const Embedding by_sentence = [&](const std::string& text) { return sentences.of(text); };
  const Embedding by_word = [&](const std::string& text) { return words.of(text); };
  const RealStream purchases = retail_by_description();
  RealStream events = clinical();
  for (std::string& text : events.texts) {  // without the kind, which is asked for, and the code
    text.erase(0, text.find(' ') + 1);
    text.erase(0, text.find(' ') + 1);
  }
  put_thresholds("retail, sentences", {talk_of(purchases, by_sentence, 100000)});
  put_thresholds("retail, words", {talk_of(purchases, by_word, 100000)});
  put_thresholds("clinical, sentences", {talk_of(events, by_sentence, 100000)});
  put_thresholds("clinical, words", {talk_of(events, by_word, 100000)});
  for (const auto& [name, utterances] :
       {std::pair{"banking", banking()}, std::pair{"assistant", assistant()}}) {
    std::vector<Utterance> known;  // those with a sentence embedding
    for (const Utterance& one : utterances) {
      if (sentences.of(one.text)) known.push_back(one);
    }
    for (const auto& [kind, embedding] :
         {std::pair{"sentences", by_sentence}, std::pair{"words", by_word}}) {
      std::vector<Talk> seeds;
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        seeds.push_back(talk_of(known, embedding, seed));
      }
      put_thresholds(std::string(name) + ", " + kind, seeds);
      if (std::string(kind) == "words") continue;
      put_frontier(name, seeds);
    }
  }
}

void alike_pairs() {
  const SentenceVectors sentences;
  const WordVectors words;
  put_pairs("word order", paws(), sentences, words);
  put_pairs("negation", negations(), sentences, words);
  put_pairs("probes", probes(), sentences, words);
  put_bounds("word order", paws());
  put_bounds("negation", negations());
}

}  // namespace dpcache::paper
