// The studies on real streams: what is kept and recalled of purchases, clinical events, claims and
// logs; how recall falls with the budget; and budgets that move, on windows of them.
//
// Two ways to a key, each with one setting for all streams. "ids": what a stream names is a name,
// so each different text gets a random direction, d = 64, with noise of .3, and the library's
// default tau; as in the studies of random items. "texts": the built-in encoder with all masks and
// its tau, as `dpcache distinct` runs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dpcache/templates.h"
#include "dpcache/text.h"
#include "paper/data.h"
#include "paper/grouped.h"
#include "paper/lineup.h"
#include "paper/mechanism.h"
#include "paper/table.h"
#include "studies/budgets.h"
#include "studies/studies.h"

namespace dpcache::paper {
namespace {

using studies::Random;
using studies::Spread;
using studies::Stream;

constexpr double kLeast = 0.6;  // 1 - the library's default tau
constexpr double kNoise = 0.3;
// Whoever keeps all tokens of a long stream is asked this many of its items, drawn at random.
constexpr std::size_t kAskedOfAll = 500;

// What is written, and what is asked of each item: the key of the text that it had last.
Stream as_stream(Random& random, const RealStream& real, const std::vector<Key>& keys,
                 double noise) {
  Stream stream;
  std::vector<std::size_t> last(real.classes.size());
  for (const Event& event : real.events) {
    stream.keys.push_back(studies::noisy(random, keys[event.text], noise));
    stream.classes.push_back(real.classes[event.item]);
    last[event.item] = event.text;
  }
  std::vector<std::size_t> order(last.size());  // so that the first of them are drawn at random
  std::iota(order.begin(), order.end(), std::size_t{0});
  random.shuffle(order);
  for (std::size_t item : order) {
    stream.queries.push_back(studies::noisy(random, keys[last[item]], noise));
    stream.answers.push_back(real.classes[item]);
  }
  return stream;
}

// A random direction for each text.
Stream of_ids(const RealStream& real, std::uint64_t seed) {
  Random random(seed);
  std::vector<Key> keys;
  for (std::size_t i = 0; i < real.texts.size(); ++i) {
    keys.push_back(studies::random_key(random, 64));
  }
  return as_stream(random, real, keys, kNoise);
}

std::vector<Key> encoded(const std::vector<std::string>& texts, std::uint64_t seed) {
  EncoderConfig config;
  config.masks = Masks::all();
  config.seed = seed;
  const Encoder encoder = *Encoder::create(config);
  std::vector<Key> keys;
  for (const std::string& text : texts) {
    Key& key = keys.emplace_back(config.dimension);
    if (!encoder.encode(text, key)) throw std::runtime_error("a text was refused");
  }
  return keys;
}

double recall(const Mechanism& mechanism, const Stream& stream, std::size_t asked) {
  asked = std::min(asked, stream.queries.size());
  double right = 0.0;
  for (std::size_t i = 0; i < asked; ++i) {
    if (mechanism.answer(stream.queries[i]) == stream.answers[i]) ++right;
  }
  return right / static_cast<double>(asked);
}

// Figures of one mechanism over seeds.
struct Row {
  Spread recall;
  Spread slots;
  Spread floats;
  void add(Mechanism& mechanism, const Stream& stream) {
    for (std::size_t t = 0; t < stream.keys.size(); ++t) {
      mechanism.write(stream.keys[t], stream.classes[t]);
    }
    mechanism.finish();
    const bool keeps_all = mechanism.slots() > 10000.0;
    recall.add(paper::recall(mechanism, stream, keeps_all ? kAskedOfAll : stream.queries.size()));
    slots.add(mechanism.slots());
    floats.add(mechanism.floats());
  }
  void put_all(const std::string& study, const std::string& series, double x) const {
    put(study, series, x, "recall", recall);
    put(study, series, x, "slots", slots);
    put(study, series, x, "floats", floats);
  }
};

void put_shape(const std::string& study, const RealStream& real) {
  put(study, real.name, 0, "events", static_cast<double>(real.events.size()));
  put(study, real.name, 0, "distinct", static_cast<double>(real.classes.size()));
  put(study, real.name, 0, "texts", static_cast<double>(real.texts.size()));
  put(study, real.name, 0, "largest class", real.largest_class());
}

const Contender& budgeted(const std::string& name) {
  for (const Contender& one : budgeted_contenders()) {
    if (one.name == name) return one;
  }
  throw std::invalid_argument("no mechanism with a budget is called " + name);
}

// dpcache without a budget, full attention, and what evicts: with a quarter of the items' number,
// with that number, and with a quarter of the events' (H2O only where that is not too long: its
// time is the events' times the budget).
void ids_of(const std::vector<RealStream>& streams, const std::string& series,
            std::uint64_t seeds) {
  std::map<std::string, Row> rows;
  for (const RealStream& real : streams) {
    const std::size_t items = real.classes.size();
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const Stream stream = of_ids(real, seed);
      const auto run = [&](const std::string& name, const std::string& suffix,
                           const Contender& contender, std::size_t budget) {
        Setting setting;
        setting.least_similarity = kLeast;
        setting.budget = std::max<std::size_t>(budget, 1);
        setting.seed = seed;
        const std::unique_ptr<Mechanism> mechanism = contender.make(setting);
        rows[name + suffix].add(*mechanism, stream);
      };
      run("dpcache", "", contender("dpcache"), 0);
      run("full attention", "", contender("full attention"), 0);
      for (const auto& [suffix, budget] :
           {std::pair<const char*, std::size_t>{", items / 4", items / 4},
            {", items", items},
            {", events / 4", real.events.size() / 4}}) {
        if (budget <= items) run("dpcache", suffix, budgeted("dpcache"), budget);
        run("recency", suffix, contender("recency"), budget);
        if (static_cast<double>(budget) * static_cast<double>(real.events.size()) < 1e9) {
          run("H2O (no recent)", suffix, contender("H2O (no recent)"), budget);
        }
      }
    }
  }
  for (const auto& [name, row] : rows) row.put_all("real_ids:" + series, name, 0);
}

// The share of events whose group has exactly the events of their label.
double grouping_accuracy(const std::vector<std::size_t>& groups,
                         const std::vector<std::size_t>& labels) {
  std::map<std::size_t, std::size_t> of_group;
  std::map<std::size_t, std::size_t> of_label;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> of_both;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    ++of_group[groups[i]];
    ++of_label[labels[i]];
    ++of_both[{groups[i], labels[i]}];
  }
  double right = 0.0;
  for (const auto& [both, count] : of_both) {
    if (of_group[both.first] == count && of_label[both.second] == count) {
      right += static_cast<double>(count);
    }
  }
  return right / static_cast<double>(groups.size());
}

// The slot that each event went to.
std::vector<std::size_t> groups_of(const RealStream& real, const std::vector<Key>& keys,
                                   const Config& config) {
  studies::Memory memory(config);
  std::vector<std::size_t> groups;
  for (const Event& event : real.events) {
    groups.push_back(memory.observe(keys[event.text], 0).slot);
  }
  return groups;
}

Config text_settings() {
  return studies::settings(1.0 - static_cast<double>(kTextTau), EncoderConfig{}.dimension);
}

// dpcache and full attention on encoded texts; a seed is one of the encoder's hash.
void texts_of(const std::vector<RealStream>& streams, const std::string& series,
              std::uint64_t seeds) {
  Row ours;
  Row all;
  for (const RealStream& real : streams) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      Random random(seed);
      const Stream stream = as_stream(random, real, encoded(real.texts, seed), 0.0);
      Dpcache mechanism(text_settings());
      ours.add(mechanism, stream);
      FullAttention attention;
      all.add(attention, stream);
    }
  }
  if (streams.size() == 1) {
    EncoderConfig config;
    config.masks = Masks::all();
    const Encoder encoder = *Encoder::create(config);
    std::set<std::string> masked;
    for (const std::string& text : streams[0].texts) masked.insert(*encoder.mask(text));
    put("real_texts:" + series, "dpcache", 0, "masked texts", static_cast<double>(masked.size()));
  }
  ours.put_all("real_texts:" + series, "dpcache", 0);
  all.put_all("real_texts:" + series, "full attention", 0);
}

// Words at blanks; of the templates of one length the one with most equal words, if they are
// enough. Differing words become parameters, which may count as equal ones.
std::vector<std::size_t> simple_templates(const std::vector<std::string>& messages, double least,
                                          double parameter_counts) {
  using Words = std::vector<std::string>;
  const std::string parameter(1, '\0');
  std::vector<Words> templates;
  std::vector<std::size_t> groups;
  for (const std::string& message : messages) {
    Words words;
    for (std::size_t begin = 0; begin < message.size();) {
      const std::size_t end = std::min(message.find_first_of(" \t", begin), message.size());
      if (end > begin) words.push_back(message.substr(begin, end - begin));
      begin = end + 1;
    }
    double most = -1.0;
    std::size_t nearest = 0;
    for (std::size_t i = 0; i < templates.size(); ++i) {
      if (templates[i].size() != words.size()) continue;
      double equal = 0.0;
      for (std::size_t j = 0; j < words.size(); ++j) {
        if (templates[i][j] == words[j]) ++equal;
        if (templates[i][j] == parameter) equal += parameter_counts;
      }
      const double share = equal / static_cast<double>(std::max<std::size_t>(words.size(), 1));
      if (share > most) {
        most = share;
        nearest = i;
      }
    }
    if (most < least) {
      nearest = templates.size();
      templates.push_back(words);
    } else {
      for (std::size_t j = 0; j < words.size(); ++j) {
        if (templates[nearest][j] != words[j]) templates[nearest][j] = parameter;
      }
    }
    groups.push_back(nearest);
  }
  return groups;
}

// The template of each message when all are read.
std::vector<std::size_t> learned_templates(const std::vector<std::string>& messages) {
  Templates templates;
  std::vector<TemplateId> found;
  std::map<TemplateId, TemplateId> into;
  for (const std::string& message : messages) {
    const Result<Learned> learned = templates.learn(message);
    if (!learned) throw std::runtime_error("a message was refused");
    found.push_back(learned->id);
    for (TemplateId folded : learned->folded) into[folded] = learned->id;
  }
  std::vector<std::size_t> groups;
  for (TemplateId id : found) {
    while (into.contains(id)) id = into[id];
    groups.push_back(id);
  }
  return groups;
}

void put_groups(const std::string& log, const std::string& rule, const RealStream& real,
                const std::vector<std::size_t>& groups) {
  std::vector<std::size_t> corrected;
  for (const Event& event : real.events) corrected.push_back(event.item);
  const std::set<std::size_t> different(groups.begin(), groups.end());
  put("real_logs:" + rule, log, 0, "groups", static_cast<double>(different.size()));
  put("real_logs:" + rule, log, 0, "corrected", grouping_accuracy(groups, corrected));
  put("real_logs:" + rule, log, 0, "original", grouping_accuracy(groups, real.original));
}

// What a window's events are: those that came; the same in random order; or as many, drawn evenly
// from its items.
enum class Within { as_it_came, shuffled, even };

// Windows of a stream as phases, at `places` of it.
std::vector<studies::Phases> windows_of(const RealStream& real, const std::vector<Key>* keys,
                                        std::size_t length, std::size_t count, std::size_t places,
                                        Spread& distinct, Within within = Within::as_it_came) {
  std::vector<studies::Phases> all;
  const std::size_t whole = length * count;
  for (std::size_t place = 0; place < places; ++place) {
    Random random(place);
    std::map<std::size_t, Key> drawn;  // of the ids
    const auto key_of = [&](std::size_t text) {
      if (keys != nullptr) return (*keys)[text];
      const auto [at, is_new] = drawn.try_emplace(text);
      if (is_new) at->second = studies::random_key(random, 64);
      return studies::noisy(random, at->second, kNoise);
    };
    std::size_t t = places == 1 ? 0 : (real.events.size() - whole) * place / (places - 1);
    studies::Phases phases;
    for (std::size_t window = 0; window < count; ++window) {
      Stream& phase = phases.emplace_back();
      std::map<std::size_t, std::size_t> last;
      std::vector<Event> events(real.events.begin() + static_cast<std::ptrdiff_t>(t),
                                real.events.begin() + static_cast<std::ptrdiff_t>(t + length));
      t += length;
      if (within == Within::shuffled) random.shuffle(events);
      if (within == Within::even) {
        std::map<std::size_t, Event> of_item;
        for (const Event& event : events) of_item.try_emplace(event.item, event);
        std::vector<Event> items;
        items.reserve(of_item.size());
        for (const auto& [item, event] : of_item) items.push_back(event);
        for (Event& event : events) event = items[random.below(items.size())];
      }
      for (const Event& event : events) {
        phase.keys.push_back(key_of(event.text));
        phase.classes.push_back(real.classes[event.item]);
        last[event.item] = event.text;
      }
      distinct.add(static_cast<double>(last.size()));
      for (const auto& [item, text] : last) {
        phase.queries.push_back(key_of(text));
        phase.answers.push_back(real.classes[item]);
      }
    }
    all.push_back(std::move(phases));
  }
  return all;
}

Config moving(BudgetKind kind, double m0, const Config& like) {
  Config config = studies::budgeted(kind, m0);
  config.dimension = like.dimension;
  config.tau = like.tau;
  return config;
}

void put_budgets(const std::string& series, const Config& like,
                 const std::vector<studies::Phases>& places, const Spread& distinct) {
  put("real_budget", series, 0, "distinct", distinct);
  put("real_budget", series, 0, "least distinct", distinct.least());
  put("real_budget", series, 0, "most distinct", distinct.largest());
  const studies::Outcome whole = studies::run(moving(BudgetKind::none, 6.0, like), places);
  put("real_budget", series, 0, "unbounded recall", whole.recall);
  put("real_budget", series, 0, "unbounded slots", whole.slots);
  for (const auto& [kind, name] :
       {std::pair{BudgetKind::adaptive, "adaptive"}, std::pair{BudgetKind::ghost, "ghost"}}) {
    const studies::Outcome outcome = studies::run(moving(kind, 6.0, like), places);
    put("real_budget", series, 0, std::string(name) + " recall", outcome.recall);
    put("real_budget", series, 0, std::string(name) + " slots", outcome.slots);
    const Spread fixed =
        studies::fixed_recalls(outcome.slots.mean(), places, moving(BudgetKind::fixed, 6.0, like));
    Spread gain;  // place by place
    for (std::size_t place = 0; place < places.size(); ++place) {
      gain.add(outcome.recall.all()[place] - fixed.all()[place]);
    }
    put("real_budget", series, 0, std::string(name) + " fixed recall", fixed);
    put("real_budget", series, 0, std::string(name) + " gain", gain);
  }
}

// Slots over time, and the different items of each window.
void put_trace(const Config& like, const studies::Phases& phases) {
  for (const auto& [kind, name] :
       {std::pair{BudgetKind::adaptive, "adaptive"}, std::pair{BudgetKind::ghost, "ghost list"}}) {
    studies::Memory memory(moving(kind, 6.0, like));
    std::size_t step = 0;
    for (const Stream& phase : phases) {
      const auto distinct = static_cast<double>(phase.queries.size());
      for (std::size_t t = 0; t < phase.keys.size(); ++t, ++step) {
        memory.observe(phase.keys[t], phase.classes[t]);
        if (t % 5 == 0 || t + 1 == phase.keys.size()) {
          put("real_trace", name, static_cast<double>(step), "slots", memory.slots());
        }
      }
      if (kind != BudgetKind::adaptive) continue;
      for (std::size_t edge : {step - phase.keys.size(), step - 1}) {
        put("real_trace", "different templates of the window", static_cast<double>(edge), "slots",
            distinct);
      }
    }
  }
}

}  // namespace

void real_retail() {
  const RealStream real = retail();
  put_shape("real_shape", real);
  ids_of({real}, "retail", 5);
}

void real_ids() {
  for (const RealStream& real : {clinical(), claims()}) {
    put_shape("real_shape", real);
    ids_of({real}, real.name, 5);
  }
  const std::vector<RealStream> twelve = logs(0);
  for (const RealStream& log : twelve) put_shape("real_shape", log);
  ids_of(twelve, "logs", 5);
}

void real_texts() {
  for (const RealStream& real : {retail(), clinical(), claims()}) texts_of({real}, real.name, 3);
  const std::vector<RealStream> twelve = logs(0);
  texts_of(twelve, "logs", 3);
  const std::vector<std::vector<std::string>> messages = log_messages();
  for (std::size_t i = 0; i < twelve.size(); ++i) {
    const RealStream& log = twelve[i];
    std::vector<std::size_t> masked;
    for (const Event& event : log.events) masked.push_back(event.text);
    put_groups(log.name, "masks alone", log, masked);
    put_groups(log.name, "encoder", log, groups_of(log, encoded(log.texts, 0), text_settings()));
    put_groups(log.name, "templates", log, learned_templates(messages[i]));
    put_groups(log.name, "words, parameters count", log, simple_templates(messages[i], 0.5, 1.0));
    put_groups(log.name, "words, parameters do not", log, simple_templates(messages[i], 0.4, 0.0));
  }
}

void real_frontier() {
  RealStream purchases = retail();
  purchases.events.resize(100000);
  std::size_t seen = 0;
  for (const Event& event : purchases.events) seen = std::max(seen, event.item + 1);
  purchases.classes.resize(seen);  // numbered as they came
  purchases.texts.resize(seen);
  constexpr std::uint64_t kRuns = 5;
  for (const RealStream& real : {purchases, clinical(), claims()}) {
    std::vector<std::size_t> budgets;
    for (std::size_t share : {32U, 16U, 8U, 4U, 2U, 1U}) {
      budgets.push_back(real.classes.size() / share);
    }
    put("real_frontier_items", real.name, 0, "distinct", static_cast<double>(real.classes.size()));
    for (const char* name :
         {"dpcache", "H2O (no recent)", "H2O (B/8 recent)", "recency", "SnapKV", "TOVA"}) {
      for (std::size_t budget : budgets) {
        Row row;
        for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
          Setting setting;
          setting.least_similarity = kLeast;
          setting.budget = budget;
          setting.seed = seed;
          const std::unique_ptr<Mechanism> mechanism = budgeted(name).make(setting);
          row.add(*mechanism, of_ids(real, seed));
        }
        row.put_all("real_frontier:" + real.name, name, static_cast<double>(budget));
      }
    }
  }
}

void real_budgets() {
  const RealStream purchases = retail();
  for (std::size_t length : {108U, 500U, 2000U}) {
    Spread distinct;
    const std::vector<studies::Phases> places =
        windows_of(purchases, nullptr, length, 8, 20, distinct);
    put_budgets("retail, windows of " + std::to_string(length), studies::settings(0.5), places,
                distinct);
  }
  std::vector<studies::Phases> all;
  Spread all_distinct;
  for (const RealStream& log : logs(0)) {
    const std::vector<Key> keys = encoded(log.texts, 0);
    Spread distinct;
    std::vector<studies::Phases> places = windows_of(log, &keys, 200, 9, 10, distinct);
    if (log.name == "BGL") {
      put_budgets("BGL, windows of 200", text_settings(), places, distinct);
      put_trace(text_settings(), places[0]);
      for (const auto& [within, name] : {std::pair{Within::shuffled, "BGL, windows shuffled"},
                                         {Within::even, "BGL, windows drawn evenly"}}) {
        Spread again;
        const std::vector<studies::Phases> other =
            windows_of(log, &keys, 200, 9, 10, again, within);
        put_budgets(name, text_settings(), other, again);
      }
    }
    for (const studies::Phases& phases : places) {
      all.push_back(phases);
      for (const Stream& phase : phases) {
        all_distinct.add(static_cast<double>(phase.queries.size()));
      }
    }
  }
  put_budgets("twelve logs, windows of 200", text_settings(), all, all_distinct);
}

}  // namespace dpcache::paper
