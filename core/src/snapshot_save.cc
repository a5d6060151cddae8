// Writing a memory file.
#include "snapshot.h"

#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <span>

#include "digits.h"
#include "dpcache/cache.h"
#include "hash.h"
#include "json.h"
#include "state.h"

namespace dpcache {

namespace {

// Lays tensors one behind the other, by two passes of the same calls: the first notes their names
// and sizes, the second, when the header is known, writes their bytes.
class TensorWriter {
 public:
  // Whether the tensor's bytes are to follow now, by append(): false in the first pass.
  bool add(const char* name, const char* dtype, std::vector<std::uint64_t> shape,
           std::uint64_t size) {
    if (!file_.empty()) return true;
    header_.tensors.push_back({name, dtype, std::move(shape), size_, size_ + size});
    size_ += size;
    return false;
  }
  void append(std::span<const std::byte> bytes) {
    file_.insert(file_.end(), bytes.begin(), bytes.end());
  }
  // A tensor whose bytes stand together.
  void add(const char* name, const char* dtype, std::vector<std::uint64_t> shape,
           std::span<const std::byte> bytes) {
    if (add(name, dtype, std::move(shape), bytes.size())) append(bytes);
  }
  template <class T>
  void add_numbers(const char* name, const char* dtype, std::span<const T> numbers) {
    add(name, dtype, {numbers.size()}, std::as_bytes(numbers));
  }

  void end_first_pass(std::map<std::string, std::string> metadata) {
    using namespace snapshot;
    metadata[kChecksum] = std::string(kChecksumDigits, '0');
    header_.metadata = std::move(metadata);
    std::string json = to_json(header_);
    const std::size_t end = kLengthBytes + json.size();
    json.append((kDataAlignment - end % kDataAlignment) % kDataAlignment, ' ');

    const std::uint64_t length = json.size();
    file_.reserve(kLengthBytes + json.size() + static_cast<std::size_t>(size_));
    append(std::as_bytes(std::span(&length, 1)));
    append(std::as_bytes(std::span(json)));
    digits_ = kLengthBytes + json.find(kChecksumMark) + kChecksumMark.size();
  }

  std::vector<std::byte> file() && {
    const std::string checksum = hex(hash64_with_blank(file_, digits_, snapshot::kChecksumDigits));
    std::memcpy(file_.data() + digits_, checksum.data(), snapshot::kChecksumDigits);
    return std::move(file_);
  }

 private:
  SafetensorsHeader header_;
  std::uint64_t size_ = 0;  // bytes of all tensors
  std::vector<std::byte> file_;
  std::size_t digits_ = 0;  // where the checksum's begin
};

// Texts of varying length: offsets, and bytes one behind the other.
struct Texts {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::string_view> texts;

  void append(std::string_view text) {
    texts.push_back(text);
    offsets.push_back(offsets.back() + static_cast<std::int64_t>(text.size()));
  }
  void write(const char* name, TensorWriter& writer) const {
    const auto size = static_cast<std::uint64_t>(offsets.back());
    if (!writer.add(name, "U8", {size}, size)) return;
    for (std::string_view text : texts) writer.append(std::as_bytes(std::span(text)));
  }
};

// A cache as tensors: 8-byte numbers first, then 4-byte ones, then bytes, so that each begins at a
// multiple of its own size.
class CacheTensors {
 public:
  explicit CacheTensors(const CacheState& state) : state_(state), slots_(state.slots) {
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
    payloads_.write("payloads", writer);
    exact_keys_.write("exact_keys", writer);
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
  metadata[snapshot::kConfig] = to_json(state.config);
  metadata[snapshot::kCounters] = to_json(state.counters);
  metadata[snapshot::kStateHash] = hex(state.counters.state_hash);
  writer.end_first_pass(std::move(metadata));
  tensors.write(writer);
  return std::move(writer).file();
}

}  // namespace dpcache
