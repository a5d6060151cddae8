// What the guards say of pairs of texts, and what that costs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpcache/guards.h"

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
              static_cast<double>(kept) / count,
              static_cast<double>(spoken) / 9 / repeats / count);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string_view what = count > 1 ? words[1] : "";
  if (what == "guards") return guards(false);
  if (what == "explain") return guards(true);
  if (what == "time") return time_guards();
  std::fprintf(stderr, "usage: trust guards|explain|time < PAIRS.tsv\n");
  return 2;
}
