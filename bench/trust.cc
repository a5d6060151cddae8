// What the guards say of pairs of texts, and what that costs; a cache of answers over a stream of
// labelled vectors, by several rules; and how well a calibrated tau keeps its bound.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpcache/guards.h"
#include "dpcache/text.h"
#include "dpcache/train.h"

namespace {

std::vector<std::pair<std::string, std::string>> read_pairs() {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos) continue;
    pairs.emplace_back(line.substr(0, tab), line.substr(tab + 1));
  }
  return pairs;
}

// Of each pair `a\tb` on standard input: the guards' names, and with `explain` the words.
int guards(bool explain) {
  for (const auto& [a, b] : read_pairs()) {
    const dpcache::GuardSet found =
        dpcache::guards_between(dpcache::guard_facts(a), dpcache::guard_facts(b));
    std::printf("%s", found.names().c_str());
    if (explain) {
      for (const auto& one : dpcache::explain_guards(a, b)) {
        std::printf("\t%s: %s / %s", std::string(to_string(one.guard)).c_str(), one.a.c_str(),
                    one.b.c_str());
      }
    }
    std::printf("\n");
  }
  return 0;
}

// Processor time, which others on the machine disturb less than the clock.
double seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Prints ns: facts of a text, a comparison, both; median of the rounds. Then bytes of a text and of
// its facts.
int time_guards() {
  const auto pairs = read_pairs();
  if (pairs.empty()) return 1;
  std::vector<dpcache::GuardFacts> slots;
  std::size_t bytes = 0;
  std::size_t kept = 0;
  for (const auto& [a, b] : pairs) {
    slots.push_back(dpcache::guard_facts(a));
    bytes += b.size();
    kept += 8 * slots.back().cells().size();
  }
  const auto count = static_cast<double>(pairs.size());
  const int repeats = 1 + static_cast<int>(100000 / pairs.size());
  std::vector<double> facts;
  std::vector<double> comparisons;
  std::size_t spoken = 0;
  for (int round = 0; round < 9; ++round) {
    double taking = 0;
    double comparing = 0;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      std::vector<dpcache::GuardFacts> items;
      items.reserve(pairs.size());
      double begin = seconds();
      for (const auto& pair : pairs) items.push_back(dpcache::guard_facts(pair.second));
      taking += seconds() - begin;
      begin = seconds();
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        spoken += dpcache::guards_between(slots[i], items[i]).empty() ? 0 : 1;
      }
      comparing += seconds() - begin;
    }
    facts.push_back(1e9 * taking / count / repeats);
    comparisons.push_back(1e9 * comparing / count / repeats);
  }
  std::sort(facts.begin(), facts.end());
  std::sort(comparisons.begin(), comparisons.end());
  std::printf("%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.2f\n", facts[4], comparisons[4],
              facts[4] + comparisons[4], static_cast<double>(bytes) / count,
              static_cast<double>(kept) / count, static_cast<double>(spoken) / 9 / repeats / count);
  return 0;
}

// --- A cache of answers

struct Items {
  std::size_t dimension = 0;
  std::vector<float> vectors;  // n x dimension, unit length
  std::vector<std::string> labels;
  std::vector<dpcache::GuardFacts> facts;
  std::size_t size() const { return labels.size(); }
  const float* row(std::size_t i) const { return vectors.data() + i * dimension; }
};

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "trust: %s\n", why.c_str());
  std::exit(1);
}

// FOLDER/vectors.f32 and FOLDER/items.tsv: label, tab, text.
Items read_items(const std::string& folder, std::size_t dimension) {
  Items items;
  items.dimension = dimension;
  std::ifstream texts(folder + "/items.tsv");
  std::string line;
  while (std::getline(texts, line)) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos) fail("items.tsv: a line without a tab");
    items.labels.push_back(line.substr(0, tab));
    items.facts.push_back(dpcache::guard_facts(std::string_view(line).substr(tab + 1)));
  }
  items.vectors.resize(items.size() * dimension);
  std::ifstream file(folder + "/vectors.f32", std::ios::binary);
  file.read(reinterpret_cast<char*>(items.vectors.data()),
            static_cast<std::streamsize>(items.vectors.size() * sizeof(float)));
  if (!file || items.labels.empty()) fail(folder + ": vectors.f32 or items.tsv is cut");
  return items;
}

float dot(const float* a, const float* b, std::size_t n) {
  std::array<float, 16> sums{};
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    for (std::size_t k = 0; k < 16; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  float sum = 0.0F;
  for (const float one : sums) sum += one;
  return sum;
}

struct Nearest {
  std::size_t slot = 0;  // index of an item
  double similarity = -2.0;
};

Nearest nearest(const Items& items, const std::vector<std::size_t>& slots, const float* query) {
  Nearest best;
  for (const std::size_t slot : slots) {
    const double similarity = dot(items.row(slot), query, items.dimension);
    if (similarity > best.similarity) best = {slot, similarity};
  }
  return best;
}

// What one entry of a vCache knows: whether its answer was right at a similarity.
struct Observed {
  std::vector<std::pair<double, bool>> all;
};

double logistic(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

// z with P(N(0, 1) <= z) = p, by bisection.
double normal_quantile(double p) {
  double low = -8.0;
  double high = 8.0;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
  }
  return low;
}

// Levels e from 0 to 1, and the quantiles of 1 - e.
const std::array<std::pair<double, double>, 50>& levels() {
  static const auto kLevels = [] {
    std::array<std::pair<double, double>, 50> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(all.size() - 1);
      const double e = 1e-6 + share * (1 - 2e-6);
      all[i] = {e, normal_quantile(1 - e)};
    }
    return all;
  }();
  return kLevels;
}

// The share of look-ups at similarity `s` that must be asked anew so that, of those that meet this
// entry, at most delta are answered wrongly: P(right | s) is a logistic curve with slope w and
// midpoint t, fitted to what was observed; t is raised to the end of its one-sided confidence
// interval at level 1 - e, by the delta method, what falls outside counts as wrong, and e is the
// best of a grid. Then the share is 1 - delta / (1 - (1 - e) P). Where a threshold tells right from
// wrong the likelihood has no maximum: the authors' program takes the variance of t from a table of
// theirs there, this one fits Platt's targets, which have one.
double exploration(const Observed& observed, double s, double delta) {
  constexpr std::size_t kLeast = 6;  // observations; the curve is not fitted to fewer
  if (observed.all.size() < kLeast) return 1.0;
  double right = 0;
  for (const auto& one : observed.all) right += one.second ? 1 : 0;
  const double wrong = static_cast<double>(observed.all.size()) - right;
  const double high = (right + 1) / (right + 2);  // Platt's targets keep the slope finite
  const double low = 1 / (wrong + 2);
  double w = 10.0;  // p = logistic(w s + c)
  double c = -8.0;
  double ww = 0;
  double wc = 0;
  double cc = 0;
  for (int step = 0; step < 50; ++step) {
    double gw = 0;
    double gc = 0;
    ww = cc = 1e-6;
    wc = 0;
    for (const auto& [x, was] : observed.all) {
      const double p = logistic(w * x + c);
      const double error = p - (was ? high : low);
      const double weight = std::max(p * (1 - p), 1e-9);
      gw += error * x;
      gc += error;
      ww += weight * x * x;
      wc += weight * x;
      cc += weight;
    }
    const double determinant = ww * cc - wc * wc;
    if (determinant < 1e-12) break;
    const double dw = std::clamp((cc * gw - wc * gc) / determinant, -20.0, 20.0);
    const double dc = std::clamp((ww * gc - wc * gw) / determinant, -20.0, 20.0);
    w -= dw;
    c -= dc;
    if (std::abs(dw) + std::abs(dc) < 1e-9) break;
  }
  if (!(w > 0)) return 1.0;
  const double t = std::clamp(-c / w, 0.0, 1.0);
  // Of t by the delta method: its gradient is (c / w^2, -1 / w).
  const double determinant = std::max(ww * cc - wc * wc, 1e-12);
  const double a = c / (w * w);
  const double b = -1 / w;
  const double variance = (a * a * cc - 2 * a * b * wc + b * b * ww) / determinant;
  const double deviation = std::sqrt(std::max(variance, 0.0));
  double best = 1.0;
  for (const auto& [e, z] : levels()) {
    const double raised = std::clamp(t + z * deviation, 0.0, 1.0);
    const double sure = (1 - e) * logistic(w * (s - raised));
    if (1 - sure <= delta) return 0.0;
    best = std::min(best, 1 - delta / (1 - sure));
  }
  return best;
}

std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15ULL;
  std::uint64_t x = state;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

// Writes FOLDER/vectors.f32 from the texts, by the built-in encoder without masks.
int encode(const std::string& folder) {
  const dpcache::Encoder encoder;
  std::vector<float> vector(encoder.config().dimension);
  std::ifstream texts(folder + "/items.tsv");
  std::ofstream file(folder + "/vectors.f32", std::ios::binary);
  std::string line;
  while (std::getline(texts, line)) {
    const std::string_view text = std::string_view(line).substr(line.find('\t') + 1);
    if (!encoder.encode(text, vector)) fail("a text was refused");
    file.write(reinterpret_cast<const char*>(vector.data()),
               static_cast<std::streamsize>(vector.size() * sizeof(float)));
  }
  std::printf("%u\n", encoder.config().dimension);
  return 0;
}

// The gate that as many pairs of one label as of two, drawn at random, teach: a and b.
int gate(const std::string& folder, std::size_t dimension) {
  const Items items = read_items(folder, dimension);
  std::vector<dpcache::Judged> pairs;
  std::uint64_t random = 5;
  std::array<std::size_t, 2> wanted{4000, 4000};
  for (int tries = 0; tries < 20000000 && wanted[0] + wanted[1] > 0; ++tries) {
    const std::size_t i = next_random(random) % items.size();
    const std::size_t j = next_random(random) % items.size();
    const bool same = items.labels[i] == items.labels[j];
    if (i == j || wanted[same ? 1 : 0] == 0) continue;
    --wanted[same ? 1 : 0];
    const auto novelty =
        dpcache::novelty_between({items.row(i), dimension}, {items.row(j), dimension});
    pairs.push_back({*novelty, same ? dpcache::Verdict::same : dpcache::Verdict::different});
  }
  const auto learned = dpcache::gate_from_pairs(pairs);
  if (!learned || !learned->gate) fail("no gate");
  std::printf("%.4f\t%.4f\n", static_cast<double>(learned->gate->a),
              static_cast<double>(learned->gate->b));
  return 0;
}

// The items one after the other: a hit is answered by the nearest slot, a miss opens a slot. Each
// line of standard input is a rule: "plain TAU", "guards TAU", "band TAU_MERGE TAU", "vcache
// DELTA". Prints for each: hits, wrong hits, slots, uncertain, of those the ones whose nearest was
// right.
int stream(const std::string& folder, std::size_t dimension) {
  const Items items = read_items(folder, dimension);
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string rule;
    double first = 0;
    double second = 0;
    words >> rule >> first >> second;
    std::vector<std::size_t> slots;
    std::vector<Observed> observed(items.size());
    std::uint64_t random = 7;
    std::size_t hits = 0;
    std::size_t wrong = 0;
    std::size_t uncertain = 0;
    std::size_t agreed = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Nearest best = nearest(items, slots, items.row(i));
      const double novelty = 1.0 - best.similarity;
      const bool right = !slots.empty() && items.labels[best.slot] == items.labels[i];
      bool hit = false;
      bool opens = true;
      if (rule == "vcache") {
        if (!slots.empty()) {
          const double share = exploration(observed[best.slot], best.similarity, first);
          const double drawn = static_cast<double>(next_random(random) >> 11U) * 0x1p-53;
          hit = drawn >= share;
          if (!hit) observed[best.slot].all.emplace_back(best.similarity, right);
          opens = second == 0 || !right;
        }
      } else {
        hit = !slots.empty() && novelty <= first;
        const bool guarded =
            hit && rule != "plain" &&
            !dpcache::guards_between(items.facts[best.slot], items.facts[i]).empty();
        if (rule == "band" && (guarded || (!hit && novelty <= second && !slots.empty()))) {
          ++uncertain;
          if (right) ++agreed;
        }
        hit = hit && !guarded;
      }
      if (hit) {
        ++hits;
        if (!right) ++wrong;
      } else if (opens) {
        slots.push_back(i);
      }
    }
    std::printf("%zu\t%zu\t%zu\t%zu\t%zu\n", hits, wrong, slots.size(), uncertain, agreed);
    std::fflush(stdout);
  }
  return 0;
}

// --- The bound

// Items against a fixed reference, drawn anew into two halves `rounds` times: tau is calibrated on
// one, for the rate and then for as many items as the other has, and measured on the other. Prints
// for each of the two in each round: tau (-1: refused), hits, right hits, wrong hits and items of
// the other half, wrong hits of all; the last lines, with tau -2 and -3, are of the thresholds .90
// and .95 on all items.
int halves(const std::string& reference_folder, const std::string& item_folder,
           std::size_t dimension, bool guarded, int rounds) {
  const Items reference = read_items(reference_folder, dimension);
  const Items items = read_items(item_folder, dimension);
  std::vector<std::size_t> slots(reference.size());
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = i;
  std::vector<std::string> known = reference.labels;
  std::sort(known.begin(), known.end());
  std::vector<dpcache::Trial> trials;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Nearest best = nearest(reference, slots, items.row(i));
    dpcache::Trial trial;
    trial.novelty = static_cast<float>(std::clamp(1.0 - best.similarity, 0.0, 2.0));
    if (guarded && !dpcache::guards_between(reference.facts[best.slot], items.facts[i]).empty()) {
      trial.novelty = 2.0F;  // it never hits
    }
    trial.right = reference.labels[best.slot] == items.labels[i] ? dpcache::Right::merge
                  : std::binary_search(known.begin(), known.end(), items.labels[i])
                      ? dpcache::Right::neither
                      : dpcache::Right::allocate;
    trials.push_back(trial);
  }
  const auto count = [](std::span<const dpcache::Trial> some, float tau) {
    std::array<std::size_t, 2> found{};  // right, wrong
    for (const dpcache::Trial& trial : some) {
      if (trial.novelty <= tau && trial.novelty < 2.0F) {
        ++found[trial.right == dpcache::Right::merge ? 0 : 1];
      }
    }
    return found;
  };
  const auto print = [&count, &trials](double name, std::span<const dpcache::Trial> some,
                                       float tau) {
    const auto [right, wrong] = count(some, tau);
    std::printf("%.4f\t%zu\t%zu\t%zu\t%zu\t%zu\n", name, right + wrong, right, wrong, some.size(),
                count(trials, tau)[1]);
  };
  std::uint64_t random = 11;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = trials.size(); i > 1; --i) {
      std::swap(trials[i - 1], trials[next_random(random) % i]);
    }
    const std::span<const dpcache::Trial> all(trials);
    const auto half = all.size() / 2;
    dpcache::CalibrationOptions options;
    options.max_false_merge = 0.02;
    options.confidence = 0.9;
    options.per = dpcache::Per::item;
    for (const std::size_t upcoming : {std::size_t{0}, all.size() - half}) {
      options.upcoming = upcoming;
      const auto found = dpcache::calibrate(all.first(half), options);
      if (!found) fail(found.status.detail);
      const bool chosen = found->chosen.has_value();
      print(chosen ? static_cast<double>(found->chosen->tau) : -1.0, all.subspan(half),
            chosen ? found->chosen->tau : -1.0F);
    }
  }
  print(-2.0, trials, 0.10F);
  print(-3.0, trials, 0.05F);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string_view what = count > 1 ? words[1] : "";
  const auto number = [&](int i) {
    return count > i ? static_cast<std::size_t>(std::strtoul(words[i], nullptr, 10)) : 0;
  };
  if (what == "stream" && count == 4) return stream(words[2], number(3));
  if (what == "encode" && count == 3) return encode(words[2]);
  if (what == "gate" && count == 4) return gate(words[2], number(3));
  if (what == "halves" && count == 7) {
    return halves(words[2], words[3], number(4), std::string_view(words[5]) == "guards",
                  static_cast<int>(number(6)));
  }
  if (what == "guards") return guards(false);
  if (what == "explain") return guards(true);
  if (what == "time") return time_guards();
  std::fprintf(stderr,
               "usage: trust guards|explain|time < PAIRS.tsv\n"
               "       trust stream FOLDER DIMENSION < RULES\n"
               "       trust encode FOLDER\n"
               "       trust gate FOLDER DIMENSION\n"
               "       trust halves REFERENCE ITEMS DIMENSION plain|guards ROUNDS\n");
  return 2;
}
