// Writing a memory file.
#include "snapshot.h"

#include <cstring>
#include <functional>

#include "digits.h"
#include "dpcache/cache.h"
#include "hash.h"
#include "json.h"
#include "state.h"

namespace dpcache {

namespace {

// Lays tensors one behind the other: first their names and sizes, then, when the header is known,
// their bytes.
class TensorWriter {
 public:
  using Fill = std::function<void(std::byte*)>;

  void add(const char* name, const char* dtype, std::vector<std::uint64_t> shape,
           std::uint64_t size, Fill fill) {
    header_.tensors.push_back({name, dtype, std::move(shape), at_, at_ + size});
    fills_.push_back(std::move(fill));
    at_ += size;
  }
  // One tensor of numbers that exist already, of the shape (count).
  template <class T>
  void add_numbers(const char* name, const char* dtype, std::span<const T> numbers) {
    add(name, dtype, {numbers.size()}, numbers.size_bytes(), [numbers](std::byte* out) {
      if (!numbers.empty()) std::memcpy(out, numbers.data(), numbers.size_bytes());
    });
  }

  std::vector<std::byte> write(std::map<std::string, std::string> metadata) && {
    using namespace snapshot;
    metadata[kChecksum] = std::string(kChecksumDigits, '0');
    header_.metadata = std::move(metadata);
    std::string json = to_json(header_);
    const std::size_t end = kLengthBytes + json.size();
    json.append((kDataAlignment - end % kDataAlignment) % kDataAlignment, ' ');

    const std::uint64_t length = json.size();
    std::vector<std::byte> file(kLengthBytes + json.size() + static_cast<std::size_t>(at_));
    std::memcpy(file.data(), &length, kLengthBytes);
    std::memcpy(file.data() + kLengthBytes, json.data(), json.size());
    std::byte* data = file.data() + kLengthBytes + json.size();
    for (std::size_t i = 0; i < fills_.size(); ++i) fills_[i](data + header_.tensors[i].begin);

    const std::size_t digits = kLengthBytes + json.find(kChecksumMark) + kChecksumMark.size();
    const std::string checksum = hex(hash64_with_blank(file, digits, kChecksumDigits));
    std::memcpy(file.data() + digits, checksum.data(), kChecksumDigits);
    return file;
  }

 private:
  SafetensorsHeader header_;
  std::vector<Fill> fills_;
  std::uint64_t at_ = 0;
};

// The slots of a cache as tensors: 8-byte numbers first, then 4-byte ones, then bytes, so that each
// begins at a multiple of its own size.
class SlotTensors {
 public:
  SlotTensors(const Slots& slots, TensorWriter& writer) : slots_(slots), writer_(writer) {
    for (std::size_t r = 0; r < slots.rows(); ++r) {
      if (slots.row(r).alive) rows_.push_back(r);
    }
  }

  void add_scalars() {
    scalars<std::int64_t>("ids", "I64", [](const Row& row) { return row.id; });
    scalars<std::int64_t>("counts", "I64", [](const Row& row) { return row.count; });
    scalars<std::int64_t>("first_times", "I64", [](const Row& row) { return row.first_time; });
    scalars<std::int64_t>("last_times", "I64", [](const Row& row) { return row.last_time; });
    scalars<std::int64_t>("expires", "I64", [](const Row& row) { return row.expires; });
    scalars<double>("usage", "F64", [](const Row& row) { return row.usage.mantissa; });
    scalars<std::int64_t>("usage_exponents", "I64",
                          [](const Row& row) { return row.usage.exponent; });
  }

  // One row of `width` numbers a slot; get(r) is a span that is at least as long.
  template <class T, class Get>
  void add_matrix(const char* name, const char* dtype, std::size_t width, Get get) {
    const std::size_t row_bytes = width * sizeof(T);
    writer_.add(name, dtype, {rows_.size(), width}, rows_.size() * row_bytes,
                [this, row_bytes, get](std::byte* out) {
                  for (std::size_t r : rows_) {
                    if (row_bytes != 0) std::memcpy(out, get(r).data(), row_bytes);
                    out += row_bytes;
                  }
                });
  }

  // Texts of varying length: offsets now, bytes by add_bytes. visit(append) calls append(text) for
  // each in order.
  struct Texts {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::string_view> texts;
    void append(std::string_view text) {
      texts.push_back(text);
      offsets.push_back(offsets.back() + static_cast<std::int64_t>(text.size()));
    }
  };
  void add_offsets(const char* name, const Texts& texts) {
    writer_.add_numbers(name, "I64", std::span(texts.offsets));
  }
  void add_bytes(const char* name, const Texts& texts) {
    const auto size = static_cast<std::uint64_t>(texts.offsets.back());
    writer_.add(name, "U8", {size}, size, [&texts](std::byte* out) {
      for (std::string_view text : texts.texts) {
        if (!text.empty()) std::memcpy(out, text.data(), text.size());
        out += text.size();
      }
    });
  }

  const std::vector<std::size_t>& rows() const { return rows_; }

 private:
  template <class T, class Get>
  void scalars(const char* name, const char* dtype, Get get) {
    writer_.add(name, dtype, {rows_.size()}, rows_.size() * sizeof(T), [this, get](std::byte* out) {
      for (std::size_t r : rows_) {
        const auto value = static_cast<T>(get(slots_.row(r)));
        std::memcpy(out, &value, sizeof value);
        out += sizeof value;
      }
    });
  }

  const Slots& slots_;
  TensorWriter& writer_;
  std::vector<std::size_t> rows_;
};

}  // namespace

std::vector<std::byte> Cache::save() const {
  const CacheState& state = *state_;
  const Slots& slots = state.slots;
  TensorWriter writer;
  SlotTensors tensors(slots, writer);

  SlotTensors::Texts payloads;
  SlotTensors::Texts exact_keys;
  std::vector<std::int64_t> exact_key_slots;
  for (std::size_t r : tensors.rows()) {
    payloads.append(slots.payload(r));
    for (const std::string& exact_key : slots.exact_keys(r)) {
      exact_keys.append(exact_key);
      exact_key_slots.push_back(static_cast<std::int64_t>(slots.row(r).id));
    }
  }
  const WideNumber growth = slots.growth();
  const std::vector<std::uint64_t>& ghosts = state.budget.ghosts();
  const std::array<float, 2> budget = {state.budget.surprise(), state.budget.raw_allowed()};

  tensors.add_scalars();
  writer.add_numbers("growth", "F64", std::span(&growth.mantissa, 1));
  writer.add_numbers("growth_exponent", "I64", std::span(&growth.exponent, 1));
  tensors.add_offsets("payload_offsets", payloads);
  tensors.add_offsets("exact_key_offsets", exact_keys);
  writer.add_numbers("exact_key_slots", "I64", std::span<const std::int64_t>(exact_key_slots));
  writer.add_numbers("ghosts", "U64", std::span(ghosts));
  if (slots.has_key_sums()) {
    tensors.add_matrix<double>("key_sums", "F64", slots.dimension(),
                               [&](std::size_t r) { return slots.key_sum(r); });
  }
  if (slots.has_value_sums()) {
    tensors.add_matrix<double>("value_sums", "F64", slots.value_dimension(),
                               [&](std::size_t r) { return slots.value_sum(r); });
  }
  tensors.add_matrix<float>("keys", "F32", slots.dimension(),
                            [&](std::size_t r) { return slots.key(r); });
  tensors.add_matrix<float>("values", "F32", slots.value_dimension(),
                            [&](std::size_t r) { return slots.value(r); });
  writer.add_numbers("budget", "F32", std::span<const float>(budget));
  tensors.add_bytes("payloads", payloads);
  tensors.add_bytes("exact_keys", exact_keys);
  for (const ExtraTensor& extra : state.extra_tensors) {
    writer.add(extra.name.c_str(), extra.dtype.c_str(), extra.shape, extra.bytes.size(),
               [&extra](std::byte* out) {
                 if (!extra.bytes.empty()) std::memcpy(out, extra.bytes.data(), extra.bytes.size());
               });
  }

  std::map<std::string, std::string> metadata = state.metadata;
  std::erase_if(metadata,
                [](const auto& entry) { return entry.first.starts_with(snapshot::kOwnPrefix); });
  metadata[snapshot::kVersion] = snapshot::kFormatVersion;
  metadata[snapshot::kConfig] = to_json(state.config);
  metadata[snapshot::kCounters] = to_json(state.counters);
  metadata[snapshot::kStateHash] = hex(state.counters.state_hash);
  return std::move(writer).write(std::move(metadata));
}

}  // namespace dpcache
