// The guards that there are, and which of them stop a merge of two texts.
#ifndef DPCACHE_SRC_GUARDING_H_
#define DPCACHE_SRC_GUARDING_H_

#include <span>
#include <string_view>

#include "dpcache/config.h"

#if DPCACHE_TRUST

namespace dpcache {

struct Guard {
  const char* name;  // the same word in JSON and JavaScript
  // Whether the texts say different things. Linear in their lengths.
  bool (*stops)(std::string_view a, std::string_view b);
};

// Guard i stands at bit i of a set.
std::span<const Guard> all_guards() noexcept;

// Those of `set` that stop a merge; none where one of the texts is empty.
GuardSet stopping(GuardSet set, std::string_view a, std::string_view b);

}  // namespace dpcache

#endif  // DPCACHE_TRUST

#endif  // DPCACHE_SRC_GUARDING_H_
