// Reading a memory file. Nothing in it is trusted: not the checksum alone, but every name, type,
// shape and offset, and then every number, before a slot is made of it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "digits.h"
#include "dpcache/cache.h"
#include "hash.h"
#include "json.h"
#include "order.h"
#include "snapshot.h"
#include "snapshot_reader.h"
#include "state.h"
#include "validate.h"

#if DPCACHE_NIBBLES
#include <system_error>
#include <thread>
#endif

namespace dpcache {

namespace {

std::optional<std::uint64_t> from_hex(std::string_view text) {
  if (text.size() != snapshot::kChecksumDigits) return {};
  std::uint64_t value = 0;
  for (char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && !(c >= 'a' && c <= 'f')) return {};
    value = value << 4U | static_cast<std::uint64_t>(digit ? c - '0' : c - 'a' + 10);
  }
  return value;
}

std::size_t size_of(std::string_view dtype) {
  if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
  if (dtype == "U8" || dtype == "I8" || dtype == "BOOL") return 1;
  return 0;  // a type that is not ours to judge
}

// Whether shape and type agree with the bytes; products are checked before they can overflow.
bool size_matches(const TensorInfo& tensor) {
  const std::uint64_t bytes = tensor.end - tensor.begin;
  const std::size_t unit = size_of(tensor.dtype);
  if (unit == 0) return true;
  if (std::find(tensor.shape.begin(), tensor.shape.end(), 0U) != tensor.shape.end()) {
    return bytes == 0;
  }
  std::uint64_t left = bytes;
  if (left % unit != 0) return false;
  left /= unit;
  for (std::uint64_t length : tensor.shape) {
    if (left % length != 0) return false;
    left /= length;
  }
  return left == 1;
}

// The tensors must cover the data without a gap, in some order, to its last byte.
Status check_layout(const std::vector<TensorInfo>& tensors, std::uint64_t data_size) {
  std::vector<const TensorInfo*> in_order;
  in_order.reserve(tensors.size());
  for (const TensorInfo& tensor : tensors) in_order.push_back(&tensor);
  keep_first(in_order, in_order.size(), [](const TensorInfo* a, const TensorInfo* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end != b->end ? a->end < b->end : a < b;
  });
  std::uint64_t at = 0;
  for (const TensorInfo* one : in_order) {
    const TensorInfo& tensor = *one;
    if (tensor.begin != at || tensor.end < tensor.begin || tensor.end > data_size) {
      return bad("tensor " + tensor.name + " does not lie where it should");
    }
    if (!size_matches(tensor)) return bad("tensor " + tensor.name + " has another size than shape");
    at = tensor.end;
  }
  if (at != data_size) return bad("bytes follow the last tensor");
  return {};
}

constexpr const char* kDamaged = "its checksum does not match: it is damaged";

// Compares a file's bytes with the checksum that it states. Of a large file in a thread of its own,
// while the slots are restored: either reads the whole file once, and waits for the disk or for new
// memory.
class Checksum {
 public:
  Checksum() = default;
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;
  ~Checksum() { matches(); }

  // `at`: where its digits stand, which do not count. `bytes` must stay until the end.
  void begin(std::span<const std::byte> bytes, std::size_t at, std::uint64_t stated) {
    const auto compare = [this, bytes, at, stated] {
      matches_ = hash64_with_blank(bytes, at, snapshot::kChecksumDigits) == stated;
    };
#if DPCACHE_NIBBLES  // WebAssembly has no threads
    if (bytes.size() >= snapshot::checked_apart_from) {
      try {
        thread_ = std::thread(compare);
        return;
      } catch (const std::system_error&) {  // no thread is to be had
      }
    }
#endif
    compare();
  }
  // Waits for it. True also if there was nothing to compare.
  bool matches() {
#if DPCACHE_NIBBLES
    if (thread_.joinable()) thread_.join();
#endif
    return matches_;
  }

 private:
  bool matches_ = true;
#if DPCACHE_NIBBLES
  std::thread thread_;
#endif
};

Result<File> open_file(std::span<const std::byte> bytes, Checksum& checksum) {
  using namespace snapshot;
  if (bytes.size() < kLengthBytes) return bad("it is cut");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kMaxHeader || length > bytes.size() - kLengthBytes) {
    return bad("it is not a memory file, or it is cut");
  }
  const std::string_view json(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes,
                              static_cast<std::size_t>(length));
  const std::size_t mark = json.find(kChecksumMark);
  if (mark == std::string_view::npos) return bad("it is not a memory file of dpcache");
  const std::size_t digits = mark + kChecksumMark.size();
  if (digits + kChecksumDigits > json.size()) return bad("its checksum is cut");
  const std::optional<std::uint64_t> stated = from_hex(json.substr(digits, kChecksumDigits));
  if (!stated) return bad(kDamaged);
  checksum.begin(bytes, kLengthBytes + digits, *stated);

  std::optional<SafetensorsHeader> header = header_from_json(json);
  if (!header) return bad("its header is not that of a safetensors file");
  File file{std::move(*header), bytes.subspan(kLengthBytes + json.size())};
  const auto version = file.header.metadata.find(kVersion);
#if DPCACHE_TRUST
  const bool is_known = version != file.header.metadata.end() &&
                        (version->second == kFormatVersion || version->second == kTrustVersion);
  if (!is_known) {
#else
  if (version == file.header.metadata.end() || version->second != kFormatVersion) {
#endif
    return bad("its format version is not " + std::string(kFormatVersion) +
               ": it needs another version of dpcache");
  }
  if (Status status = check_layout(file.header.tensors, file.data.size()); !status) return status;
  return file;
}

// Weights begin at 1 and grow by less than 2^150 an item, the inverse of the least float.
bool is_growth(WideNumber growth, std::uint64_t items) {
  constexpr std::int64_t kMostAnItem = 150;
  return growth.mantissa >= 1.0 && growth.mantissa < 2.0 && growth.exponent >= 0 &&
         growth.exponent / kMostAnItem <= static_cast<std::int64_t>(items);
}

// A slot's weight is a sum of one weight an item, each of them at most `growth`. (Twice that, for
// what rounding adds.)
bool is_usage(WideNumber usage, std::uint64_t count, WideNumber growth) {
  return usage.mantissa >= 1.0 && usage.mantissa < 2.0 && usage.exponent >= 0 &&
         usage.over(growth) <= 2.0 * static_cast<double>(count);
}

Status read_slots(TensorReader& reader, CacheState& state) {
  const Config& config = state.config;
  Slots& slots = state.slots;
  constexpr std::uint64_t kAny = TensorReader::kAny;
  const auto ids = reader.numbers<std::int64_t>("ids", "I64", kAny);
  const std::size_t n = ids.size();
  const auto counts = reader.numbers<std::int64_t>("counts", "I64", n);
  const auto first_times = reader.numbers<std::int64_t>("first_times", "I64", n);
  const auto last_times = reader.numbers<std::int64_t>("last_times", "I64", n);
  const auto expires = reader.numbers<std::int64_t>("expires", "I64", n);
  const auto usage = reader.numbers<double>("usage", "F64", n);
  const auto usage_exponents = reader.numbers<std::int64_t>("usage_exponents", "I64", n);
  const auto payload_offsets = reader.numbers<std::int64_t>("payload_offsets", "I64", n + 1);
  const auto payloads = reader.take("payloads", "U8", {kAny});
  const std::size_t d = config.dimension;
  const std::size_t v = config.value_dimension;
  const std::size_t sum_width = slots.has_key_sums() ? d : 0;
  const std::size_t value_sum_width = slots.has_value_sums() ? v : 0;
  RowReader<float> keys(reader.take("keys", "F32", {n, d}), d);
  RowReader<float> values(reader.take("values", "F32", {n, v}), v);
  RowReader<double> key_sums(
      sum_width != 0 ? reader.take("key_sums", "F64", {n, d}) : std::span<const std::byte>(),
      sum_width);
  RowReader<double> value_sums(value_sum_width != 0 ? reader.take("value_sums", "F64", {n, v})
                                                    : std::span<const std::byte>(),
                               value_sum_width);
  if (!reader.status()) return reader.status();
  if (!are_offsets(payload_offsets, payloads.size())) return bad("payload_offsets is damaged");
  if (!slots.reserve(n)) return {Error::full, 0, "", "there is no memory for the slots"};

  std::uint64_t items = 0;  // that the slots absorbed
  for (std::size_t i = 0; i < n; ++i) {
    Slots::Stored stored;
    stored.key = keys.next();
    stored.value = values.next();
    stored.key_sum = key_sums.next();
    stored.value_sum = value_sums.next();
    stored.payload = text_between(payloads, payload_offsets[i], payload_offsets[i + 1]);
    stored.row.id = static_cast<SlotId>(ids[i]);
    stored.row.usage = {usage[i], usage_exponents[i]};
    stored.row.count = static_cast<std::uint64_t>(counts[i]);
    stored.row.first_time = first_times[i];
    stored.row.last_time = last_times[i];
    stored.row.expires = expires[i];
    const bool numbers_are_sane =
        ids[i] > (i == 0 ? 0 : ids[i - 1]) && stored.row.id < state.counters.next_id &&
        counts[i] >= 1 && counts[i] <= kMaxInteger && is_time(first_times[i]) &&
        is_time(last_times[i]) && first_times[i] <= last_times[i] &&
        (expires[i] == kNever || is_time(expires[i])) && expires[i] >= first_times[i] &&
        is_usage(stored.row.usage, stored.row.count, slots.growth());
    // A sum is of one unit key, or of one value, an item. (A little more, for what rounding adds.)
    const auto count = static_cast<double>(counts[i]);
    constexpr double kLargest = std::numeric_limits<float>::max() * (1.0 + 0x1p-26);
    const bool vectors_are_sane = is_unit(stored.key) && all_finite(stored.value) &&
                                  all_within(stored.key_sum, 2.0 * count) &&
                                  all_within(stored.value_sum, kLargest * count);
    items += stored.row.count;
    if (!numbers_are_sane || !vectors_are_sane || items > state.counters.items) {
      return bad("slot " + whole_number(static_cast<std::uint64_t>(ids[i])) + " is damaged");
    }
    slots.restore(stored);
  }
  return {};
}

Status read_exact_keys(TensorReader& reader, CacheState& state) {
  const auto owners = reader.numbers<std::int64_t>("exact_key_slots", "I64", TensorReader::kAny);
  const auto offsets = reader.numbers<std::int64_t>("exact_key_offsets", "I64", owners.size() + 1);
  const auto bytes = reader.take("exact_keys", "U8", {TensorReader::kAny});
  if (!reader.status()) return reader.status();
  if (!are_offsets(offsets, bytes.size())) return bad("exact_key_offsets is damaged");
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const std::size_t r = state.slots.find(static_cast<SlotId>(owners[i]));
    if (r == kNoRow ||
        !state.slots.add_exact_key(r, text_between(bytes, offsets[i], offsets[i + 1]))) {
      return bad("an exact key stands twice or without its slot");
    }
  }
  return {};
}

Status read_budget(TensorReader& reader, CacheState& state) {
  const auto growth = reader.numbers<double>("growth", "F64", 1);
  const auto exponent = reader.numbers<std::int64_t>("growth_exponent", "I64", 1);
  const auto ghosts = reader.numbers<std::uint64_t>("ghosts", "U64", TensorReader::kAny);
  const auto budget = reader.numbers<float>("budget", "F32", 2);
  if (!reader.status()) return reader.status();
  const bool sane = is_growth({growth[0], exponent[0]}, state.counters.items) &&
                    budget[0] >= 0.0F && budget[0] <= 1.0F && budget[1] >= 1.0F &&
                    budget[1] <= 0x1p54F && ghosts.size() <= kGhosts &&
                    (ghosts.size() == 0 || state.config.budget == BudgetKind::ghost);
  if (!sane) return bad("the budget is damaged");
  std::vector<std::uint64_t> list;
  for (std::size_t i = 0; i < ghosts.size(); ++i) list.push_back(ghosts[i]);
  state.slots.restore_growth({growth[0], exponent[0]});
  state.budget.restore(budget[0], budget[1], std::move(list));
  return {};
}

bool add_up(const Counters& counters, std::size_t slots) {
  const std::uint64_t gone =
      counters.evictions + counters.folds + counters.expirations + counters.erasures;
#if DPCACHE_TRUST
  const std::uint64_t splits = counters.splits;
#else
  constexpr std::uint64_t splits = 0;
#endif
  const std::uint64_t least_events =
      counters.items + counters.erasures + splits + (counters.expirations != 0 ? 1 : 0);
  return counters.items + splits == counters.allocations + counters.merges &&
         counters.next_id >= 1 && counters.allocations >= gone &&
         counters.allocations - gone == slots && counters.next_id == counters.allocations + 1 &&
         counters.seq >= least_events && counters.seq <= kMaxId;
}

// Trusts nothing: what it is given may be damaged.
Result<std::unique_ptr<CacheState>> restore(File& file) {
  std::map<std::string, std::string>& metadata = file.header.metadata;

  Result<Config> config = config_from_json(metadata[snapshot::kConfig]);
  if (!config) return bad("its config is damaged: " + config.status.detail);
  const std::optional<Counters> counters = counters_from_json(metadata[snapshot::kCounters]);
  const std::optional<std::uint64_t> state_hash = from_hex(metadata[snapshot::kStateHash]);
  if (!counters || !state_hash) return bad("its counters are damaged");

  auto restored = std::make_unique<CacheState>(*config);
  CacheState& state = *restored;
  state.counters = *counters;
  state.counters.state_hash = *state_hash;
  TensorReader reader(file);
  if (Status status = read_budget(reader, state); !status) return status;
  if (Status status = read_slots(reader, state); !status) return status;
  if (Status status = read_exact_keys(reader, state); !status) return status;
#if DPCACHE_TRUST
  if (Status status = read_ledger(reader, state); !status) return status;
#endif
  if (!add_up(state.counters, state.slots.size())) return bad("its counters do not add up");
  state.extra_tensors = reader.others();
  std::erase_if(metadata,
                [](const auto& entry) { return entry.first.starts_with(snapshot::kOwnPrefix); });
  state.metadata = std::move(metadata);
  // More would take longer than the load: prepare() does the rest, or the items that follow.
  constexpr std::size_t kAtOnce = 16'384;
  state.slots.prepare(kAtOnce);
  return restored;
}

}  // namespace

Result<Cache> Cache::load(std::span<const std::byte> bytes) {
  Checksum checksum;
  Result<Cache> cache = [&]() -> Result<Cache> {
    Result<File> file = open_file(bytes, checksum);
    if (!file) return file.status;
    auto state = restore(*file);
    if (!state) return state.status;
    Cache restored;
    restored.state_ = std::move(*state);
    return restored;
  }();
  // Of what is wrong with a damaged file, that it is damaged tells the most.
  if (!checksum.matches()) return bad(kDamaged);
  return cache;
}

}  // namespace dpcache
