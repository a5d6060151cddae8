// What is refused before anything changes.
#ifndef DPCACHE_SRC_VALIDATE_H_
#define DPCACHE_SRC_VALIDATE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "dpcache/config.h"
#include "dpcache/error.h"
#include "dpcache/event.h"

namespace dpcache {

inline constexpr SlotId kMaxId = static_cast<SlotId>(kMaxInteger);

constexpr bool is_time(std::int64_t time) noexcept {
  return time >= -kMaxInteger && time <= kMaxInteger;
}

Status check_item(const Config& config, const Item& item);
// A key or query: its length, every component finite, not all zero. `pointer`: the field's, "/key".
Status check_vector(std::span<const float> x, std::size_t dimension, std::string_view pointer);
Status check_encoder(const Config& config, std::string_view encoder);
// Whether the settings may become `next` while there are slots.
Status check_change(const Config& config, const Config& next);
// Within a thousandth of length 1. For keys that were normalised elsewhere.
bool is_unit(std::span<const float> x) noexcept;

}  // namespace dpcache

#endif  // DPCACHE_SRC_VALIDATE_H_
