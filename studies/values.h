// The study of values that change: half of the items get another one in mid-stream.
#ifndef DPCACHE_STUDIES_VALUES_H_
#define DPCACHE_STUDIES_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "studies/studies.h"

namespace dpcache::studies {

// 64 items, each four times with its first class; then half of them have another class, and each
// comes four times more. Asked for the class that holds now.
inline Spread recall_after_change(ValueUpdate update) {
  Spread recall;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    Distinct items = distinct_items(random, 64, 64);
    Config config = settings(0.6);
    config.value_update = update;
    Memory memory(config);
    memory.observe(make_stream(random, items, each_repeated(random, 64, 4), 0.3));
    for (std::size_t i = 0; i < 32; ++i) {
      items.classes[i] = (items.classes[i] + 1 + random.below(kClasses - 1)) % kClasses;
    }
    const Stream changed = make_stream(random, items, each_repeated(random, 64, 4), 0.3);
    memory.observe(changed);
    if (memory.slots() != 64.0) throw std::logic_error("not one slot an item");
    recall.add(memory.recall(changed));
  }
  return recall;
}

}  // namespace dpcache::studies

#endif  // DPCACHE_STUDIES_VALUES_H_
