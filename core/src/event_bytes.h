// The canonical bytes of an event in memory that is used again and again.
#ifndef DPCACHE_SRC_EVENT_BYTES_H_
#define DPCACHE_SRC_EVENT_BYTES_H_

#include <cstddef>
#include <span>
#include <vector>

#include "dpcache/event.h"

namespace dpcache {

// At most so many bytes has an event; for a config's those of its JSON come on top.
inline std::size_t most_bytes(const Event& event) noexcept {
  // All that have a fixed length: 115, and 53 of trust.
  constexpr std::size_t kFields = DPCACHE_TRUST ? 192 : 128;
  const Item& item = event.item;
  const Decision& decision = event.decision;
#if DPCACHE_TRUST
  const std::size_t trusted = item.id.size() + item.text.size() + item.scope.size();
#else
  constexpr std::size_t trusted = 0;
#endif
  return kFields + trusted + item.payload.size() + (item.exact_key ? item.exact_key->size() : 0) +
         sizeof(float) * (item.key.size() + item.value.size()) +
         sizeof(SlotId) * (decision.evicted.size() + 2 * decision.folded.size());
}

// What encode() appends, written to the front of `buffer`, which grows where it must.
std::span<const std::byte> encode_into(const Event& event, std::vector<std::byte>& buffer);

}  // namespace dpcache

#endif  // DPCACHE_SRC_EVENT_BYTES_H_
