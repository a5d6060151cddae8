// The pairs of texts of tests/vectors/guards: what the guards say, and the facts of each text.
#ifndef DPCACHE_TESTS_GUARD_VECTORS_H_
#define DPCACHE_TESTS_GUARD_VECTORS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpcache/guards.h"
#include "vector_runner.h"

namespace dpcache::vectors {

inline std::string facts_in_hex(std::string_view text) {
  std::string out;
  const GuardFacts facts = guard_facts(text);
  for (const std::uint64_t cell : facts.cells()) out += hex(cell);
  return out;
}

// A JSON of all pairs with the answers of this build.
inline Json guard_vectors() {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"How do I turn on dark mode?", "How do I turn off dark mode?"},
      {"turn the lights on, please", "switch on the lights"},
      {"pay $1,250.50 by March 5, 2024", "pay 1250.5 dollars by 2024-03-05"},
      {"run 5 km at 19:30", "run 5 miles at 7:30 pm"},
      {"it isn't impossible, is it?", "it is possible"},
      {"from Berlin to Madrid", "from Madrid to Berlin"},
      {"ping db1.example.com -v", "ping db2.example.com -v"},
      {"delete this branch", "delete this repo"},
      {"Tell me who wrote Emma", "Tell me who wrote Persuasion"},
      {"Gr\u00F6\u00DFe und Caf\u00E9", "gro\u0308sse und cafe\u0301"},
      {"\uFF12\u6708\u306E\u4F1A\u8B70", "3\u6708\u306E\u4F1A\u8B70"},
      {"twenty-five thousand and six people, almost", "25006 people"},
      {"", "nothing at all"},
  };
  Json all = Json::array();
  for (const auto& [a, b] : pairs) {
    all.push_back({{"a", a},
                   {"b", b},
                   {"guards", guards_between(guard_facts(a), guard_facts(b)).names()},
                   {"facts_a", facts_in_hex(a)},
                   {"facts_b", facts_in_hex(b)}});
  }
  return {{"pairs", all}};
}

}  // namespace dpcache::vectors

#endif  // DPCACHE_TESTS_GUARD_VECTORS_H_
