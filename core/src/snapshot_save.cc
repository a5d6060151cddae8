// Writing a memory file.
#include <array>
#include <bit>
#include <map>
#include <span>

#include "digits.h"
#include "dpcache/cache.h"
#include "json.h"
#include "snapshot_writer.h"
#include "state.h"

namespace dpcache {

namespace {

// A cache as tensors: 8-byte numbers first, then 4-byte ones, then bytes, so that each begins at a
// multiple of its own size.
class CacheTensors {
 public:
#if DPCACHE_TRUST
  explicit CacheTensors(const CacheState& state)
      : state_(state), slots_(state.slots), ledger_(state) {
#else
  explicit CacheTensors(const CacheState& state) : state_(state), slots_(state.slots) {
#endif
    for (std::size_t r = 0; r < slots_.rows(); ++r) {
      if (!slots_.row(r).alive) continue;
      rows_.push_back(r);
      payloads_.append(slots_.payload(r));
      for (const std::string& exact_key : slots_.exact_keys(r)) {
        exact_keys_.append(exact_key);
        exact_key_slots_.push_back(static_cast<std::int64_t>(slots_.row(r).id));
      }
    }
  }

  void write(TensorWriter& writer) const {
    const WideNumber growth = slots_.growth();
    const std::array<float, 2> budget = {state_.budget.surprise(), state_.budget.raw_allowed()};

    scalars(writer, "ids", "I64", [](const Row& row) { return row.id; });
    scalars(writer, "counts", "I64", [](const Row& row) { return row.count; });
    scalars(writer, "first_times", "I64", [](const Row& row) { return bits(row.first_time); });
    scalars(writer, "last_times", "I64", [](const Row& row) { return bits(row.last_time); });
    scalars(writer, "expires", "I64", [](const Row& row) { return bits(row.expires); });
    scalars(writer, "usage", "F64", [](const Row& row) { return bits(row.usage.mantissa); });
    scalars(writer, "usage_exponents", "I64",
            [](const Row& row) { return bits(row.usage.exponent); });
    writer.add_numbers("growth", "F64", std::span(&growth.mantissa, 1));
    writer.add_numbers("growth_exponent", "I64", std::span(&growth.exponent, 1));
    writer.add_numbers("payload_offsets", "I64", std::span(payloads_.offsets));
    writer.add_numbers("exact_key_offsets", "I64", std::span(exact_keys_.offsets));
    writer.add_numbers("exact_key_slots", "I64", std::span(exact_key_slots_));
    writer.add_numbers("ghosts", "U64", std::span(state_.budget.ghosts()));
#if DPCACHE_TRUST
    ledger_.write_long(writer);
#endif
    if (slots_.has_key_sums()) {
      matrix(writer, "key_sums", "F64", slots_.dimension(), [](const Slots& slots, std::size_t r) {
        return std::as_bytes(slots.key_sum(r).first(slots.dimension()));
      });
    }
    if (slots_.has_value_sums()) {
      matrix(writer, "value_sums", "F64", slots_.value_dimension(),
             [](const Slots& slots, std::size_t r) { return std::as_bytes(slots.value_sum(r)); });
    }
    matrix(writer, "keys", "F32", slots_.dimension(), [](const Slots& slots, std::size_t r) {
      return std::as_bytes(slots.key(r).first(slots.dimension()));
    });
    matrix(writer, "values", "F32", slots_.value_dimension(),
           [](const Slots& slots, std::size_t r) { return std::as_bytes(slots.value(r)); });
    writer.add_numbers("budget", "F32", std::span<const float>(budget));
#if DPCACHE_TRUST
    ledger_.write_short(writer);
#endif
    payloads_.write("payloads", writer);
    exact_keys_.write("exact_keys", writer);
#if DPCACHE_TRUST
    ledger_.write_bytes(writer);
#endif
    for (const ExtraTensor& extra : state_.extra_tensors) {
      writer.add(extra.name.c_str(), extra.dtype.c_str(), extra.shape, extra.bytes);
    }
  }

 private:
  template <class T>
  static std::uint64_t bits(T number) {
    return std::bit_cast<std::uint64_t>(number);
  }

  void scalars(TensorWriter& writer, const char* name, const char* dtype,
               std::uint64_t (*get)(const Row&)) const {
    if (!writer.add(name, dtype, {rows_.size()}, rows_.size() * sizeof(std::uint64_t))) return;
    for (std::size_t r : rows_) {
      const std::uint64_t value = get(slots_.row(r));
      writer.append(std::as_bytes(std::span(&value, 1)));
    }
  }

  // One row of `width` numbers a slot.
  void matrix(TensorWriter& writer, const char* name, const char* dtype, std::size_t width,
              std::span<const std::byte> (*get)(const Slots&, std::size_t)) const {
    const std::size_t row_bytes = rows_.empty() ? 0 : get(slots_, rows_.front()).size();
    if (!writer.add(name, dtype, {rows_.size(), width}, rows_.size() * row_bytes)) return;
    for (std::size_t r : rows_) writer.append(get(slots_, r));
  }

  const CacheState& state_;
  const Slots& slots_;
  std::vector<std::size_t> rows_;
  Texts payloads_;
  Texts exact_keys_;
  std::vector<std::int64_t> exact_key_slots_;
#if DPCACHE_TRUST
  LedgerTensors ledger_;
#endif
};

}  // namespace

std::vector<std::byte> Cache::save() const {
  const CacheState& state = *state_;
  const CacheTensors tensors(state);
  TensorWriter writer;
  tensors.write(writer);

  std::map<std::string, std::string> metadata = state.metadata;
  std::erase_if(metadata,
                [](const auto& entry) { return entry.first.starts_with(snapshot::kOwnPrefix); });
  metadata[snapshot::kVersion] = snapshot::kFormatVersion;
#if DPCACHE_TRUST
  if (!state.ledger.empty() || state.counters.splits != 0) {
    metadata[snapshot::kVersion] = snapshot::kTrustVersion;
  }
#endif
  metadata[snapshot::kConfig] = to_json(state.config);
  metadata[snapshot::kCounters] = to_json(state.counters);
  metadata[snapshot::kStateHash] = hex(state.counters.state_hash);
  writer.end_first_pass(std::move(metadata));
  tensors.write(writer);
  return std::move(writer).file();
}

}  // namespace dpcache
