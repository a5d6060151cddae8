// The canonical bytes of events, written and read.
//
// Little-endian. u8 format, u8 kind, u64 seq, i64 time, then by kind:
//   observe      key and value (u32 length, floats each), payload (u64 length, bytes), exact key
//   (u8
//                flag, then u64 length, bytes), ttl (u8 flag, then i64), and the decision: u8
//                action, u64 slot, f32 novelty, threshold, gate, similarity, nearest (u8 flag, then
//                u64, f32), evicted (u64 count, u64 each), folded (u64 count, two u64 each), f32
//                surprise, budget (u8 flag, then f32)
//   erase, expire  ids (u64 count, u64 each)
//   consolidate  folds (u64 count, two u64 each)
//   config       JSON (u64 length, bytes)
#include "dpcache/event.h"

#include <cstring>
#include <string>
#include <type_traits>

#include "event_bytes.h"

namespace dpcache {

namespace {

constexpr std::uint8_t kFormat = 1;
constexpr std::size_t kNoKey = SIZE_MAX;  // the action is none that there is

// Writes where there is room for most_bytes().
class Writer {
 public:
  explicit Writer(std::byte* at) : at_(at) {}

  std::byte* at() const noexcept { return at_; }
  template <class T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    raw(&value, sizeof value);
  }
  void floats(std::span<const float> x) {
    number(static_cast<std::uint32_t>(x.size()));
    raw(x.data(), x.size_bytes());
  }
  void bytes(std::string_view s) {
    number(static_cast<std::uint64_t>(s.size()));
    raw(s.data(), s.size());
  }
  void ids(const std::vector<SlotId>& ids) {
    number(static_cast<std::uint64_t>(ids.size()));
    raw(ids.data(), ids.size() * sizeof(SlotId));
  }
  void folds(const std::vector<Fold>& folds) {
    number(static_cast<std::uint64_t>(folds.size()));
    for (const Fold& fold : folds) {
      number(fold.slot);
      number(fold.into);
    }
  }
  // A flag, and whether to go on with the value.
  template <class T>
  bool flag(const std::optional<T>& value) {
    number(static_cast<std::uint8_t>(value.has_value()));
    return value.has_value();
  }

 private:
  void raw(const void* data, std::size_t size) {
    if (size > 0) std::memcpy(at_, data, size);
    at_ += size;
  }
  std::byte* at_;
};

// Reads with every length checked against what is left; after a failure all reads fail.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

  bool ok() const noexcept { return ok_; }
  bool at_end() const noexcept { return ok_ && left_.empty(); }

  template <class T>
  T number() {
    T value{};
    const std::span<const std::byte> from = take(sizeof value);
    if (ok_) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  bool flag() {
    const auto value = number<std::uint8_t>();
    if (value > 1) ok_ = false;
    return value == 1;
  }
  std::span<const std::byte> take(std::uint64_t size) {
    if (!ok_ || size > left_.size()) {
      ok_ = false;
      return {};
    }
    const auto taken = left_.first(static_cast<std::size_t>(size));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  std::span<const std::byte> floats() {
    const auto count = number<std::uint32_t>();
    return take(std::uint64_t{count} * sizeof(float));
  }
  std::string_view bytes() {
    const std::span<const std::byte> taken = take(number<std::uint64_t>());
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  // A count of things of `size` bytes each, if so many can be left.
  std::size_t count(std::size_t size) {
    const auto value = number<std::uint64_t>();
    if (value > left_.size() / size) ok_ = false;
    return ok_ ? static_cast<std::size_t>(value) : 0;
  }
  std::vector<SlotId> ids() {
    std::vector<SlotId> ids(count(sizeof(SlotId)));
    for (SlotId& id : ids) id = number<SlotId>();
    return ids;
  }
  std::vector<Fold> folds() {
    std::vector<Fold> folds(count(2 * sizeof(SlotId)));
    for (Fold& fold : folds) {
      fold.slot = number<SlotId>();
      fold.into = number<SlotId>();
    }
    return folds;
  }

 private:
  std::span<const std::byte> left_;
  bool ok_ = true;
};

void write_observed(Writer& writer, const Item& item, const Decision& decision) {
  writer.floats(item.key);
  writer.floats(item.value);
  writer.bytes(item.payload);
  if (writer.flag(item.exact_key)) writer.bytes(*item.exact_key);
  if (writer.flag(item.ttl_ms)) writer.number(*item.ttl_ms);
  writer.number(static_cast<std::uint8_t>(decision.action));
  writer.number(decision.slot);
  writer.number(decision.novelty);
  writer.number(decision.threshold);
  writer.number(decision.gate);
  writer.number(decision.similarity);
  if (writer.flag(decision.nearest)) {
    writer.number(decision.nearest->slot);
    writer.number(decision.nearest->similarity);
  }
  writer.ids(decision.evicted);
  writer.folds(decision.folded);
  writer.number(decision.surprise);
  if (writer.flag(decision.budget)) writer.number(*decision.budget);
}

// `floats` receives key and value, one behind the other; returns the length of the key.
std::size_t read_observed(Reader& reader, Event& event, std::vector<float>& floats) {
  Item& item = event.item;
  Decision& decision = event.decision;
  const std::span<const std::byte> key = reader.floats();
  const std::span<const std::byte> value = reader.floats();
  floats.resize((key.size() + value.size()) / sizeof(float));
  if (!key.empty()) std::memcpy(floats.data(), key.data(), key.size());
  if (!value.empty()) {
    std::memcpy(floats.data() + key.size() / sizeof(float), value.data(), value.size());
  }
  item.payload = reader.bytes();
  if (reader.flag()) item.exact_key = reader.bytes();
  if (reader.flag()) item.ttl_ms = reader.number<std::int64_t>();
  item.time = event.time;
  const auto action = reader.number<std::uint8_t>();
  decision.action = action == 0 ? Action::allocate : Action::merge;
  decision.slot = reader.number<SlotId>();
  decision.novelty = reader.number<float>();
  decision.threshold = reader.number<float>();
  decision.gate = reader.number<float>();
  decision.similarity = reader.number<float>();
  if (reader.flag()) {
    Match nearest;
    nearest.slot = reader.number<SlotId>();
    nearest.similarity = reader.number<float>();
    decision.nearest = nearest;
  }
  decision.evicted = reader.ids();
  decision.folded = reader.folds();
  decision.surprise = reader.number<float>();
  if (reader.flag()) decision.budget = reader.number<float>();
  return action > 1 ? kNoKey : key.size() / sizeof(float);
}

Status bad_event(const char* detail) {
  return {Error::bad_request, 0, "", detail};
}

}  // namespace

std::span<const std::byte> encode_into(const Event& event, std::vector<std::byte>& buffer) {
  std::string config;
  if (event.kind == EventKind::config) config = to_json(event.config ? *event.config : Config{});
  const std::size_t most = most_bytes(event) + config.size();
  if (buffer.size() < most) buffer.resize(most);
  Writer writer(buffer.data());
  writer.number(kFormat);
  writer.number(static_cast<std::uint8_t>(event.kind));
  writer.number(event.seq);
  writer.number(event.time);
  switch (event.kind) {
    case EventKind::observe:
      write_observed(writer, event.item, event.decision);
      break;
    case EventKind::erase:
    case EventKind::expire:
      writer.ids(event.decision.evicted);
      break;
    case EventKind::consolidate:
      writer.folds(event.decision.folded);
      break;
    case EventKind::config:
      writer.bytes(config);
      break;
  }
  return {buffer.data(), writer.at()};
}

void encode(const Event& event, std::vector<std::byte>& out) {
  std::vector<std::byte> buffer;
  const std::span<const std::byte> bytes = encode_into(event, buffer);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

Result<DecodedEvent> decode_event(std::span<const std::byte> bytes) {
  DecodedEvent decoded;
  decoded.bytes_.assign(bytes.begin(), bytes.end());
  Reader reader(decoded.bytes_);
  Event& event = decoded.event_;
  if (reader.number<std::uint8_t>() != kFormat) return bad_event("not an event of format 1");
  const auto kind = reader.number<std::uint8_t>();
  if (kind > static_cast<std::uint8_t>(EventKind::config))
    return bad_event("unknown kind of event");
  event.kind = static_cast<EventKind>(kind);
  event.seq = reader.number<std::uint64_t>();
  event.time = reader.number<std::int64_t>();
  switch (event.kind) {
    case EventKind::observe: {
      const std::size_t key = read_observed(reader, event, decoded.floats_);
      if (key == kNoKey) return bad_event("unknown action");
      event.item.key = std::span(decoded.floats_).first(key);
      event.item.value = std::span(decoded.floats_).subspan(key);
      break;
    }
    case EventKind::erase:
    case EventKind::expire:
      event.decision.evicted = reader.ids();
      break;
    case EventKind::consolidate:
      event.decision.folded = reader.folds();
      break;
    case EventKind::config: {
      Result<Config> config = config_from_json(reader.bytes());
      if (!config) return bad_event("the event's config is damaged");
      event.config = std::move(*config);
      break;
    }
  }
  if (!reader.at_end()) return bad_event("the event is cut, or bytes follow it");
  return decoded;
}

}  // namespace dpcache
