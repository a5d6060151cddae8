// Checks of items, vectors and settings, with the sentences that name what is wrong.
#include "validate.h"

#include <string>

#include "digits.h"
#include "finite.h"
#include "kernels.h"

namespace dpcache {

namespace {

Status not_finite(std::span<const float> x, std::string_view pointer) {
  std::size_t i = 0;
  while (look_at(x.subspan(i, 1)).all_finite) ++i;
  return {Error::not_finite, 0, std::string(pointer) + "/" + whole_number(i),
          "component " + whole_number(i) + (x[i] != x[i] ? " is NaN" : " is infinite")};
}

Status bad_length(std::size_t length, std::size_t wanted, std::string_view pointer) {
  return {Error::bad_shape, 0, std::string(pointer),
          "expected " + whole_number(wanted) + " numbers, got " + whole_number(length)};
}

Status fixed_setting(const char* name) {
  return {Error::bad_config, 0, std::string("/") + name,
          std::string(name) + " cannot change once the cache exists; make a new cache"};
}

}  // namespace

Status check_vector(std::span<const float> x, std::size_t dimension, std::string_view pointer) {
  if (x.size() != dimension) return bad_length(x.size(), dimension, pointer);
  const Finite found = look_at(x);
  if (!found.all_finite) return not_finite(x, pointer);
  if (found.all_zero) {
    return {Error::zero_norm, 0, std::string(pointer), "all components are 0: it has no direction"};
  }
  return {};
}

Status check_encoder(const Config& config, std::string_view encoder) {
  if (encoder.empty() || (config.encoder && *config.encoder == encoder)) return {};
  return {Error::encoder_mismatch, 0, "/encoder",
          "the vector is from \"" + std::string(encoder) + "\", the memory holds vectors from " +
              (config.encoder ? "\"" + *config.encoder + "\"" : "an encoder without a name")};
}

Status check_item(const Config& config, const Item& item) {
  if (Status status = check_encoder(config, item.encoder); !status) return status;
  if (Status status = check_vector(item.key, config.dimension, "/key"); !status) return status;
  if (item.value.size() != config.value_dimension) {
    return bad_length(item.value.size(), config.value_dimension, "/value");
  }
  if (!look_at(item.value).all_finite) return not_finite(item.value, "/value");
  if (!is_time(item.time)) {
    return {Error::bad_request, 0, "/time", "time must be an integer of magnitude below 2^53"};
  }
  if (item.ttl_ms && (*item.ttl_ms < 0 || *item.ttl_ms > kMaxInteger)) {
    return {Error::bad_request, 0, "/ttl_ms", "ttl_ms must be an integer from 0 to 2^53 - 1"};
  }
#if DPCACHE_TRUST
  constexpr std::size_t kLongestId = 1024;
  if (item.id.size() > kLongestId) {
    return {Error::bad_request, 0, "/id", "id must be at most 1024 bytes"};
  }
#endif
  return {};
}

Status check_change(const Config& config, const Config& next) {
  if (Status status = check(next); !status) return status;
  if (next.dimension != config.dimension) return fixed_setting("dimension");
  if (next.value_dimension != config.value_dimension) return fixed_setting("value_dimension");
  if (next.key_update != config.key_update) return fixed_setting("key_update");
  if (next.value_update != config.value_update) return fixed_setting("value_update");
  if (next.keep_sums != config.keep_sums) return fixed_setting("keep_sums");
  if (next.encoder != config.encoder) return fixed_setting("encoder");
  return {};
}

bool is_unit(std::span<const float> x) noexcept {
  const std::size_t whole = x.size() / kLanes * kLanes;
  double squares = kernels::sum_squares(x.data(), whole);
  for (float value : x.subspan(whole)) {
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  return squares > 0.998 && squares < 1.002;  // no number is neither
}

}  // namespace dpcache
